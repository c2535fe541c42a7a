#include "core/cache/contiguous.h"

#include <string.h>

/* K or V of one layer: [sequences][capacity] stored rows of `step` bytes. */
typedef struct {
    char *rows;
    size_t step;
} Block;

typedef struct {
    Cache cache; /* first member: the contract's view */
    struct {
        Block k, v;
    } layer[]; /* [shape->layers] */
} Contiguous;

static char *row_at(const Cache *cache, const Block *block, size_t seq,
                    size_t position) {
    return block->rows + (seq * cache->capacity + position) * block->step;
}

static void poison_block(const Cache *cache, const Block *block, size_t seq,
                         size_t first, size_t end) {
    memory_poison(row_at(cache, block, seq, first), (end - first) * block->step);
}

/* Rows first to end - 1 of a sequence are dead, in all layers. */
static void forget_rows(Contiguous *c, size_t seq, size_t first, size_t end) {
    for (size_t l = 0; l < c->cache.shape->layers; l++) {
        poison_block(&c->cache, &c->layer[l].k, seq, first, end);
        poison_block(&c->cache, &c->layer[l].v, seq, first, end);
    }
}

static bool reserve(Cache *cache, const size_t *pending, Error *err) {
    (void)cache; /* the room was reserved when the cache was opened */
    (void)pending;
    (void)err;
    return true;
}

static void place(Cache *cache, size_t layer, size_t seq, size_t position, void **k,
                  void **v) {
    const Contiguous *c = (const Contiguous *)cache;
    *k = row_at(cache, &c->layer[layer].k, seq, position);
    *v = row_at(cache, &c->layer[layer].v, seq, position);
}

static void at(const Rows *rows, size_t position, Span *span) {
    const Contiguous *c = rows->owner;
    const Block *k = &c->layer[rows->layer].k, *v = &c->layer[rows->layer].v;
    *span = (Span){.k = row_at(&c->cache, k, rows->seq, position),
                   .v = row_at(&c->cache, v, rows->seq, position),
                   .k_step = k->step,
                   .v_step = v->step,
                   .first = position,
                   .count = rows->end - position};
}

static void abandon(Cache *cache) {
    for (size_t s = 0; s < cache->sequences; s++)
        forget_rows((Contiguous *)cache, s, cache->length[s],
                    cache->length[s] + cache->pending[s]);
}

static bool crop(Cache *cache, size_t seq, size_t length, Error *err) {
    (void)err;
    forget_rows((Contiguous *)cache, seq, length, cache->length[seq]);
    return true;
}

static bool fork_by_copy(Cache *cache, size_t from, size_t to, Error *err) {
    (void)err;
    Contiguous *c = (Contiguous *)cache;
    for (size_t l = 0; l < cache->shape->layers; l++) {
        const Block *k = &c->layer[l].k, *v = &c->layer[l].v;
        memcpy(row_at(cache, k, to, 0), row_at(cache, k, from, 0),
               cache->length[from] * k->step);
        memcpy(row_at(cache, v, to, 0), row_at(cache, v, from, 0),
               cache->length[from] * v->step);
        cache->rows_copied += cache->length[from];
        cache->bytes_copied += cache->length[from] * (k->step + v->step);
    }
    return true;
}

static size_t slot(const Cache *cache, size_t layer, size_t seq, size_t position) {
    (void)layer;
    return seq * cache->capacity + position;
}

static bool check_dead_rows(const Cache *cache, const Block *block, size_t layer,
                            Error *err) {
    for (size_t s = 0; s < cache->sequences; s++) {
        size_t first = cache->length[s] + cache->pending[s];
        if (!memory_is_poisoned(row_at(cache, block, s, first),
                                (cache->capacity - first) * block->step))
            return error_set(err,
                             "layer %zu, sequence %zu: a row past its %zu tokens was "
                             "written",
                             layer, s, first);
    }
    return true;
}

static bool check(const Cache *cache, Error *err) {
    const Contiguous *c = (const Contiguous *)cache;
    size_t predicted;
    if (!formula_cache_bytes(cache->shape, cache->rule, cache->sequences,
                             cache->capacity, &predicted) ||
        predicted != cache->payload.live)
        return error_set(err, "%zu bytes are held, %zu were predicted",
                         cache->payload.live, predicted);
    for (size_t l = 0; l < cache->shape->layers; l++)
        if (!check_dead_rows(cache, &c->layer[l].k, l, err) ||
            !check_dead_rows(cache, &c->layer[l].v, l, err))
            return false;
    return true;
}

static void close_contiguous(Cache *cache) {
    Contiguous *c = (Contiguous *)cache;
    for (size_t l = 0; l < cache->shape->layers; l++) {
        memory_free(&cache->payload, c->layer[l].k.rows);
        memory_free(&cache->payload, c->layer[l].v.rows);
    }
    cache_free(cache);
}

static bool open_block(Cache *cache, Block *block, size_t step, Error *err) {
    size_t rows = cache->sequences;
    block->step = step;
    if (!size_times(&rows, cache->capacity))
        return error_set(err, "%zu sequences of %zu tokens are too many",
                         cache->sequences, cache->capacity);
    block->rows = memory_new(&cache->payload, rows, step, err);
    if (block->rows) memory_poison(block->rows, rows * step);
    return block->rows;
}

static const CacheOps contiguous = {.kind = "contiguous",
                                    .reserve = reserve,
                                    .place = place,
                                    .at = at,
                                    .abandon = abandon,
                                    .crop = crop,
                                    .fork = fork_by_copy,
                                    .slot = slot,
                                    .check = check,
                                    .close = close_contiguous};

Cache *contiguous_open(const CacheConfig *config, Memory *memory, Error *err) {
    const Shape *shape = config->shape;
    Contiguous *c = cache_new(sizeof *c + shape->layers * sizeof c->layer[0],
                              &contiguous, config, memory, err);
    if (!c) return NULL;
    for (size_t l = 0; l < shape->layers; l++) {
        const LayerRule *rule = &config->rule->layer[l];
        const LayerShape *layer = &shape->layer[l];
        size_t k_step = rule->k->row_bytes(layer->kv_heads, layer->k_size);
        size_t v_step = rule->v->row_bytes(layer->kv_heads, layer->v_size);
        if (!open_block(&c->cache, &c->layer[l].k, k_step, err) ||
            !open_block(&c->cache, &c->layer[l].v, v_step, err)) {
            cache_close(&c->cache);
            return NULL;
        }
    }
    return &c->cache;
}
