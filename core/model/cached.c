#include "core/model/cached.h"

#include <assert.h>

struct Cached {
    Pass pass;
    Cache *cache;
    size_t *seq,
        *new_rows; /* [rows]: the sequences of this batch and their new tokens */
    size_t *written, *read; /* slots for the trace: [rows], [positions]; else NULL */
};

/* Lists the batch's sequences and makes room for all their rows, or changes nothing. */
static bool reserve(Cached *engine, const Batch *batch, Error *err) {
    size_t count = 0;
    for (size_t first = 0, n; first < batch->n; first += n, count++) {
        n = batch_run(batch, first);
        size_t seq = batch->seq[first];
        if (seq < engine->cache->sequences &&
            batch->pos[first] != cache_length(engine->cache, seq))
            return error_set(err,
                             "sequence %zu goes on at position %zu; its cache holds "
                             "%zu tokens",
                             seq, batch->pos[first], cache_length(engine->cache, seq));
        engine->seq[count] = seq;
        engine->new_rows[count] = n;
    }
    return cache_reserve(engine->cache, count, engine->seq, engine->new_rows, err);
}

/* Which slots the n new rows went to, and which ones their queries may read. */
static void trace_slots(const Cached *engine, size_t layer, const Rows *rows,
                        size_t n) {
    const LayerRule *rule = &engine->cache->rule->layer[layer];
    const size_t first = rows->end - n;
    size_t reads = 0;
    for (size_t t = 0; t < n; t++)
        engine->written[t] = cache_slot(engine->cache, layer, rows->seq, first + t);
    for (size_t key = 0; key < rows->end;
         key++) /* older keys: the first query decides */
        if (rule_sees(rule, key < first ? first : key, key))
            engine->read[reads++] = cache_slot(engine->cache, layer, rows->seq, key);
    TraceStep at = {engine->pass.name, rows->seq, rows->end - 1};
    trace_rows(engine->pass.config.trace, &at, layer, first, engine->written, n,
               engine->read, reads);
}

/* Writes the new rows of each sequence, then lets its queries read all rows. */
static bool attend(Cached *engine, size_t layer, const Batch *batch, Error *err) {
    Pass *pass = &engine->pass;
    const EngineConfig *c = &pass->config;
    const LayerShape *s = &c->weights->shape.layer[layer];
    for (size_t first = 0, n; first < batch->n; first += n) {
        n = batch_run(batch, first);
        if (!cache_write(engine->cache, c->kernels, layer, batch->seq[first],
                         batch->pos[first], n,
                         pass->k + first * s->kv_heads * s->k_size,
                         pass->v + first * s->kv_heads * s->v_size, err))
            return false;
        Rows rows = cache_rows(engine->cache, layer, batch->seq[first]);
        layer_attend(pass, layer, first, n, &rows);
        if (engine->written) trace_slots(engine, layer, &rows, n);
    }
    return true;
}

static bool run_layers(Cached *engine, const Batch *batch, Error *err) {
    Pass *pass = &engine->pass;
    for (size_t l = 0; l < pass->config.weights->shape.layers; l++) {
        layer_project(pass, l, batch);
        if (!attend(engine, l, batch, err)) return false;
        if (!layer_finish(pass, l, batch, err)) return false;
    }
    return true;
}

bool cached_step(Cached *engine, const Batch *batch, float *logits, Error *err) {
    Pass *pass = &engine->pass;
    if (!pass_begin(pass, batch, err) || !reserve(engine, batch, err)) return false;
    if (!run_layers(engine, batch, err)) {
        cache_abandon(engine->cache);
        return false;
    }
    cache_commit(engine->cache);
    pass_logits(pass, batch, logits);
    return true;
}

Cached *cached_open(const EngineConfig *config, Cache *cache, Error *err) {
    assert(cache->shape == &config->weights->shape && cache->rule == config->rule);
    Memory *memory = config->memory;
    Cached *engine = memory_new(memory, 1, sizeof *engine, err);
    if (!engine) return NULL;
    bool done = pass_open(&engine->pass, "cached", config, err);
    engine->pass.config = *config; /* close finds the memory, whatever failed */
    engine->cache = cache;
    engine->seq = memory_new(memory, config->rows, sizeof *engine->seq, err);
    engine->new_rows = memory_new(memory, config->rows, sizeof *engine->new_rows, err);
    done = done && engine->seq && engine->new_rows;
    if (done && config->trace) {
        engine->written =
            memory_new(memory, config->rows, sizeof *engine->written, err);
        engine->read = memory_new(memory, config->positions, sizeof *engine->read, err);
        done = engine->written && engine->read;
    }
    if (done) return engine;
    cached_close(engine);
    return NULL;
}

void cached_close(Cached *engine) {
    if (!engine) return;
    Memory *memory = engine->pass.config.memory;
    memory_free(memory, engine->seq);
    memory_free(memory, engine->new_rows);
    memory_free(memory, engine->written);
    memory_free(memory, engine->read);
    pass_close(&engine->pass);
    memory_free(memory, engine);
}
