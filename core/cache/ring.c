#include "core/cache/ring.h"
#include "core/cache/row.h"

#include <stdint.h>
#include <string.h>

#define NOTHING SIZE_MAX

/* One layer's slots, [sequences][slots] each. */
typedef struct {
    size_t slots, pinned; /* C and S */
    char *k, *v;
    size_t *held; /* the position whose row is in the slot, or NOTHING */
} RingLayer;

typedef struct {
    Cache cache;       /* first member: the contract's view */
    RingLayer layer[]; /* [layers] */
} Ring;

static size_t slot_of(const RingLayer *r, size_t position) {
    if (position < r->pinned || r->slots == r->pinned) return position;
    return r->pinned + (position - r->pinned) % (r->slots - r->pinned);
}

static size_t *held_at(const RingLayer *r, size_t seq, size_t slot) {
    return &r->held[seq * r->slots + slot];
}

static bool is_stored(const RingLayer *r, size_t seq, size_t position) {
    return *held_at(r, seq, slot_of(r, position)) == position;
}

static bool reserve(Cache *cache, const size_t *pending, Error *err) {
    for (size_t s = 0; s < cache->sequences; s++)
        if (pending[s] > cache->chunk)
            return error_set(err,
                             "sequence %zu: %zu new tokens in one step; this ring has "
                             "room for %zu (--chunk)",
                             s, pending[s], cache->chunk);
    return true;
}

static void place(Cache *cache, size_t layer, size_t seq, size_t position, void **k,
                  void **v) {
    const RingLayer *r = &((Ring *)cache)->layer[layer];
    const size_t slot = slot_of(r, position), row = seq * r->slots + slot;
    *held_at(r, seq, slot) = position;
    *k = r->k + row * row_k_bytes(cache, layer);
    *v = r->v + row * row_v_bytes(cache, layer);
}

/* A span ends where the slots wrap, and where the pinned ones end. */
static void at(const Rows *rows, size_t position, Span *span) {
    const Cache *cache = rows->owner;
    const RingLayer *r = &((const Ring *)cache)->layer[rows->layer];
    const size_t slot = slot_of(r, position), row = rows->seq * r->slots + slot;
    const size_t k = row_k_bytes(cache, rows->layer),
                 v = row_v_bytes(cache, rows->layer);
    const size_t run = position < r->pinned ? r->pinned - position : r->slots - slot;
    const size_t left = rows->end - position;
    *span = (Span){.k = r->k + row * k,
                   .v = r->v + row * v,
                   .k_step = k,
                   .v_step = v,
                   .first = position,
                   .count = run < left ? run : left};
}

static void forget_slot(Cache *cache, size_t layer, size_t seq, size_t slot) {
    const RingLayer *r = &((Ring *)cache)->layer[layer];
    const size_t k = row_k_bytes(cache, layer), v = row_v_bytes(cache, layer);
    *held_at(r, seq, slot) = NOTHING;
    memory_poison(r->k + (seq * r->slots + slot) * k, k);
    memory_poison(r->v + (seq * r->slots + slot) * v, v);
}

/* Rows of positions `first` and later are dead. */
static void forget_from(Cache *cache, size_t seq, size_t first) {
    const Ring *ring = (const Ring *)cache;
    for (size_t l = 0; l < cache->shape->layers; l++)
        for (size_t slot = 0; slot < ring->layer[l].slots; slot++) {
            size_t position = *held_at(&ring->layer[l], seq, slot);
            if (position != NOTHING && position >= first)
                forget_slot(cache, l, seq, slot);
        }
}

static void abandon(Cache *cache) {
    for (size_t s = 0; s < cache->sequences; s++)
        if (cache->pending[s] > 0) forget_from(cache, s, cache->length[s]);
}

/* Whether a query at `position` would find every key it may see; else the missing one.
 */
static bool can_resume(const Cache *cache, size_t layer, size_t seq, size_t position,
                       size_t *missing) {
    const RingLayer *r = &((const Ring *)cache)->layer[layer];
    const LayerRule *rule = &cache->rule->layer[layer];
    for (size_t p = 0; p < position; p++) {
        *missing = p;
        if (rule_sees(rule, position, p) && !is_stored(r, seq, p)) return false;
    }
    return true;
}

static bool crop(Cache *cache, size_t seq, size_t length, Error *err) {
    for (size_t l = 0; l < cache->shape->layers; l++) {
        size_t missing;
        if (!can_resume(cache, l, seq, length, &missing))
            return error_set(err,
                             "sequence %zu cannot go back to %zu tokens: the window of "
                             "layer %zu reaches position %zu, which is overwritten",
                             seq, length, l, missing);
    }
    forget_from(cache, seq, length);
    return true;
}

static bool fork_by_copy(Cache *cache, size_t from, size_t to, Error *err) {
    (void)err;
    const Ring *ring = (const Ring *)cache;
    for (size_t l = 0; l < cache->shape->layers; l++) {
        const RingLayer *r = &ring->layer[l];
        const size_t k = row_k_bytes(cache, l), v = row_v_bytes(cache, l);
        memcpy(r->k + to * r->slots * k, r->k + from * r->slots * k, r->slots * k);
        memcpy(r->v + to * r->slots * v, r->v + from * r->slots * v, r->slots * v);
        for (size_t slot = 0; slot < r->slots; slot++) {
            *held_at(r, to, slot) = *held_at(r, from, slot);
            if (*held_at(r, from, slot) == NOTHING) continue;
            cache->rows_copied++;
            cache->bytes_copied += k + v;
        }
    }
    return true;
}

static size_t slot(const Cache *cache, size_t layer, size_t seq, size_t position) {
    const RingLayer *r = &((const Ring *)cache)->layer[layer];
    return seq * r->slots + slot_of(r, position);
}

static bool check_layer(const Cache *cache, size_t l, Error *err) {
    const RingLayer *r = &((const Ring *)cache)->layer[l];
    const size_t k = row_k_bytes(cache, l), v = row_v_bytes(cache, l);
    for (size_t s = 0; s < cache->sequences; s++) {
        size_t missing, end = cache->length[s] + cache->pending[s];
        if (cache->pending[s] == 0 && !can_resume(cache, l, s, end, &missing))
            return error_set(err,
                             "layer %zu, sequence %zu: position %zu is visible and not "
                             "stored",
                             l, s, missing);
        for (size_t i = 0; i < r->slots; i++) {
            const size_t position = *held_at(r, s, i), row = s * r->slots + i;
            if (position == NOTHING ? !memory_is_poisoned(r->k + row * k, k) ||
                                          !memory_is_poisoned(r->v + row * v, v)
                                    : position >= end || slot_of(r, position) != i)
                return error_set(err,
                                 "layer %zu, sequence %zu: slot %zu is not what it "
                                 "holds",
                                 l, s, i);
        }
    }
    return true;
}

static bool check(const Cache *cache, Error *err) {
    size_t predicted = 0;
    if (!formula_ring_bytes(cache->shape, cache->rule, cache->sequences,
                            cache->capacity, cache->chunk, &predicted) ||
        predicted != cache->payload.live)
        return error_set(err, "%zu bytes are held, %zu were predicted",
                         cache->payload.live, predicted);
    for (size_t l = 0; l < cache->shape->layers; l++)
        if (!check_layer(cache, l, err)) return false;
    return true;
}

static void close_ring(Cache *cache) {
    Ring *ring = (Ring *)cache;
    for (size_t l = 0; l < cache->shape->layers; l++) {
        memory_free(&cache->payload, ring->layer[l].k);
        memory_free(&cache->payload, ring->layer[l].v);
        memory_free(&cache->metadata, ring->layer[l].held);
    }
    cache_free(cache);
}

static bool open_layer(Ring *ring, size_t l, Error *err) {
    Cache *cache = &ring->cache;
    const LayerRule *rule = &cache->rule->layer[l];
    RingLayer *r = &ring->layer[l];
    size_t rows = cache->sequences;
    r->slots = formula_ring_slots(rule, cache->capacity, cache->chunk);
    r->pinned = rule->sinks < r->slots ? rule->sinks : r->slots;
    if (!size_times(&rows, r->slots))
        return error_set(err, "%zu sequences of %zu slots are too many",
                         cache->sequences, r->slots);
    r->k = memory_new(&cache->payload, rows, row_k_bytes(cache, l), err);
    r->v = memory_new(&cache->payload, rows, row_v_bytes(cache, l), err);
    r->held = memory_new(&cache->metadata, rows, sizeof *r->held, err);
    if (!r->k || !r->v || !r->held) return false;
    memory_poison(r->k, rows * row_k_bytes(cache, l));
    memory_poison(r->v, rows * row_v_bytes(cache, l));
    for (size_t i = 0; i < rows; i++) r->held[i] = NOTHING;
    return true;
}

static const CacheOps operations = {.kind = "ring",
                                    .reserve = reserve,
                                    .place = place,
                                    .at = at,
                                    .abandon = abandon,
                                    .crop = crop,
                                    .fork = fork_by_copy,
                                    .slot = slot,
                                    .check = check,
                                    .close = close_ring};

Cache *ring_open(const CacheConfig *config, Memory *memory, Error *err) {
    const size_t layers = config->shape->layers;
    Ring *ring = cache_new(sizeof *ring + layers * sizeof ring->layer[0], &operations,
                           config, memory, err);
    if (!ring) return NULL;
    if (config->chunk && config->chunk < config->capacity)
        ring->cache.chunk = config->chunk;
    for (size_t l = 0; l < layers; l++)
        if (!open_layer(ring, l, err)) {
            cache_close(&ring->cache);
            return NULL;
        }
    return &ring->cache;
}
