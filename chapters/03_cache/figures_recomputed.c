#include "chapters/03_cache/figures.h"
#include "chapters/common/quantity.h"
#include "viz/heatmap.h"
#include "viz/page.h"

#include <stdio.h>

enum { NUMBERED = 24 }; /* so many tokens still have numbers in their cells */

static void title_of(const CacheFigures *f, char *out, size_t size) {
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT];
    if (f->result->steps == 1)
        snprintf(out, size,
                 "In the first step each pair is computed once, with a cache and "
                 "without");
    else
        snprintf(out, size,
                 "Without the cache %s scores are computed %s times; with it, once "
                 "each",
                 quantity_count(f->pairs[1], a), quantity_count(f->pairs[0], b));
}

static void say(VizCanvas *canvas, const CacheFigures *f) {
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];
    viz_say(canvas,
            "Pairs of a query and a key in one head and layer, over %zu steps and %zu "
            "tokens: %s computed without the cache, %s with it (%s times as many). The "
            "pair at position 0 was computed %.0f times without the cache.",
            f->result->steps, f->n, quantity_count(f->pairs[0], a),
            quantity_count(f->pairs[1], b), quantity_ratio(f->pairs[0], f->pairs[1], c),
            f->times[0][0]);
    if (f->dense)
        viz_say(canvas, "--scores dense: pairs above the diagonal, which the mask "
                        "drops, are computed, too.");
}

void cache_figure_recomputed(VizCanvas *canvas, const void *data) {
    const CacheFigures *f = data;
    char title[240], row[60] = "query", column[60] = "key";
    title_of(f, title, sizeof title);
    if (f->block > 1) {
        snprintf(row, sizeof row, "query / %zu", f->block);
        snprintf(column, sizeof column, "key / %zu", f->block);
    }
    VizRect rest = viz_page(
        canvas, title,
        "one head of one layer; row: position of the query, column: of the key; color: "
        "how often the run computed this pair's score; hatched: never");
    say(canvas, f);
    static const char *const panels[2] = {"without a cache", "with a cache"};
    /* The pale end of one hue would hide the right triangle, but for numbers in it. */
    const VizRamp ramp = f->n <= NUMBERED ? VIZ_RAMP_BLUE : VIZ_RAMP_CIVIDIS;
    VizHeatMap maps[2];
    for (int e = 0; e < 2; e++)
        maps[e] = (VizHeatMap){.panel = panels[e],
                               .rows = f->side,
                               .columns = f->side,
                               .values = f->times[e],
                               .masked = f->unseen[e],
                               .scale = {0, f->times[0][0], ramp},
                               .row_axis = row,
                               .column_axis = column};
    viz_heatmaps(canvas, rest, maps, 2, 2, "times computed");
}
