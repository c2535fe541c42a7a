#include "core/cache/cache.h"
#include "core/cache/contiguous.h"
#include "core/cache/growing.h"
#include "core/cache/paged.h"
#include "core/cache/ring.h"

#include <assert.h>
#include <string.h>

typedef Cache *OpenKind(const CacheConfig *, Memory *, Error *);

static const struct {
    const char *kind;
    OpenKind *open;
} kinds[] = {{"contiguous", contiguous_open},
             {"growing", growing_open},
             {"ring", ring_open},
             {"paged", paged_open}};

Cache *cache_open(const char *kind, const CacheConfig *config, Memory *memory,
                  Error *err) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].kind, kind) == 0) return kinds[i].open(config, memory, err);
    error_set(err, "no cache is called '%s'; there are: contiguous growing ring paged",
              kind);
    return NULL;
}

void cache_close(Cache *cache) {
    if (cache) cache->ops->close(cache);
}

void *cache_new(size_t bytes, const CacheOps *ops, const CacheConfig *config,
                Memory *memory, Error *err) {
    if (!rule_check(config->rule, config->shape, err)) return NULL;
    Memory metadata = {.parent = memory};
    Cache *cache = memory_new(&metadata, 1, bytes, err);
    size_t *lengths =
        memory_new(&metadata, config->sequences, 4 * sizeof *lengths, err);
    if (!cache || !lengths) {
        memory_free(&metadata, cache);
        memory_free(&metadata, lengths);
        return NULL;
    }
    *cache = (Cache){.ops = ops,
                     .shape = config->shape,
                     .rule = config->rule,
                     .sequences = config->sequences,
                     .capacity = config->capacity,
                     .chunk = config->capacity,
                     .length = lengths,
                     .pending = lengths + config->sequences,
                     .wanted = lengths + 2 * config->sequences,
                     .loaded = lengths + 3 * config->sequences,
                     .payload = {.parent = memory},
                     .metadata = metadata};
    return cache;
}

void cache_free(Cache *cache) {
    Memory metadata = cache->metadata; /* the cache itself is one of its blocks */
    memory_free(&metadata, cache->length);
    memory_free(&metadata, cache);
}

static bool want(Cache *cache, size_t seq, size_t rows, Error *err) {
    if (seq >= cache->sequences)
        return error_set(err, "sequence %zu does not exist; the cache has %zu", seq,
                         cache->sequences);
    if (rows == 0 || cache->wanted[seq] > 0)
        return error_set(err, "sequence %zu asks for rows twice, or for none", seq);
    if (rows > cache->capacity - cache->length[seq])
        return error_set(
            err, "sequence %zu holds %zu tokens; %zu more pass its capacity %zu", seq,
            cache->length[seq], rows, cache->capacity);
    cache->wanted[seq] = rows;
    return true;
}

bool cache_reserve(Cache *cache, size_t count, const size_t *seq, const size_t *rows,
                   Error *err) {
    memset(cache->wanted, 0, cache->sequences * sizeof *cache->wanted);
    for (size_t s = 0; s < cache->sequences; s++)
        assert(cache->pending[s] == 0 &&
               "the last step was neither committed nor abandoned");
    for (size_t i = 0; i < count; i++)
        if (!want(cache, seq[i], rows[i], err)) return false;
    if (!cache->ops->reserve(cache, cache->wanted, err)) return false;
    memcpy(cache->pending, cache->wanted, cache->sequences * sizeof *cache->pending);
    return true;
}

Rows cache_rows(const Cache *cache, size_t layer, size_t seq) {
    assert(layer < cache->shape->layers && seq < cache->sequences);
    return (Rows){.at = cache->ops->at,
                  .owner = cache,
                  .layer = layer,
                  .seq = seq,
                  .end = cache->length[seq] + cache->pending[seq]};
}

void cache_commit(Cache *cache) {
    if (cache->ops->commit) cache->ops->commit(cache);
    for (size_t s = 0; s < cache->sequences; s++) {
        cache->length[s] += cache->pending[s];
        cache->pending[s] = 0;
    }
}

void cache_abandon(Cache *cache) {
    cache->ops->abandon(cache);
    memset(cache->pending, 0, cache->sequences * sizeof *cache->pending);
}

size_t cache_length(const Cache *cache, size_t seq) {
    assert(seq < cache->sequences);
    return cache->length[seq];
}

/* A snapshot of L tokens brought no row that its next query could not see: none of a
 * position p past the sinks with p + recent <= L. */
static bool was_not_loaded(const Cache *cache, size_t layer, size_t seq,
                           size_t position) {
    const LayerRule *rule = &cache->rule->layer[layer];
    return position >= rule->sinks && cache->loaded[seq] >= rule->recent &&
           position <= cache->loaded[seq] - rule->recent;
}

static bool check_loaded(const Cache *cache, size_t seq, size_t length, Error *err) {
    for (size_t l = 0; cache->loaded[seq] > 0 && l < cache->shape->layers; l++)
        for (size_t p = 0; p < length; p++)
            if (rule_sees(&cache->rule->layer[l], length, p) &&
                was_not_loaded(cache, l, seq, p))
                return error_set(
                    err,
                    "sequence %zu cannot go back to %zu tokens: the snapshot "
                    "it came from holds no row of layer %zu, position %zu",
                    seq, length, l, p);
    return true;
}

bool cache_crop(Cache *cache, size_t seq, size_t length, Error *err) {
    if (seq >= cache->sequences)
        return error_set(err, "sequence %zu does not exist; the cache has %zu", seq,
                         cache->sequences);
    if (length >= cache->length[seq]) return true;
    if (!check_loaded(cache, seq, length, err)) return false;
    if (!cache->ops->crop(cache, seq, length, err)) return false;
    cache->length[seq] = length;
    if (length == 0) cache->loaded[seq] = 0;
    return true;
}

bool cache_fork(Cache *cache, size_t from, size_t to, Error *err) {
    if (from >= cache->sequences || to >= cache->sequences || from == to)
        return error_set(err, "sequence %zu cannot fork to %zu; the cache has %zu",
                         from, to, cache->sequences);
    if (cache->length[to] > 0)
        return error_set(err, "sequence %zu holds %zu tokens; remove it before a fork",
                         to, cache->length[to]);
    if (!cache->ops->fork(cache, from, to, err)) return false;
    cache->length[to] = cache->length[from];
    cache->loaded[to] = cache->loaded[from];
    return true;
}

void cache_remove(Cache *cache, size_t seq) {
    assert(seq < cache->sequences);
    if (cache->length[seq] == 0) return;
    bool removed = cache->ops->crop(cache, seq, 0, NULL);
    assert(removed && "a crop to nothing always works");
    (void)removed;
    cache->length[seq] = cache->loaded[seq] = 0;
}

size_t cache_slot(const Cache *cache, size_t layer, size_t seq, size_t position) {
    assert(layer < cache->shape->layers && seq < cache->sequences);
    return cache->ops->slot(cache, layer, seq, position);
}

bool cache_check(const Cache *cache, Error *err) {
    for (size_t s = 0; s < cache->sequences; s++)
        if (cache->length[s] > cache->capacity ||
            cache->pending[s] > cache->capacity - cache->length[s])
            return error_set(err,
                             "sequence %zu: %zu + %zu tokens are over capacity %zu", s,
                             cache->length[s], cache->pending[s], cache->capacity);
    return cache->ops->check(cache, err);
}

CacheBytes cache_bytes(const Cache *cache) {
    CacheBytes bytes = {.reserved = cache->payload.live,
                        .metadata = cache->metadata.live};
    if (cache->ops->live) bytes.live = cache->ops->live(cache);
    for (size_t s = 0; !cache->ops->live && s < cache->sequences; s++)
        bytes.live += formula_live_bytes(cache->shape, cache->rule, cache->length[s]);
    bytes.wasted = bytes.reserved - bytes.live;
    return bytes;
}
