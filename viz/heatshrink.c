/* A map too large to be seen, as a smaller one. */
#include "viz/heatcells.h"

#include <math.h>

/* The maximum of a block's numbers; NaN when it has none but is not all masked. */
static double block_maximum(const VizHeatMap *map, size_t row, size_t column, size_t by,
                            bool *masked) {
    double most = NAN;
    *masked = true;
    for (size_t r = row * by; r < map->rows && r < (row + 1) * by; r++)
        for (size_t c = column * by; c < map->columns && c < (column + 1) * by; c++) {
            size_t i = r * map->columns + c;
            if (map->masked && map->masked[i]) continue;
            *masked = false;
            if (isfinite(map->values[i])) most = fmax(most, map->values[i]);
        }
    return most;
}

VizHeatMap viz_heat_shrink(VizCanvas *canvas, const VizHeatMap *map, size_t by,
                           double **values, unsigned char **masked) {
    VizHeatMap small = *map;
    small.rows = (map->rows + by - 1) / by;
    small.columns = (map->columns + by - 1) / by;
    *values = viz_scratch(canvas, small.rows * small.columns, sizeof **values);
    *masked = viz_scratch(canvas, small.rows * small.columns, sizeof **masked);
    small.values = *values;
    small.masked = *masked;
    small.marked = NULL;
    small.row_labels = small.column_labels = NULL;
    if (!*values || !*masked) {
        small.rows = small.columns = 0;
        return small;
    }
    for (size_t r = 0; r < small.rows; r++)
        for (size_t c = 0; c < small.columns; c++) {
            bool hidden;
            size_t i = r * small.columns + c;
            (*values)[i] = block_maximum(map, r, c, by, &hidden);
            (*masked)[i] = hidden;
        }
    return small;
}
