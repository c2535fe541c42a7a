#include "chapters/common/figures_heads.h"
#include "viz/heatmap.h"
#include "viz/page.h"

#include <math.h>
#include <stdio.h>

static double sharpness_of(const HeadMaps *maps, size_t head) {
    const size_t n = maps->n;
    double sum = 0;
    size_t queries = 0;
    for (size_t q = 0; q < n; q++) {
        const double *row = maps->weights + (head * n + q) * n;
        size_t seen = 0;
        double largest = 0;
        for (size_t k = 0; k < n; k++) {
            seen += !maps->masked[q * n + k];
            largest = fmax(largest, row[k]);
        }
        if (seen < 2) continue;
        sum += largest;
        queries++;
    }
    return queries ? sum / (double)queries : 1;
}

/* The first queries see few keys and so give them much; a scale up to 1 would leave
 * the rest of a long text white. */
static double darkest_of(const HeadMaps *maps) {
    const size_t n = maps->n;
    double largest = 0;
    for (size_t i = 0; i < maps->heads * n * n; i++) {
        const size_t q = i / n % n;
        if (4 * (q + 1) >= n) largest = fmax(largest, maps->weights[i]);
    }
    return largest;
}

bool head_maps_open(HeadMaps *maps, const float *weights, const LayerRule *rule,
                    size_t layer, size_t heads, size_t n, Memory *memory, Error *err) {
    *maps =
        (HeadMaps){.layer = layer, .heads = heads, .n = n, .all = n, .memory = memory};
    maps->weights = memory_new(memory, n * n, heads * sizeof *maps->weights, err);
    maps->masked = memory_new(memory, n, n, err);
    maps->sharpness = memory_new(memory, heads, sizeof *maps->sharpness, err);
    if (!maps->weights || !maps->masked || !maps->sharpness) {
        head_maps_close(maps);
        return false;
    }
    for (size_t i = 0; i < heads * n * n; i++) maps->weights[i] = (double)weights[i];
    for (size_t i = 0; rule && i < n * n; i++)
        maps->masked[i] = !rule_sees(rule, i / n, i % n);
    for (size_t h = 0; h < heads; h++) maps->sharpness[h] = sharpness_of(maps, h);
    maps->darkest = darkest_of(maps);
    return true;
}

void head_maps_close(HeadMaps *maps) {
    memory_free(maps->memory, maps->weights);
    memory_free(maps->memory, maps->masked);
    memory_free(maps->memory, maps->sharpness);
    *maps = (HeadMaps){0};
}

static size_t sharpest(const HeadMaps *maps) {
    size_t best = 0;
    for (size_t h = 1; h < maps->heads; h++)
        if (maps->sharpness[h] > maps->sharpness[best]) best = h;
    return best;
}

static size_t widest(const HeadMaps *maps) {
    size_t best = 0;
    for (size_t h = 1; h < maps->heads; h++)
        if (maps->sharpness[h] < maps->sharpness[best]) best = h;
    return best;
}

static void title_of(const HeadMaps *maps, char *out, size_t size) {
    const size_t sharp = sharpest(maps), wide = widest(maps);
    char tokens[80] = "";
    if (maps->n < maps->all)
        snprintf(tokens, sizeof tokens, " (first %zu of %zu tokens)", maps->n,
                 maps->all);
    if (maps->n == 1)
        snprintf(out, size,
                 "Layer %zu: the only token there is looks at itself, with weight 1",
                 maps->layer);
    else if (maps->heads == 1)
        snprintf(out, size,
                 "Layer %zu, its only head: a token gives %.1f%% of its attention to "
                 "one token, on average%s",
                 maps->layer, 100 * maps->sharpness[0], tokens);
    else
        snprintf(out, size,
                 "Layer %zu: head %zu looks sharpest (%.1f%% on one token), head %zu "
                 "widest (%.1f%%)%s",
                 maps->layer, sharp, 100 * maps->sharpness[sharp], wide,
                 100 * maps->sharpness[wide], tokens);
}

static void say(VizCanvas *canvas, const HeadMaps *maps) {
    const size_t n = maps->n, newest = n - 1, head = sharpest(maps);
    const double *row = maps->weights + (head * n + newest) * n;
    size_t most = 0;
    for (size_t k = 1; k < n; k++)
        if (row[k] > row[most]) most = k;
    viz_say(canvas,
            "Attention weights of the %zu heads of layer %zu over %zu tokens. Each row "
            "sums to 1. In head %zu a query's largest weight is %.2f on average; its "
            "newest query, position %zu, gives most to position %zu: %.2f.",
            maps->heads, maps->layer, n, head, maps->sharpness[head], newest, most,
            row[most]);
    viz_say(canvas, "A step without the cache computes every row of every map again; "
                    "with it, the last row of each alone.");
    if (maps->heads > HEADS_SHOWN)
        viz_say(canvas, "Of %zu heads the first %d are drawn.", maps->heads,
                HEADS_SHOWN);
}

static VizHeatMap map_of(const HeadMaps *maps, size_t head, const char *panel) {
    const size_t n = maps->n;
    return (VizHeatMap){
        .panel = panel,
        .rows = n,
        .columns = n,
        .values = maps->weights + head * n * n,
        .masked = maps->masked,
        .row_labels = maps->labels,
        .column_labels = maps->labels,
        .user = maps->labels != NULL,
        .scale = {0, maps->darkest,
                  n <= VIZ_HEAT_NUMBERED ? VIZ_RAMP_BLUE : VIZ_RAMP_CIVIDIS},
        .no_numbers = n > HEADS_NUMBERED};
}

/* As many columns as leave each map the most room. */
static size_t columns_for(VizRect rect, size_t count) {
    size_t best = 1;
    double most = 0;
    for (size_t columns = 1; columns <= count; columns++) {
        const double rows = ceil((double)count / (double)columns);
        const double side = fmin(rect.w / (double)columns - 30, rect.h / rows - 36);
        if (side <= most) continue;
        most = side;
        best = columns;
    }
    return best;
}

static void draw_all(VizCanvas *canvas, VizRect rect, const HeadMaps *maps) {
    VizHeatMap map[HEADS_SHOWN];
    char name[HEADS_SHOWN][24];
    const size_t count = maps->heads < HEADS_SHOWN ? maps->heads : HEADS_SHOWN;
    for (size_t h = 0; h < count; h++) {
        snprintf(name[h], sizeof name[h], "head %zu", h);
        map[h] = map_of(maps, h, name[h]);
        map[h].row_labels = map[h].column_labels = NULL;
        map[h].no_numbers = true;
    }
    viz_heatmaps(canvas, rect, map, count, columns_for(rect, count), "weight");
}

void figure_heads(VizCanvas *canvas, const void *data) {
    const HeadMaps *maps = data;
    const size_t head = sharpest(maps);
    char title[400], subtitle[240], darkest[40] = "";
    char large[60];
    title_of(maps, title, sizeof title);
    if (maps->darkest < 0.995)
        snprintf(darkest, sizeof darkest, " scale up to %.2g;", maps->darkest);
    snprintf(subtitle, sizeof subtitle,
             "row: the token that looks; column: the token looked at;%s hatched: not "
             "visible. With a cache a step computes the last row alone",
             darkest);
    VizRect rest = viz_page(canvas, title, subtitle);
    say(canvas, maps);
    snprintf(large, sizeof large, "head %zu", head);
    const VizHeatMap map = map_of(maps, head, large);
    if (maps->heads == 1) {
        viz_heatmap_barred(canvas, rest, &map, "weight");
        return;
    }
    viz_heatmap(canvas, viz_cut_left(&rest, 0.48 * rest.w), &map);
    viz_cut_left(&rest, 24);
    draw_all(canvas, rest, maps);
}
