/* The cells of a heat map, without labels: for heatmap.c and matrix.c. */
#ifndef KVSTEP_VIZ_HEATCELLS_H
#define KVSTEP_VIZ_HEATCELLS_H

#include "viz/canvas.h"
#include "viz/heatmap.h"

/* Lowest and highest finite, unmasked value; 0 and 0 when there is none. */
void viz_heat_range(const VizHeatMap *map, double *low, double *high);

/* Type size at which every number fits a cell of that width and height; 0: none does.
 */
double viz_heat_number_size(VizCanvas *canvas, const VizHeatMap *map, double width,
                            double height);

/* Draws all cells inside area; number_size 0: colors only. */
void viz_heat_cells(VizCanvas *canvas, VizRect area, const VizHeatMap *map,
                    double number_size);

/* Frames each group of marked cells (marked is [rows][columns]) in green. */
void viz_heat_marks(VizCanvas *canvas, VizRect area, size_t rows, size_t columns,
                    const unsigned char *marked);

/* The map in blocks of `by` x `by` cells, each the maximum of its cells that are
 * numbers; masked when all are. *values and *masked are freed with free(). */
VizHeatMap viz_heat_shrink(VizCanvas *canvas, const VizHeatMap *map, size_t by,
                           double **values, unsigned char **masked);

#endif
