/* What the pictures of attention look like. */
#include "chapters/02_attention/figures.h"
#include "viz/dial.h"
#include "viz/heatmap.h"
#include "viz/lines.h"
#include "viz/matrix.h"
#include "viz/page.h"

#include <math.h>
#include <stdio.h>

enum { HANDS = 12 }; /* positions on a dial: two turns of the fastest pair */

/* The key that the newest query gives most to. */
static size_t favourite(const AttentionFigures *f) {
    const size_t n = f->result->n;
    const double *row = f->weights + (n - 1) * n;
    size_t most = 0;
    for (size_t k = 1; k < n; k++)
        if (row[k] > row[most]) most = k;
    return most;
}

static VizMatrix matrix_of(const AttentionFigures *f, const char *name,
                           const double *values, size_t columns, bool pairs) {
    return (VizMatrix){.name = name,
                       .rows = f->result->n,
                       .columns = columns,
                       .values = values,
                       .masked = pairs ? f->masked : NULL,
                       .row_labels = f->labels.text,
                       .column_labels = pairs ? f->labels.text : NULL,
                       .user = true};
}

void attention_figure_matrices(VizCanvas *canvas, const void *data) {
    const AttentionFigures *f = data;
    const AttentionResult *r = f->result;
    const size_t n = r->n, most = favourite(f);
    const double share = f->weights[(n - 1) * n + most];
    char title[200], subtitle[200];
    snprintf(title, sizeof title,
             "Layer %zu, head %zu: %.0f%% of the newest token's output is the V of "
             "position %zu",
             r->layer, r->head, 100 * share, most);
    snprintf(
        subtitle, sizeof subtitle,
        "scores = Q times K transposed, times %.3g; weights = softmax of each row; "
        "output = weights times V. One row per token; hatched: masked",
        (double)r->scale);
    VizRect rest = viz_page(canvas, title, subtitle);
    viz_say(canvas,
            "Layer %zu, head %zu (it reads KV head %zu), %zu tokens: Q and K have %zu "
            "numbers a token, V and the output %zu. The newest query, position %zu, "
            "gives its largest weight, %.3f, to position %zu.",
            r->layer, r->head, r->kv_head, n, r->k_size, r->v_size, n - 1, share, most);
    const VizMatrix all[] = {
        matrix_of(f, "Q", f->q, r->k_size, false),
        matrix_of(f, "K", f->k, r->k_size, false),
        matrix_of(f, "V", f->v, r->v_size, false),
        matrix_of(f, "scores", f->scores, n, true),
        matrix_of(f, "weights", f->weights, n, true),
        matrix_of(f, "output", f->out, r->v_size, false),
    };
    for (size_t i = 0; i < 6; i++)
        viz_matrix(canvas, viz_grid(rest, 2, 3, 24, i), &all[i]);
}

static void title_of_same(const AttentionFigures *f, char *out, size_t size) {
    const AttentionResult *r = f->result;
    if (r->n == 1)
        snprintf(out, size, "One token: there is no step before to compare with");
    else if (r->no_mask)
        snprintf(out, size,
                 "Without the mask %zu of %zu old rows of weights keep their bits: a "
                 "new token changes the past",
                 f->rows_same, r->n - 1);
    else
        snprintf(out, size,
                 "%zu of %zu old rows of weights have the bits of the step before: "
                 "computing them again was for nothing",
                 f->rows_same, r->n - 1);
}

void attention_figure_same(VizCanvas *canvas, const void *data) {
    const AttentionFigures *f = data;
    const AttentionResult *r = f->result;
    const size_t n = r->n;
    char title[200], panel[2][60];
    title_of_same(f, title, sizeof title);
    VizRect rest =
        viz_page(canvas, title,
                 "weights of one head in two steps, the second with one token more; "
                 "green frame: rows with the same bits as in the step before");
    viz_say(canvas,
            "Layer %zu, head %zu: %zu of %zu old rows have the same bits in the step "
            "of %zu tokens as in the step before. Over all layers and heads: %zu of "
            "%zu.",
            r->layer, r->head, f->rows_same, n - 1, n, r->rows_same, r->rows_compared);
    snprintf(panel[0], sizeof panel[0], "step %zu: %zu tokens", n - 2, n - 1);
    snprintf(panel[1], sizeof panel[1], "step %zu: %zu tokens", n - 1, n);
    VizHeatMap maps[2] = {{.panel = panel[0],
                           .rows = n - 1,
                           .columns = n - 1,
                           .values = f->older,
                           .masked = f->older_masked},
                          {.panel = panel[1],
                           .rows = n,
                           .columns = n,
                           .values = f->weights,
                           .masked = f->masked,
                           .marked = f->same}};
    for (size_t i = 0; i < 2; i++) {
        maps[i].row_labels = maps[i].column_labels = f->labels.text;
        maps[i].user = true;
    }
    const size_t first = n == 1;
    viz_heatmaps(canvas, rest, maps + first, 2 - first, 2 - first, "weight");
}

static void title_of_rotation(const AttentionResult *r, char *out, size_t size) {
    if (r->rot == 0)
        snprintf(out, size, "This model turns nothing: it has no rotary elements");
    else if (r->shift > 0)
        snprintf(out, size,
                 "All positions later by %zu: the newest token's scores change by %.1e "
                 "at most, because only distances count",
                 r->shift, (double)r->score_change);
    else
        snprintf(out, size,
                 "A position later, the first pair of q and k is turned %.3g radian "
                 "further, the last one %.3g",
                 r->angle, r->slow_angle);
}

static void draw_scores(VizCanvas *canvas, VizRect at, const AttentionFigures *f) {
    const AttentionResult *r = f->result;
    char later[60];
    snprintf(later, sizeof later, "later by %zu", r->shift);
    const VizSeries series[2] = {{.name = r->shift ? "as they are" : "score",
                                  .x = f->position,
                                  .y = f->scored[0],
                                  .n = r->n,
                                  .color = VIZ_BLUE,
                                  .stroke = VIZ_LINE},
                                 {.name = later,
                                  .x = f->position,
                                  .y = f->scored[1],
                                  .n = r->n,
                                  .color = VIZ_VERMILLION,
                                  .stroke = VIZ_POINTS}};
    viz_lines(canvas, at,
              &(VizLines){.panel = "the newest query's scores",
                          .x = {.label = "position of the key", .whole = true},
                          .y = {.label = "score"},
                          .series = series,
                          .count = r->shift ? 2 : 1});
}

/* The first pair, the same with all positions later, the last pair. */
static void draw_dials(VizCanvas *canvas, VizRect at, const AttentionFigures *f) {
    const AttentionResult *r = f->result;
    const size_t shown = r->n < HANDS ? r->n : HANDS;
    double later[2 * HANDS];
    char panel[3][80];
    for (size_t i = 0; i < shown; i++) {
        later[2 * i] = cos((double)(i + r->shift) * r->angle);
        later[2 * i + 1] = sin((double)(i + r->shift) * r->angle);
    }
    snprintf(panel[0], sizeof panel[0], "first pair: %.3g rad a position", r->angle);
    snprintf(panel[1], sizeof panel[1], "the same, later by %zu", r->shift);
    snprintf(panel[2], sizeof panel[2], "last pair: %.3g rad a position",
             r->slow_angle);
    const double *const directions[3] = {f->turn[0], later, f->turn[1]};
    for (size_t i = 0, place = 0; i < 3; i++) {
        if (i == 1 && r->shift == 0) continue;
        viz_dial(canvas, viz_grid(at, 1, 3, 26, place++),
                 &(VizDial){.panel = panel[i],
                            .direction = directions[i],
                            .names = f->position_name,
                            .count = shown,
                            .color = i == 1 ? VIZ_VERMILLION : VIZ_BLUE});
    }
}

void attention_figure_rotation(VizCanvas *canvas, const void *data) {
    const AttentionFigures *f = data;
    const AttentionResult *r = f->result;
    char title[200];
    title_of_rotation(r, title, sizeof title);
    VizRect rest = viz_page(
        canvas, title,
        "circles: where a pair of numbers that points to the right is turned at each "
        "position; below: the scores with each key, before and after a shift");
    viz_say(canvas,
            "RoPE turns pairs of numbers of q and k by their position: the first of "
            "%zu pairs by %.4g radian a position, the last by %.4g. With all positions "
            "later by %zu the newest query's scores change by %.3g at most and the "
            "logits by %.3g, of a range of %.3g.",
            r->rot / 2, r->angle, r->slow_angle, r->shift, (double)r->score_change,
            (double)r->logit_change, (double)r->logit_range);
    VizRect top = viz_cut_top(&rest, 0.58 * rest.h);
    viz_cut_top(&rest, 12);
    draw_dials(canvas, top, f);
    draw_scores(canvas, rest, f);
}
