/* Heat maps that share one scale and one color bar. */
#include "viz/heatcells.h"
#include "viz/page.h"

#include <math.h>
#include <stdlib.h>

static const double BAR_ROOM = 74, BAR_AIR = 16, GAP = 14;

void viz_heatmap_barred(VizCanvas *canvas, VizRect rect, const VizHeatMap *map,
                        const char *bar_label) {
    viz_heatmaps(canvas, rect, map, 1, 1, bar_label);
}

/* One range for all; the ramp is what a panel of that size would take, numbers or not.
 */
static VizScale shared_scale(VizCanvas *canvas, VizRect panel, const VizHeatMap *maps,
                             size_t count) {
    VizScale all = {.low = 0, .high = 0, .ramp = maps[0].scale.ramp};
    size_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        double low, high;
        viz_heat_range(&maps[i], &low, &high);
        all.low = fmin(all.low, low);
        all.high = fmax(all.high, high);
        if (maps[i].rows * maps[i].columns > maps[largest].rows * maps[largest].columns)
            largest = i;
    }
    if (maps[0].scale.low != maps[0].scale.high) all = maps[0].scale;
    VizHeatMap pattern = maps[largest];
    pattern.scale = all;
    if (all.low == all.high)
        pattern.scale.high = all.low + 1; /* all zero: still a scale */
    return viz_heatmap_scale(canvas, panel, &pattern);
}

void viz_heatmaps(VizCanvas *canvas, VizRect rect, const VizHeatMap *maps, size_t count,
                  size_t grid_columns, const char *bar_label) {
    if (!count || !grid_columns) {
        viz_nothing(canvas, rect, NULL);
        return;
    }
    VizRect side = viz_cut_right(&rect, BAR_ROOM);
    viz_cut_right(&rect, BAR_AIR);
    size_t rows = (count + grid_columns - 1) / grid_columns;
    VizScale scale =
        shared_scale(canvas, viz_grid(rect, rows, grid_columns, GAP, 0), maps, count);
    double right = rect.x, top = rect.y;
    for (size_t i = 0; i < count; i++) {
        VizHeatMap map = maps[i];
        map.scale = scale;
        VizRect cells =
            viz_heatmap(canvas, viz_grid(rect, rows, grid_columns, GAP, i), &map);
        right = fmax(right, cells.x + cells.w);
        if (i == 0) top = cells.y;
    }
    side.x =
        fmin(side.x, right + BAR_AIR); /* near the maps, even when they are small */
    viz_cut_top(&side, top - side.y);
    viz_colorbar(canvas, side, &scale, bar_label);
}
