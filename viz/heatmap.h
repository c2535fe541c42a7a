/* A heat map: a table of numbers as colored cells.
 *
 * Up to VIZ_HEAT_NUMBERED columns the numbers stand in the cells when they fit, on a
 * ramp of one hue (two when there are negative values); more columns are one block per
 * cell in cividis. Masked cells are hatched, cells that are not numbers grey with a
 * cross: never a color of the scale. A map with more cells than VIZ_HEAT_MOST a side is
 * shown in blocks by their maximum, which the .txt says. */
#ifndef KVSTEP_VIZ_HEATMAP_H
#define KVSTEP_VIZ_HEATMAP_H

#include "viz/color.h"
#include "viz/rect.h"
#include <stdbool.h>

enum { VIZ_HEAT_NUMBERED = 64, VIZ_HEAT_MOST = 512 };

typedef struct {
    const char *panel; /* caption; NULL: none */
    size_t rows, columns;
    const double *values;        /* [rows][columns] */
    const unsigned char *masked; /* [rows][columns], 1: no value here; NULL: none */
    const unsigned char *marked; /* [rows][columns], 1: in a green frame; NULL: none */
    const char *const *row_labels;      /* [rows]; NULL: positions from 0 */
    const char *const *column_labels;   /* [columns]; NULL: positions from 0 */
    bool user;                          /* these labels are a user's text */
    const char *row_axis, *column_axis; /* what rows and columns are; NULL: not said */
    VizScale scale;                     /* low = high: from the data */
    bool no_numbers;                    /* colors only, whatever the size */
    double largest;                     /* points a cell at most; 0: 44 */
} VizHeatMap;

/* Draws the map at the top left of rect and returns where its cells are. No color bar.
 */
VizRect viz_heatmap(VizCanvas *canvas, VizRect rect, const VizHeatMap *map);

/* The scale the map is drawn with in rect. */
VizScale viz_heatmap_scale(VizCanvas *canvas, VizRect rect, const VizHeatMap *map);

/* A color bar: one gradient with its ends (and zero, if it lies between) labelled. Lies
 * at the top left of rect: across when rect is wider than high, else upright. */
void viz_colorbar(VizCanvas *canvas, VizRect rect, const VizScale *scale,
                  const char *label);

/* The map with its color bar at the right. */
void viz_heatmap_barred(VizCanvas *canvas, VizRect rect, const VizHeatMap *map,
                        const char *bar_label);

/* Several maps (heads, layers, steps) in a grid with one scale and one color bar. */
void viz_heatmaps(VizCanvas *canvas, VizRect rect, const VizHeatMap *maps, size_t count,
                  size_t grid_columns, const char *bar_label);

#endif
