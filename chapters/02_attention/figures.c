#include "chapters/02_attention/figures.h"
#include "chapters/common/gallery.h"

#include <stdio.h>

/* *copy = the floats as doubles. */
static bool widen(AttentionFigures *f, double **copy, const float *from, size_t rows,
                  size_t columns, Error *err) {
    *copy = memory_new(f->memory, rows, columns * sizeof **copy, err);
    for (size_t i = 0; *copy && i < rows * columns; i++) (*copy)[i] = (double)from[i];
    return *copy;
}

static bool open_matrices(AttentionFigures *f, Error *err) {
    const AttentionResult *r = f->result;
    const size_t n = r->n;
    const float *weights = r->weights + r->head * n * n;
    return widen(f, &f->q, r->q, n, r->k_size, err) &&
           widen(f, &f->k, r->k, n, r->k_size, err) &&
           widen(f, &f->v, r->v, n, r->v_size, err) &&
           widen(f, &f->out, r->out, n, r->v_size, err) &&
           widen(f, &f->scores, r->scores, n, n, err) &&
           widen(f, &f->weights, weights, n, n, err) &&
           widen(f, &f->older, r->older, n - 1, n - 1, err) &&
           widen(f, &f->turn[0], r->turn, n, 2, err) &&
           widen(f, &f->turn[1], r->slow_turn, n, 2, err) &&
           widen(f, &f->scored[0], r->scores + (n - 1) * n, 1, n, err) &&
           widen(f, &f->scored[1], r->shifted, 1, n, err);
}

static bool open_marks(AttentionFigures *f, Error *err) {
    const AttentionResult *r = f->result;
    const size_t n = r->n;
    f->masked = memory_new(f->memory, n, n, err);
    f->same = memory_new(f->memory, n, n, err);
    f->older_masked = memory_new(f->memory, n - 1, n - 1, err);
    if (!f->masked || !f->same || !f->older_masked) return false;
    for (size_t q = 0; q < n; q++) {
        const bool same = q + 1 < n && r->same[q];
        f->rows_same += same;
        for (size_t k = 0; k < n; k++) {
            f->masked[q * n + k] = !attention_sees(r, q, k);
            f->same[q * n + k] = same && !f->masked[q * n + k];
            if (q + 1 < n && k + 1 < n)
                f->older_masked[q * (n - 1) + k] = f->masked[q * n + k];
        }
    }
    return true;
}

static bool open_names(AttentionFigures *f, Error *err) {
    const AttentionResult *r = f->result;
    f->position = memory_new(f->memory, r->n, sizeof *f->position, err);
    f->position_name = memory_new(f->memory, r->n, sizeof *f->position_name, err);
    f->position_text = memory_new(f->memory, r->n, sizeof *f->position_text, err);
    if (!f->position || !f->position_name || !f->position_text ||
        !labels_open(&f->labels, r->n, f->memory, err))
        return false;
    for (size_t i = 0; i < r->n; i++) {
        f->position[i] = (double)i;
        snprintf(f->position_text[i], sizeof f->position_text[i], "%zu", i);
        f->position_name[i] = f->position_text[i];
        labels_set(&f->labels, i, r->token[i].piece);
    }
    return true;
}

static bool open_heads(AttentionFigures *f, Error *err) {
    const AttentionResult *r = f->result;
    Rule rule;
    rule_full(&rule, &r->model.weights.shape, &format_f32);
    if (!head_maps_open(&f->heads, r->weights,
                        r->no_mask ? NULL : &rule.layer[r->layer], r->layer, r->heads,
                        r->n, f->memory, err))
        return false;
    f->heads.labels = f->labels.text;
    return true;
}

bool attention_figures_open(AttentionFigures *f, const AttentionResult *result,
                            Memory *memory, Error *err) {
    *f = (AttentionFigures){.result = result, .memory = memory};
    if (open_matrices(f, err) && open_marks(f, err) && open_names(f, err) &&
        open_heads(f, err))
        return true;
    attention_figures_close(f);
    return false;
}

void attention_figures_close(AttentionFigures *f) {
    void *all[] = {
        f->q,           f->k,         f->v,         f->out,      f->scores,
        f->weights,     f->older,     f->masked,    f->same,     f->turn[0],
        f->turn[1],     f->scored[0], f->scored[1], f->position, f->position_text,
        f->older_masked};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        memory_free(f->memory, all[i]);
    memory_free(f->memory, f->position_name);
    labels_close(&f->labels);
    head_maps_close(&f->heads);
    *f = (AttentionFigures){0};
}

bool attention_draw(const AttentionResult *result, const Options *options, Error *err) {
    Memory memory = {0};
    AttentionFigures figures;
    Gallery gallery;
    if (!attention_figures_open(&figures, result, &memory, err)) return false;
    bool done =
        gallery_open(&gallery, options, &memory, err) &&
        gallery_draw(&gallery, "matrices", attention_figure_matrices, &figures, err) &&
        gallery_draw(&gallery, "heads", figure_heads, &figures.heads, err) &&
        gallery_draw(&gallery, "same-rows", attention_figure_same, &figures, err) &&
        gallery_draw(&gallery, "rotation", attention_figure_rotation, &figures, err);
    if (done) gallery_print(&gallery, options, stdout);
    gallery_close(&gallery);
    attention_figures_close(&figures);
    return done;
}
