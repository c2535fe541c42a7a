/* The ugly ones: strange values, empty arrays, too many and too long. */
#include "tests/viz_samples.h"
#include "viz/bars.h"
#include "viz/blocks.h"
#include "viz/boxes.h"
#include "viz/heatmap.h"
#include "viz/lines.h"
#include "viz/page.h"
#include "viz/timeline.h"

#include <math.h>
#include <stdlib.h>

static const char *const parts_of_bars[] = {"qkv", "scores", "values"};

void sample_heat_ugly(VizCanvas *canvas, const void *data) {
    (void)data;
    double values[] = {0,        -1.25,  NAN, INFINITY, -INFINITY,
                       12345678, -0.001, 0.5, 1e-300};
    double equal[6] = {3, 3, 3, 3, 3, 3};
    unsigned char all[4] = {1, 1, 1, 1}, mark[9] = {0, 0, 0, 0, 0, 0, 0, 1, 0};
    static const char *const long_names[] = {
        "a name that is much longer than the space that any picture could give to it",
        "\xF0\x93\x80\x80 \xFF\x80 \x1B[31m", "\xE2\x80\xAEturned"};
    VizRect rest =
        viz_page(canvas, "Numbers that are none are grey; nothing covers anything",
                 "three maps: strange values and names, all equal, all masked; and an "
                 "empty one");
    VizHeatMap maps[] = {
        {.panel = "strange",
         .rows = 3,
         .columns = 3,
         .values = values,
         .marked = mark,
         .row_labels = long_names,
         .column_labels = long_names,
         .user = true,
         .scale = {-2, 2, VIZ_RAMP_AUTO}},
        {.panel = "equal", .rows = 2, .columns = 3, .values = equal},
        {.panel = "masked", .rows = 2, .columns = 2, .values = equal, .masked = all},
        {.panel = "empty"}};
    viz_heatmaps(canvas, rest, maps, 4, 2, "value");
}

void sample_heat_huge(VizCanvas *canvas, const void *data) {
    (void)data;
    enum { N = 1200 };
    double *p = calloc(N * N, sizeof *p);
    unsigned char *masked = calloc(N * N, 1);
    for (size_t i = 0; i < N * N; i++) {
        size_t r = i / N, c = i % N;
        masked[i] = c > r;
        p[i] = exp(-(double)(r - c) / 200) + (c == 700 ? 1 : 0);
    }
    p[1000 * N + 30] = NAN;
    VizRect rest = viz_page(canvas, "A very large map", "blocks by their maximum");
    viz_heatmap_barred(
        canvas, rest,
        &(VizHeatMap){.rows = N, .columns = N, .values = p, .masked = masked}, "score");
    free(p);
    free(masked);
}

void sample_lines_ugly(VizCanvas *canvas, const void *data) {
    (void)data;
    double x[] = {0, 1, 2, 3, 4, 5}, zeros[] = {0, 0, 10, NAN, 100, 0};
    double same[] = {7, 7, 7, 7, 7, 7}, huge[] = {-1e308, 1e308, 0, INFINITY, 1, 2};
    double tiny[] = {1e-320, 2e-320, 0, 0, 0, 0};
    VizSeries log[] = {{.name = "zeros and a gap", .x = x, .y = zeros, .n = 6}};
    VizSeries many[20];
    for (size_t i = 0; i < 20; i++)
        many[i] = (VizSeries){.name = "one of many with the same value, and long",
                              .x = x,
                              .y = same,
                              .n = 6};
    VizSeries wide[] = {{.name = "huge", .x = x, .y = huge, .n = 6}};
    VizSeries small[] = {{.name = "tiny", .x = x, .y = tiny, .n = 6}};
    VizSeries one[] = {
        {.name = "\xE4\xB8\xAD\xE6\x96\x87", .x = x, .y = same, .n = 1, .user = true}};
    VizRect rest =
        viz_page(canvas, "No data are too strange", "six panels of bad data");
    VizLines panels[] = {
        {.panel = "log with zeros",
         .x = {.label = "x", .log = true},
         .y = {.label = "y", .log = true},
         .series = log,
         .count = 1},
        {.panel = "too many names", .x = {.label = "x"}, .series = many, .count = 20},
        {.panel = "huge",
         .x = {.label = "x"},
         .y = {.label = "y"},
         .series = wide,
         .count = 1},
        {.panel = "tiny", .series = small, .count = 1},
        {.panel = "one point", .series = one, .count = 1},
        {.panel = "nothing"}};
    for (size_t i = 0; i < 6; i++)
        viz_lines(canvas, viz_grid(rest, 2, 3, 14, i), &panels[i]);
}

void sample_bars_ugly(VizCanvas *canvas, const void *data) {
    (void)data;
    double zeros[4] = {0}, bad[] = {NAN, -3, INFINITY, 5};
    double many[700];
    for (size_t i = 0; i < 700; i++) many[i] = (double)(i % 17);
    static const char *const long_names[] = {
        "a bar with a name that never ends and goes on", "another one of these"};
    VizRect rest = viz_page(canvas, "Bars without height", "four panels of bad data");
    VizBars panels[] = {{.panel = "zeros",
                         .y = {.label = "y"},
                         .bars = 2,
                         .parts = 2,
                         .values = zeros,
                         .bar_names = long_names,
                         .part_names = long_names,
                         .totals = true},
                        {.panel = "bad",
                         .x_label = "x",
                         .y = {.label = "y", .unit = VIZ_BYTES},
                         .bars = 2,
                         .parts = 2,
                         .values = bad,
                         .part_names = parts_of_bars,
                         .totals = true},
                        {.panel = "many",
                         .x_label = "x",
                         .bars = 700,
                         .parts = 1,
                         .values = many,
                         .part_names = parts_of_bars,
                         .totals = true},
                        {.panel = "nothing"}};
    for (size_t i = 0; i < 4; i++)
        viz_bars(canvas, viz_grid(rest, 2, 2, 14, i), &panels[i]);
}

void sample_blocks_ugly(VizCanvas *canvas, const void *data) {
    (void)data;
    unsigned char state[12] = {0, 1, 200, 255, 0, 1, 0, 1, 0, 1, 0, 1};
    static unsigned char wide[2000];
    static const VizKey states[] = {
        {"a key whose words go on and on and on and on", VIZ_BLUE, 0},
        {"second", VIZ_GREEN, 0}};
    static const char *const labels[12] = {
        "A", "B",  "C",  "D", "\xFF", "\xF0\x9F\x98\x80", " x", "too long to fit",
        "",  NULL, "12", "3"};
    static const char *const rows[] = {"a row with a very, very long name", "", "\n"};
    VizRect rest =
        viz_page(canvas, "Unknown states are crossed out", "three block maps");
    VizBlocks maps[] = {{.panel = "labels",
                         .rows = 3,
                         .columns = 4,
                         .state = state,
                         .states = states,
                         .state_count = 2,
                         .labels = labels,
                         .row_labels = rows,
                         .user = true,
                         .column_labels = labels,
                         .row_notes = rows},
                        {.panel = "2000 blocks",
                         .rows = 2,
                         .columns = 1000,
                         .state = wide,
                         .states = states,
                         .state_count = 1,
                         .positions = true},
                        {.panel = "nothing"}};
    static const char *const plain[] = {"a row with a very, very long name", "b", "c"};
    maps[0].row_labels = maps[0].row_notes = plain;
    for (size_t i = 0; i < 3; i++)
        viz_blocks(canvas, viz_grid(rest, 1, 3, 14, i), &maps[i]);
}

void sample_timeline_ugly(VizCanvas *canvas, const void *data) {
    (void)data;
    static const char *names[60];
    static VizInterval bars[400];
    for (size_t i = 0; i < 60; i++)
        names[i] = "a user whose name is long, much too long";
    for (size_t i = 0; i < 400; i++)
        bars[i] = (VizInterval){
            i % 60,   (double)(i * 7 % 90), (double)(i * 7 % 90 + i % 5), "label",
            VIZ_AUTO, i % 11 == 0};
    bars[0].start = NAN;
    bars[1].row = 999;
    bars[2].end = -1;
    VizInterval point[] = {{0, 5, 5, "", VIZ_AUTO, false}};
    VizRect rest = viz_page(canvas, "Many rows, bad intervals", "three time lines");
    VizTimeline lines[] = {{.panel = "many",
                            .x = {.label = "t"},
                            .rows = names,
                            .row_count = 60,
                            .intervals = bars,
                            .count = 400},
                           {.panel = "a moment",
                            .rows = names,
                            .row_count = 1,
                            .intervals = point,
                            .count = 1},
                           {.panel = "nothing"}};
    for (size_t i = 0; i < 3; i++)
        viz_timeline(canvas, viz_grid(rest, 1, 3, 14, i), &lines[i]);
}

void sample_boxes_ugly(VizCanvas *canvas, const void *data) {
    (void)data;
    static VizBox many[40];
    for (size_t i = 0; i < 40; i++)
        many[i] =
            (VizBox){"a box with a long name", i ? pow(10, (double)i / 4) : NAN,
                     "detail\n\nlonger than its column\n1\n2\n3\n4\n5\n6\n7\n8\n9",
                     VIZ_AUTO, i % 2 == 0};
    VizRect rest = viz_page(canvas, "", "");
    viz_boxes(canvas, viz_cut_top(&rest, 220),
              &(VizBoxes){.boxes = many, .count = 40, .unit = "FLOPs"});
    viz_boxes(canvas, viz_cut_top(&rest, 60), &(VizBoxes){0});
}

void sample_long_titles(VizCanvas *canvas, const void *data) {
    char quoted[120];
    VizRect rest = viz_page(
        canvas,
        "A title that is far too long for one line and even for two lines, so that it "
        "has to "
        "be cut at the end of the second line, which nobody should ever do on a slide, "
        "but "
        "it happens when names come from files",
        viz_quote(canvas,
                  data ? data : "\xE4\xB8\xAD\xE6\x96\x87 \xF0\x9F\x98\x80 \xC3\x28",
                  quoted, sizeof quoted));
    viz_caption(canvas, &rest, "a caption");
    viz_key(canvas, rest, &(VizKey){"key", VIZ_BLUE, 0}, 1);
}
