#include "core/model/recompute.h"

#include <string.h>

/* The rows this step made, stored as the rule says: nothing here outlives the step but
 * for comparison, and the checking build poisons it before the next one. */
typedef struct {
    char *k, *v;           /* [rows] of the steps below */
    size_t k_step, v_step; /* bytes of a stored row */
} StepRows;

struct Recompute {
    Pass pass;
    StepRows layer[]; /* [layers] */
};

/* Rows.seq is the batch index of the sequence's first token. */
static void at(const Rows *rows, size_t position, Span *span) {
    const StepRows *r = &((const Recompute *)rows->owner)->layer[rows->layer];
    const size_t row = rows->seq + position;
    *span = (Span){.k = r->k + row * r->k_step,
                   .v = r->v + row * r->v_step,
                   .k_step = r->k_step,
                   .v_step = r->v_step,
                   .first = position,
                   .count = rows->end - position};
}

Rows recompute_rows(const Recompute *engine, size_t layer, size_t first, size_t n) {
    return (Rows){.at = at, .owner = engine, .layer = layer, .seq = first, .end = n};
}

static bool store_rows(Recompute *engine, size_t layer, const Batch *batch,
                       Error *err) {
    const EngineConfig *c = &engine->pass.config;
    const LayerShape *s = &c->weights->shape.layer[layer];
    const LayerRule *rule = &c->rule->layer[layer];
    const StepRows *r = &engine->layer[layer];
    const float *k = engine->pass.k, *v = engine->pass.v;
    for (size_t t = 0; t < batch->n; t++) {
        if (!c->kernels->store(c->kernels, rule->k, k + t * s->kv_heads * s->k_size,
                               s->kv_heads, s->k_size, r->k + t * r->k_step))
            return error_set(err, "step %zu, layer %zu: a key is not finite as %s",
                             batch->pos[t], layer, rule->k->name);
        if (!c->kernels->store(c->kernels, rule->v, v + t * s->kv_heads * s->v_size,
                               s->kv_heads, s->v_size, r->v + t * r->v_step))
            return error_set(err, "step %zu, layer %zu: a value is not finite as %s",
                             batch->pos[t], layer, rule->v->name);
    }
    return true;
}

static bool check_whole(const Batch *batch, Error *err) {
    for (size_t first = 0; first < batch->n; first += batch_run(batch, first))
        if (batch->pos[first] != 0)
            return error_set(err,
                             "sequence %zu begins at position %zu; without a cache "
                             "all its tokens are needed",
                             batch->seq[first], batch->pos[first]);
    return true;
}

static void forget_last_step(Recompute *engine) {
    const EngineConfig *c = &engine->pass.config;
    for (size_t l = 0; l < c->weights->shape.layers; l++) {
        memory_poison(engine->layer[l].k, c->rows * engine->layer[l].k_step);
        memory_poison(engine->layer[l].v, c->rows * engine->layer[l].v_step);
    }
}

bool recompute_step(Recompute *engine, const Batch *batch, float *logits, Error *err) {
    Pass *pass = &engine->pass;
    if (!pass_begin(pass, batch, err) || !check_whole(batch, err)) return false;
    forget_last_step(engine);
    for (size_t l = 0; l < pass->config.weights->shape.layers; l++) {
        layer_project(pass, l, batch);
        if (!store_rows(engine, l, batch, err)) return false;
        for (size_t first = 0, n; first < batch->n; first += n) {
            n = batch_run(batch, first);
            Rows rows = recompute_rows(engine, l, first, n);
            layer_attend(pass, l, first, n, &rows);
        }
        if (!layer_finish(pass, l, batch, err)) return false;
    }
    pass_logits(pass, batch, logits);
    return true;
}

Recompute *recompute_open(const EngineConfig *config, Error *err) {
    const Shape *shape = &config->weights->shape;
    Memory *memory = config->memory;
    Recompute *engine = memory_new(
        memory, 1, sizeof *engine + shape->layers * sizeof engine->layer[0], err);
    if (!engine) return NULL;
    bool done = pass_open(&engine->pass, "recompute", config, err);
    engine->pass.config = *config; /* close finds the memory, whatever failed */
    for (size_t l = 0; done && l < shape->layers; l++) {
        const LayerShape *s = &shape->layer[l];
        StepRows *r = &engine->layer[l];
        r->k_step = config->rule->layer[l].k->row_bytes(s->kv_heads, s->k_size);
        r->v_step = config->rule->layer[l].v->row_bytes(s->kv_heads, s->v_size);
        r->k = memory_new(memory, config->rows, r->k_step, err);
        r->v = memory_new(memory, config->rows, r->v_step, err);
        done = r->k && r->v;
    }
    if (done) return engine;
    recompute_close(engine);
    return NULL;
}

void recompute_close(Recompute *engine) {
    if (!engine) return;
    Memory *memory = engine->pass.config.memory;
    for (size_t l = 0; l < engine->pass.config.weights->shape.layers; l++) {
        memory_free(memory, engine->layer[l].k);
        memory_free(memory, engine->layer[l].v);
    }
    pass_close(&engine->pass);
    memory_free(memory, engine);
}
