#include "tests/viz_samples.h"
#include "viz/bars.h"
#include "viz/blocks.h"
#include "viz/boxes.h"
#include "viz/film.h"
#include "viz/heatmap.h"
#include "viz/lines.h"
#include "viz/matrix.h"
#include "viz/page.h"
#include "viz/timeline.h"

#include <math.h>
#include <stdlib.h>

static const char *const words[] = {"<s>",   " Once",   " upon",  " a",
                                    " time", ",",       " there", " was",
                                    " a",    " little", " girl",  "\n"};

/* A causal table: masked above the diagonal, rows that sum to one. */
static void fill_attention(size_t n, double *p, unsigned char *masked) {
    for (size_t r = 0; r < n; r++) {
        double sum = 0;
        for (size_t c = 0; c < n; c++) {
            double x = 1 + sin(1.7 * (double)c + 0.3 * (double)r) + (c == 0 ? 1.5 : 0);
            p[r * n + c] = c <= r ? x : 0;
            masked[r * n + c] = c > r;
            sum += p[r * n + c];
        }
        for (size_t c = 0; c < n; c++) p[r * n + c] /= sum;
    }
}

static void heat_numbers(VizCanvas *canvas, const void *data) {
    (void)data;
    enum { N = 12 };
    double p[N * N];
    unsigned char masked[N * N];
    fill_attention(N, p, masked);
    VizRect rest = viz_page(canvas, "Every token looks most at the first one",
                            "row: the token that looks; column: the token it looks at; "
                            "hatched: later tokens, not visible");
    viz_say(canvas, "The first column has the largest number in every row.");
    VizHeatMap map = {.rows = N,
                      .columns = N,
                      .values = p,
                      .masked = masked,
                      .row_labels = words,
                      .column_labels = words,
                      .user = true,
                      .row_axis = "query",
                      .column_axis = "key"};
    viz_heatmap_barred(canvas, rest, &map, "share of attention");
}

static void heat_large(VizCanvas *canvas, const void *data) {
    (void)data;
    enum { N = 96 };
    double *p = calloc(N * N, sizeof *p);
    unsigned char *masked = calloc(N * N, 1);
    fill_attention(N, p, masked);
    VizRect rest = viz_page(canvas, "A large map: one block per cell", "as before");
    VizHeatMap map = {.rows = N,
                      .columns = N,
                      .values = p,
                      .masked = masked,
                      .row_axis = "query",
                      .column_axis = "key"};
    viz_heatmap_barred(canvas, rest, &map, "share");
    free(p);
    free(masked);
}

static void heat_heads(VizCanvas *canvas, const void *data) {
    (void)data;
    enum { N = 10, HEADS = 8 };
    static double p[HEADS][N * N];
    static unsigned char masked[N * N];
    VizHeatMap maps[HEADS];
    static const char *const names[] = {"head 0", "head 1", "head 2", "head 3",
                                        "head 4", "head 5", "head 6", "head 7"};
    for (size_t h = 0; h < HEADS; h++) {
        fill_attention(N, p[h], masked);
        for (size_t i = 0; i < N * N; i++)
            p[h][i] = pow(p[h][i], 0.6 + 0.2 * (double)h);
        maps[h] = (VizHeatMap){.panel = names[h],
                               .rows = N,
                               .columns = N,
                               .values = p[h],
                               .masked = masked,
                               .row_labels = words,
                               .column_labels = words,
                               .user = true,
                               .no_numbers = true};
    }
    VizRect rest = viz_page(canvas, "Eight heads look at eight different places",
                            "one map per head of layer 0, all with one scale");
    viz_heatmaps(canvas, rest, maps, HEADS, 4, "share of attention");
}

static void draw_lines(VizCanvas *canvas, bool log) {
    enum { N = 64 };
    static double x[N], naive[N], cached[N], bound[N], flat[N];
    for (size_t i = 0; i < N; i++) {
        double n = (double)i + 1;
        x[i] = n;
        naive[i] = 150000 * n + 512 * n * n;
        cached[i] = 150000 + 512 * n;
        bound[i] = 512 * n * n;
        flat[i] = 158000;
    }
    VizSeries series[] = {
        {.name = "without the cache", .x = x, .y = naive, .n = N},
        {.name = "with the cache", .x = x, .y = cached, .n = N},
        {.name = "attention alone", .x = x, .y = bound, .n = N, .stroke = VIZ_DASHED},
        {.name = "everything else", .x = x, .y = flat, .n = N, .stroke = VIZ_POINTS},
    };
    VizMarker marker = {24, "prompt ends"};
    VizRect rest =
        viz_page(canvas, "With the cache a step costs the same at 64 tokens as at 1",
                 "height: FLOPs of one step; to the right: tokens so far");
    viz_lines(
        canvas, rest,
        &(VizLines){.x = {.label = "tokens so far (N)", .log = log, .whole = true},
                    .y = {.label = "FLOPs per step", .log = log},
                    .series = series,
                    .count = 4,
                    .markers = &marker,
                    .marker_count = 1});
}

static void lines_linear(VizCanvas *canvas, const void *data) {
    (void)data;
    draw_lines(canvas, false);
}

static void lines_log(VizCanvas *canvas, const void *data) {
    (void)data;
    draw_lines(canvas, true);
}

static void lines_bytes(VizCanvas *canvas, const void *data) {
    (void)data;
    double n[] = {1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072};
    double big[8], small[8];
    for (size_t i = 0; i < 8; i++) {
        big[i] = 131072 * n[i];
        small[i] = big[i] / 8;
    }
    VizSeries series[] = {
        {.name = "MHA", .x = n, .y = big, .n = 8, .stroke = VIZ_LINE_POINTS},
        {.name = "GQA", .x = n, .y = small, .n = 8, .stroke = VIZ_LINE_POINTS}};
    VizMarker marks[] = {
        {24576, "24 GiB are full"}, {4096, "made for"}, {9e9, "far away"}};
    VizRect rest = viz_page(canvas, "Grouped heads need an eighth of the memory",
                            "both axes logarithmic: a straight line is proportional");
    VizRect left = viz_grid(rest, 1, 2, 20, 0), right = viz_grid(rest, 1, 2, 20, 1);
    VizLines lines = {.panel = "both logarithmic",
                      .x = {.label = "tokens", .log = true},
                      .y = {.label = "cache", .log = true, .unit = VIZ_BYTES},
                      .series = series,
                      .count = 2,
                      .markers = marks,
                      .marker_count = 3};
    viz_lines(canvas, left, &lines);
    lines.panel = "both linear";
    lines.x.log = lines.y.log = false;
    lines.marker_count = 1;
    viz_lines(canvas, right, &lines);
}

static const char *const categories[] = {"qkv",    "scores", "values",
                                         "output", "mlp",    "logits"};

static void bars_few(VizCanvas *canvas, const void *data) {
    (void)data;
    double v[8 * 6];
    static const char *const names[] = {"1", "2", "4", "8", "16", "32", "64", "128"};
    for (size_t b = 0; b < 8; b++) {
        double n = exp2((double)b);
        double one[] = {24576 * n, 64 * n * n, 64 * n * n, 8192 * n, 66000 * n, 32768};
        for (size_t p = 0; p < 6; p++) v[b * 6 + p] = one[p];
    }
    VizRect rest = viz_page(canvas, "Most of a step is spent on tokens seen before",
                            "one bar per step, its parts are the kinds of work");
    viz_bars(canvas, rest,
             &(VizBars){.x_label = "tokens so far",
                        .y = {.label = "FLOPs of the step"},
                        .bars = 8,
                        .parts = 6,
                        .values = v,
                        .bar_names = names,
                        .part_names = categories,
                        .totals = true});
}

static void bars_staircase(VizCanvas *canvas, const void *data) {
    (void)data;
    double v[64 * 2];
    static const char *const names[] = {"new", "done before"};
    static const VizColor colors[] = {VIZ_VERMILLION, VIZ_SILVER};
    for (size_t b = 0; b < 64; b++) {
        v[2 * b] = 151000 + 512 * (double)b;
        v[2 * b + 1] = 151000 * (double)b;
    }
    VizRect rest = viz_page(canvas, "98% of the last step was computed before",
                            "one bar per step; red: the new token's own work");
    viz_bars(canvas, rest,
             &(VizBars){.x_label = "step",
                        .y = {.label = "FLOPs"},
                        .bars = 64,
                        .parts = 2,
                        .values = v,
                        .part_names = names,
                        .colors = colors});
}

static void blocks_cache(VizCanvas *canvas, const void *data) {
    (void)data;
    enum { ROWS = 4, COLUMNS = 16 };
    unsigned char state[ROWS * COLUMNS];
    for (size_t i = 0; i < sizeof state; i++) {
        size_t c = i % COLUMNS;
        state[i] = c < 9 ? 0 : c == 9 ? 1 : c < 14 ? 2 : 3;
    }
    static const VizKey states[] = {{"kept", VIZ_BLUE, 0},
                                    {"new in this step", VIZ_VERMILLION, 0},
                                    {"reserved", VIZ_PALE, 0},
                                    {"not reserved", VIZ_WHITE, 1}};
    static const char *const rows[] = {"layer 0", "layer 1", "layer 2", "layer 3"};
    static const char *const notes[] = {"5.0 KiB", "5.0 KiB", "5.0 KiB", "5.0 KiB"};
    VizRect rest = viz_page(canvas, "Each step adds one row per layer, nothing else",
                            "one square per row of K and V");
    viz_blocks(canvas, rest,
               &(VizBlocks){.rows = ROWS,
                            .columns = COLUMNS,
                            .state = state,
                            .states = states,
                            .state_count = 4,
                            .row_labels = rows,
                            .row_notes = notes,
                            .positions = true});
}

static void timeline_requests(VizCanvas *canvas, const void *data) {
    (void)data;
    static const char *const rows[] = {"user 0", "user 1", "user 2", "user 3"};
    static const VizInterval bars[] = {{0, 0, 3, "prompt", VIZ_BLUE, false},
                                       {0, 3, 14, "decode", VIZ_SKY, false},
                                       {1, 2, 5, "waits", VIZ_GREY, true},
                                       {1, 5, 8, "prompt", VIZ_BLUE, false},
                                       {1, 8, 20, "decode", VIZ_SKY, false},
                                       {2, 4, 9, "waits", VIZ_GREY, true},
                                       {2, 9, 10, "p", VIZ_BLUE, false},
                                       {2, 10, 16, "decode", VIZ_SKY, false},
                                       {2, 12, 18, "second", VIZ_VERMILLION, false},
                                       {3, 19, 24, "prompt", VIZ_BLUE, false}};
    static const VizMarker marks[] = {{12, "memory is full"}, {19, "room again"}};
    VizRect rest = viz_page(canvas, "User 2 waits longest, because memory is full",
                            "one row per user, time to the right; hatched: waiting");
    viz_timeline(canvas, rest,
                 &(VizTimeline){.x = {.label = "step", .whole = true},
                                .rows = rows,
                                .row_count = 4,
                                .intervals = bars,
                                .count = 10,
                                .markers = marks,
                                .marker_count = 2});
}

/* Frame i: the triangle of i + 3 tokens, colored by how often it was computed. */
static void draw_triangle(VizCanvas *canvas, VizRect rect, const void *data, size_t i) {
    (void)data;
    enum { N = 8 };
    double count[N * N];
    unsigned char masked[N * N];
    size_t n = i + 3;
    for (size_t k = 0; k < n * n; k++) {
        size_t r = k / n, c = k % n;
        masked[k] = c > r;
        count[k] = (double)(n - r);
    }
    viz_heatmap(canvas, rect,
                &(VizHeatMap){.rows = n,
                              .columns = n,
                              .values = count,
                              .masked = masked,
                              .scale = {0, 8, VIZ_RAMP_BLUE},
                              .largest = 16});
}

static void film_triangle(VizCanvas *canvas, const void *data) {
    (void)data;
    static const char *const captions[] = {
        "step 2: 6 pairs",
        "step 3: 10 pairs, 6 of them again",
        "step 4: 15 pairs, 10 again, and more words than fit into two lines",
        "step 5",
        "step 6",
        "step 7"};
    VizRect rest =
        viz_page(canvas, "Without the cache the triangle is computed again and again",
                 "number: how often the pair was computed so far");
    viz_film(canvas, rest,
             &(VizFilm){.frames = 6, .captions = captions, .draw = draw_triangle});
}

static void matrix_three(VizCanvas *canvas, const void *data) {
    (void)data;
    double q[6 * 8], k[40 * 60], bad[4] = {NAN, INFINITY, -1e9, 0};
    unsigned char marked[6 * 8] = {0};
    for (size_t i = 0; i < 48; i++) {
        q[i] = sin((double)i * 1.3) * 2;
        marked[i] = i < 16;
    }
    for (size_t i = 0; i < 2400; i++) k[i] = cos((double)i * 0.7);
    VizRect rest =
        viz_page(canvas, "The first two rows are the same bits as one step before",
                 "framed in green: same bits");
    VizRect left = viz_grid(rest, 1, 2, 24, 0), right = viz_grid(rest, 1, 2, 24, 1);
    viz_matrix(canvas, left,
               &(VizMatrix){.name = "Q",
                            .rows = 6,
                            .columns = 8,
                            .values = q,
                            .marked = marked,
                            .row_labels = words,
                            .user = true});
    viz_matrix(
        canvas, viz_cut_top(&right, 170),
        &(VizMatrix){.name = "K, too large", .rows = 40, .columns = 60, .values = k});
    viz_cut_top(&right, 16);
    viz_matrix(canvas, right,
               &(VizMatrix){.name = "bad",
                            .rows = 2,
                            .columns = 2,
                            .values = bad,
                            .column_labels = words,
                            .user = true});
}

static void boxes_forward(VizCanvas *canvas, const void *data) {
    (void)data;
    static const VizBox boxes[] = {
        {"text", 0, "\" upon\"", VIZ_AUTO, true},
        {"token id", 0, "2501", VIZ_AUTO, false},
        {"embedding", 64, "[64]", VIZ_GREEN, false},
        {"layer 0", 52224,
         "[64]\n0.12 \xE2\x88\x92"
         "0.53 ...",
         VIZ_BLUE, false},
        {"layer 1", 52224, "[64]\n0.31 0.07 ...", VIZ_BLUE, false},
        {"layer 2", 52224, "[64]\n0.92 0.11 ...", VIZ_BLUE, false},
        {"logits", 32768, "[512]", VIZ_VERMILLION, false},
        {"next token", 0, "\" a\"\n\xF0\x9F\x98\x80", VIZ_AUTO, true}};
    VizRect rest = viz_page(
        canvas, "Nearly all work is in the layers, a third of it in the last matrix",
        "area of a box: its multiply-adds");
    viz_boxes(canvas, viz_cut_top(&rest, 260),
              &(VizBoxes){.boxes = boxes, .count = 8, .unit = "MA"});
}

const Sample viz_samples[] = {
    {"heat_numbers", heat_numbers, 640, 480, true},
    {"heat_large", heat_large, 480, 360, true},
    {"heat_heads", heat_heads, 960, 540, false},
    {"heat_ugly", sample_heat_ugly, 640, 480, false},
    {"heat_huge", sample_heat_huge, 960, 540, false},
    {"lines_linear", lines_linear, 640, 360, true},
    {"lines_log", lines_log, 960, 540, false},
    {"lines_bytes", lines_bytes, 720, 360, true},
    {"lines_ugly", sample_lines_ugly, 960, 540, false},
    {"bars_few", bars_few, 640, 360, true},
    {"bars_staircase", bars_staircase, 960, 540, false},
    {"bars_ugly", sample_bars_ugly, 960, 540, false},
    {"blocks_cache", blocks_cache, 640, 260, true},
    {"blocks_ugly", sample_blocks_ugly, 960, 540, false},
    {"timeline_requests", timeline_requests, 640, 300, true},
    {"timeline_ugly", sample_timeline_ugly, 960, 540, false},
    {"film_triangle", film_triangle, 960, 300, true},
    {"matrix_three", matrix_three, 960, 400, false},
    {"boxes_forward", boxes_forward, 960, 340, true},
    {"boxes_ugly", sample_boxes_ugly, 960, 540, false},
    {"long_titles", sample_long_titles, 400, 200, false},
};
const size_t viz_sample_count = sizeof viz_samples / sizeof *viz_samples;
