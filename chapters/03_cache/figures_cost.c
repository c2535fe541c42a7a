#include "chapters/03_cache/figures.h"
#include "chapters/common/quantity.h"
#include "viz/bars.h"
#include "viz/lines.h"
#include "viz/page.h"

#include <math.h>
#include <stdio.h>

/* What is drawn small first, so that the same colors lie at the same place. */
static const char *const part_names[PARTS] = {"qkv",    "scores", "values",
                                              "output", "mlp",    "logits"};
static const VizColor part_colors[PARTS] = {VIZ_BLUE, VIZ_VERMILLION, VIZ_ORANGE,
                                            VIZ_SKY,  VIZ_GREEN,      VIZ_PURPLE};

static const char *const total_name = "total";
static const VizColor total_color = VIZ_GREY;

/* The panel and what its last bar stands for. */
static void caption_of(const CacheFigures *f, const char *panel, int engine, char *out,
                       size_t size) {
    const CacheStep *last = &f->result->step[f->result->steps - 1];
    const CacheBill *bill = engine ? &last->cached : &last->recompute;
    char count[QUANTITY_TEXT];
    snprintf(out, size, "%s: at last %s", panel,
             quantity_count(counters_flops(&bill->counters), count));
}

static double highest(const CacheFigures *f, int engine) {
    double most = 0;
    for (size_t i = 0; i < f->result->steps; i++) {
        double sum = 0;
        for (int p = 0; p < PARTS; p++) sum += f->flops[engine][i * PARTS + (size_t)p];
        most = fmax(most, sum);
    }
    return most;
}

static void say(VizCanvas *canvas, const CacheFigures *f) {
    const CacheStep *last = &f->result->step[f->result->steps - 1];
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];
    const uint64_t without = counters_flops(&last->recompute.counters);
    const uint64_t with = counters_flops(&last->cached.counters);
    viz_say(canvas,
            "In the last of %zu steps, which sees %zu tokens, recompute takes %s FLOPs "
            "and cached %s: %s times as many.",
            f->result->steps, last->context, quantity_count(without, a),
            quantity_count(with, b), quantity_ratio(without, with, c));
    const uint64_t all = counters_flops(&f->result->recompute.counters);
    const uint64_t all_with = counters_flops(&f->result->cached.counters);
    viz_say(canvas, "All steps together: %s FLOPs against %s, %s times as many.",
            quantity_count(all, a), quantity_count(all_with, b),
            quantity_ratio(all, all_with, c));
}

static void title_of(const CacheFigures *f, char *out, size_t size) {
    const CacheStep *last = &f->result->step[f->result->steps - 1];
    char a[QUANTITY_TEXT], ratio[QUANTITY_TEXT];
    const uint64_t without = counters_flops(&last->recompute.counters);
    const uint64_t with = counters_flops(&last->cached.counters);
    if (f->result->steps == 1)
        snprintf(out, size,
                 "The first step costs the same with a cache and without: %s FLOPs",
                 quantity_count(without, a));
    else
        snprintf(out, size,
                 "At %zu tokens a step costs %s times as much without the cache as "
                 "with it",
                 last->context, quantity_ratio(without, with, ratio));
}

static VizBars bars_of(const CacheFigures *f, int engine, const char *panel,
                       double high) {
    return (VizBars){.panel = panel,
                     .x_label = "N, tokens seen",
                     .y = {.label = "FLOPs of the step", .high = high},
                     .bars = f->result->steps,
                     .parts = PARTS,
                     .values = f->flops[engine],
                     .bar_names = f->context_name,
                     .part_names = part_names,
                     .colors = part_colors};
}

/* Both engines on one scale. The cached bars are too flat to show parts. */
static void draw_both(VizCanvas *canvas, VizRect left, VizRect right,
                      const CacheFigures *f) {
    const double high = highest(f, 0);
    char without[80], with[80];
    caption_of(f, "without a cache", 0, without, sizeof without);
    caption_of(f, "with a cache, same scale", 1, with, sizeof with);
    const VizBars bars = bars_of(f, 0, without, high);
    VizBars flat = bars_of(f, 1, with, high);
    flat.parts = 1;
    flat.values = f->total;
    flat.part_names = &total_name;
    flat.colors = &total_color;
    viz_bars(canvas, left, &bars);
    viz_bars(canvas, right, &flat);
}

void cache_figure_cost(VizCanvas *canvas, const void *data) {
    const CacheFigures *f = data;
    char title[200];
    title_of(f, title, sizeof title);
    VizRect rest = viz_page(canvas, title,
                            "one bar per step, height: its FLOPs by part. Above: both "
                            "on one scale; below: the cached ones enlarged, and how "
                            "many times more recompute costs");
    say(canvas, f);
    draw_both(canvas, viz_grid(rest, 2, 2, 22, 0), viz_grid(rest, 2, 2, 22, 1), f);
    const VizBars enlarged = bars_of(f, 1, "with a cache, enlarged", 0);
    viz_bars(canvas, viz_grid(rest, 2, 2, 22, 2), &enlarged);
    const VizSeries ratio = {.name = "ratio",
                             .x = f->context,
                             .y = f->ratio,
                             .n = f->result->steps,
                             .color = VIZ_INK};
    viz_lines(canvas, viz_grid(rest, 2, 2, 22, 3),
              &(VizLines){.panel = "without / with",
                          .x = {.label = "N, tokens seen", .whole = true},
                          .y = {.label = "times as many FLOPs"},
                          .series = &ratio,
                          .count = 1});
}

void cache_figure_main_job(VizCanvas *canvas, const void *data) {
    const CacheFigures *f = data;
    char title[200];
    title_of(f, title, sizeof title);
    VizRect rest =
        viz_page(canvas, title, "one bar per step, height: its FLOPs by part");
    say(canvas, f);
    draw_both(canvas, viz_grid(rest, 1, 2, 22, 0), viz_grid(rest, 1, 2, 22, 1), f);
}
