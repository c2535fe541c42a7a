/* What models cost that nobody holds: shapes without weights, and a table that counts
 * but has no kernels behind it. */
#ifndef KVSTEP_TESTS_PRICES_H
#define KVSTEP_TESTS_PRICES_H

#include "core/count/counted.h"
#include "core/model/cached.h"
#include "tests/check_main.h"

static inline size_t half_bytes(size_t heads, size_t size) {
    return 2 * heads * size;
}
/* Two bytes a value, as f16 will have: for sizes alone, it stores nothing. */
static const Format half = {.name = "half", .row_bytes = half_bytes};

/* A decoder's shape with no weight behind it. */
static inline void wide_model(Weights *w, LayerWeights *layers, size_t count,
                              size_t dim, const LayerShape *layer, size_t vocab) {
    *w = (Weights){.shape = {.dim = dim,
                             .vocab = vocab,
                             .context = 131072,
                             .rot = layer->k_size,
                             .rope_base = 10000,
                             .eps = 1e-5f,
                             .layers = count},
                   .format = &half,
                   .layer = layers};
    shape_all_layers(&w->shape, layer);
    weights_shape_ends(&w->shape, &w->embedding, &w->output);
    w->embedding.format = w->output.format = &half;
    for (size_t l = 0; l < count; l++) {
        weights_shape_layer(&w->shape, l, &layers[l]);
        Matrix *all[] = {&layers[l].q,  &layers[l].k,    &layers[l].v,   &layers[l].o,
                         &layers[l].up, &layers[l].gate, &layers[l].down};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) all[i]->format = &half;
    }
}

static const LayerShape llama2_7b = {32, 32, 128, 128, 11008, SHAPE_NO_WINDOW};

static inline void llama2_7b_model(Weights *w, LayerWeights *layers) {
    wide_model(w, layers, 32, 4096, &llama2_7b, 32000);
}

/* Steps of one token through the cached engine, with a table that only counts. */
static inline Counters price_steps(const Weights *weights, const Rule *rule,
                                   size_t steps) {
    Memory memory = {0};
    Error err = {0};
    Counters counters = {0};
    Counted counted;
    counted_init(&counted, NULL, &counters, true);
    CacheConfig room = {
        .shape = &weights->shape, .rule = rule, .sequences = 1, .capacity = steps};
    Cache *cache = cache_open("contiguous", &room, &memory, &err);
    ck_assert_msg(cache != NULL, "%s", err.text);
    EngineConfig config = {.weights = weights,
                           .rule = rule,
                           .kernels = &counted.table,
                           .rows = 1,
                           .positions = steps,
                           .memory = &memory};
    Cached *engine = cached_open(&config, cache, &err);
    float *logits = calloc(weights->shape.vocab, sizeof *logits);
    ck_assert(engine && logits);
    const int token = 1;
    const size_t seq = 0;
    const bool want = true;
    for (size_t p = 0; p < steps; p++) {
        Batch batch = {1, &token, &seq, &p, &want};
        ck_assert_msg(cached_step(engine, &batch, logits, &err), "%s", err.text);
    }
    ck_assert_uint_eq(cache_bytes(cache).live,
                      formula_live_bytes(&weights->shape, rule, steps));
    free(logits);
    cached_close(engine);
    cache_close(cache);
    ck_assert_uint_eq(memory.live, 0);
    return counters;
}

static inline Counters formula_step(const Weights *w, const Rule *rule, size_t first,
                                    size_t n, bool cache) {
    Counters sum = {0};
    FormulaRows rows = {.first = first, .n = n, .logits = 1, .cache = cache};
    formula_rows(&w->shape, rule, &rows, &sum);
    formula_weights(&w->shape, w->format, 1, true, &sum);
    return sum;
}

static inline uint64_t attention_flops(const Counters *c) {
    return c->flops[PART_SCORES] + c->flops[PART_VALUES];
}

static inline uint64_t linear_flops(const Counters *c) {
    return c->flops[PART_QKV] + c->flops[PART_OUTPUT] + c->flops[PART_MLP];
}

#endif
