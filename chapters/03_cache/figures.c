#include "chapters/03_cache/figures.h"
#include "chapters/03_cache/page.h"
#include "chapters/common/gallery.h"

#include <stdio.h>
#include <string.h>

/* A heat map of more cells shows no more. */
enum { MOST_SIDE = 512 };

static bool open_bills(CacheFigures *f, Error *err) {
    const CacheResult *r = f->result;
    const size_t steps = r->steps;
    Memory *m = f->memory;
    f->flops[0] = memory_new(m, steps, PARTS * sizeof(double), err);
    f->flops[1] = memory_new(m, steps, PARTS * sizeof(double), err);
    f->context = memory_new(m, steps, sizeof(double), err);
    f->ratio = memory_new(m, steps, sizeof(double), err);
    f->context_name = memory_new(m, steps, sizeof *f->context_name, err);
    f->context_text = memory_new(m, steps, sizeof *f->context_text, err);
    f->total = memory_new(m, steps, sizeof(double), err);
    if (!f->total || !f->flops[0] || !f->flops[1] || !f->context || !f->ratio ||
        !f->context_name || !f->context_text)
        return false;
    for (size_t i = 0; i < steps; i++) {
        const CacheStep *step = &r->step[i];
        for (int p = 0; p < PARTS; p++) {
            f->flops[0][i * PARTS + (size_t)p] =
                (double)step->recompute.counters.flops[p];
            f->flops[1][i * PARTS + (size_t)p] = (double)step->cached.counters.flops[p];
        }
        f->total[i] = (double)counters_flops(&step->cached.counters);
        f->context[i] = (double)step->context;
        f->ratio[i] = (double)counters_flops(&step->recompute.counters) /
                      (double)counters_flops(&step->cached.counters);
        snprintf(f->context_text[i], sizeof f->context_text[i], "%zu", step->context);
        f->context_name[i] = f->context_text[i];
    }
    return true;
}

/* Steps whose passes reach position p: those that see more than p tokens. */
static size_t steps_over(const CacheResult *result, size_t p) {
    size_t i = 0;
    while (i < result->steps && result->step[i].context <= p) i++;
    return result->steps - i;
}

/* Tokens that are worked through together with p by the cached engine are those of its
 * chunk; under --scores dense each query of a chunk meets every row of the call. */
static size_t cached_call_end(const CacheFigures *f, size_t chunk, size_t p) {
    const size_t prompt = f->result->prompt_tokens;
    if (p >= prompt) return p + 1;
    size_t end = chunk ? (p / chunk + 1) * chunk : prompt;
    return end < prompt ? end : prompt;
}

static void count_pair(CacheFigures *f, const LayerRule *rule, const size_t *over,
                       size_t chunk, size_t q, size_t k, size_t times[2]) {
    const bool seen = rule_sees(rule, q, k);
    times[0] = seen ? over[q] : f->dense ? over[q > k ? q : k] : 0;
    times[1] = seen || (f->dense && k < cached_call_end(f, chunk, q));
}

static void count_pairs(CacheFigures *f, const LayerRule *rule, const size_t *over,
                        size_t chunk) {
    for (size_t q = 0; q < f->n; q++)
        for (size_t k = 0; k < f->n; k++) {
            size_t times[2];
            count_pair(f, rule, over, chunk, q, k, times);
            const size_t cell = q / f->block * f->side + k / f->block;
            for (int e = 0; e < 2; e++) {
                f->pairs[e] += times[e];
                if ((double)times[e] > f->times[e][cell])
                    f->times[e][cell] = (double)times[e];
            }
        }
    for (size_t i = 0; i < f->side * f->side; i++)
        for (int e = 0; e < 2; e++) f->unseen[e][i] = f->times[e][i] == 0;
}

/* Layer 0 stands for all: their rules differ at most by a window. */
static bool open_triangles(CacheFigures *f, size_t chunk, Error *err) {
    f->block = (f->n + MOST_SIDE - 1) / MOST_SIDE;
    f->side = (f->n + f->block - 1) / f->block;
    size_t *over = memory_new(f->memory, f->n, sizeof *over, err);
    bool done = over;
    for (int e = 0; done && e < 2; e++) {
        f->times[e] = memory_new(f->memory, f->side, f->side * sizeof(double), err);
        f->unseen[e] = memory_new(f->memory, f->side, f->side, err);
        done = f->times[e] && f->unseen[e];
    }
    for (size_t p = 0; done && p < f->n; p++) over[p] = steps_over(f->result, p);
    if (done) count_pairs(f, &f->rule.layer[0], over, chunk);
    memory_free(f->memory, over);
    return done;
}

static bool open_heads(CacheFigures *f, const Options *options, Error *err) {
    const CacheResult *r = f->result;
    const Tokenizer *tokenizer = r->model.tokenizer;
    const size_t layer = options->layer;
    if (!attended_open(&f->attended, &r->model, &f->rule, options->kernels, r->token,
                       f->n, layer, f->memory, err) ||
        !labels_open(&f->labels, f->attended.n, f->memory, err) ||
        !head_maps_open(&f->heads, f->attended.weights, &f->rule.layer[layer], layer,
                        f->attended.heads, f->attended.n, f->memory, err))
        return false;
    for (size_t i = 0; i < f->attended.n; i++) {
        const int id = r->token[i], before = i ? r->token[i - 1] : id;
        labels_set(&f->labels, i, tokenizer->piece(tokenizer, before, id));
    }
    f->heads.all = f->n;
    f->heads.labels = f->labels.text;
    return true;
}

bool cache_figures_open(CacheFigures *f, const CacheResult *result,
                        const Options *options, Memory *memory, Error *err) {
    const Shape *shape = &result->model.weights.shape;
    *f =
        (CacheFigures){.result = result,
                       .dense = options->dense,
                       .capacity = options->context ? options->context : shape->context,
                       .n = result->step[result->steps - 1].context,
                       .memory = memory};
    f->rule = result->rule;
    if (open_bills(f, err) && open_triangles(f, options->chunk, err) &&
        open_heads(f, options, err))
        return true;
    cache_figures_close(f);
    return false;
}

void cache_figures_close(CacheFigures *f) {
    void *all[] = {f->flops[0], f->flops[1],  f->context,   f->ratio, f->times[0],
                   f->times[1], f->unseen[0], f->unseen[1], f->total};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        memory_free(f->memory, all[i]);
    memory_free(f->memory, f->context_name);
    memory_free(f->memory, f->context_text);
    head_maps_close(&f->heads);
    labels_close(&f->labels);
    attended_close(&f->attended);
    *f = (CacheFigures){0};
}

bool cache_draw(const CacheResult *result, const Options *options, Error *err) {
    Memory memory = {0};
    CacheFigures figures;
    Gallery gallery;
    if (!cache_figures_open(&figures, result, options, &memory, err)) return false;
    bool done =
        gallery_open(&gallery, options, &memory, err) &&
        gallery_draw(&gallery, "cache-growth", cache_figure_growth, &figures, err) &&
        gallery_draw(&gallery, "step-cost", cache_figure_cost, &figures, err) &&
        gallery_draw(&gallery, "attention", figure_heads, &figures.heads, err) &&
        gallery_draw(&gallery, "recomputed", cache_figure_recomputed, &figures, err) &&
        (!options->page || cache_write_page(result, &gallery, err));
    if (done) gallery_print(&gallery, options, stdout);
    gallery_close(&gallery);
    cache_figures_close(&figures);
    return done;
}
