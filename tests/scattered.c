#include "tests/scattered.h"
#include "core/base/random.h"

#include <stdint.h>
#include <string.h>

enum { GAP = 20, NO_SLOT = -1 };

/* A slot holds the rows of one token in all layers: per layer V, a gap, K, a gap. */
typedef struct {
    Cache cache;
    size_t slots, slot_bytes;
    char *pool;   /* [slots][slot_bytes] */
    int *table;   /* [sequences][capacity]: the slot of a position, or NO_SLOT */
    size_t *free; /* [slots] a stack of free slots, shuffled at the start */
    size_t free_count;
    size_t offset[]; /* [layers] of the layer's V in a slot */
} Scattered;

static size_t v_bytes(const Cache *c, size_t l) {
    return c->rule->layer[l].v->row_bytes(c->shape->layer[l].kv_heads,
                                          c->shape->layer[l].v_size);
}

static size_t k_bytes(const Cache *c, size_t l) {
    return c->rule->layer[l].k->row_bytes(c->shape->layer[l].kv_heads,
                                          c->shape->layer[l].k_size);
}

/* Rows of f32 want addresses that 4 divides. */
static size_t whole_words(size_t bytes) {
    return (bytes + 3) / 4 * 4;
}

static int *entry(const Scattered *s, size_t seq, size_t position) {
    return &s->table[seq * s->cache.capacity + position];
}

static char *v_at(const Scattered *s, size_t layer, size_t seq, size_t position) {
    return s->pool + (size_t)*entry(s, seq, position) * s->slot_bytes +
           s->offset[layer];
}

static char *k_at(const Scattered *s, size_t layer, size_t seq, size_t position) {
    return v_at(s, layer, seq, position) + whole_words(v_bytes(&s->cache, layer)) + GAP;
}

static void take(Scattered *s, size_t seq, size_t position) {
    *entry(s, seq, position) = (int)s->free[--s->free_count];
}

static void give_back(Scattered *s, size_t seq, size_t first, size_t end) {
    for (size_t p = end; p-- > first;) {
        size_t slot = (size_t)*entry(s, seq, p);
        memory_poison(s->pool + slot * s->slot_bytes, s->slot_bytes);
        s->free[s->free_count++] = slot;
        *entry(s, seq, p) = NO_SLOT;
    }
}

static bool reserve(Cache *cache, const size_t *pending, Error *err) {
    Scattered *s = (Scattered *)cache;
    size_t needed = 0;
    for (size_t i = 0; i < cache->sequences; i++) needed += pending[i];
    if (needed > s->free_count)
        return error_set(err, "%zu slots are free, %zu are needed", s->free_count,
                         needed);
    for (size_t i = 0; i < cache->sequences; i++)
        for (size_t p = 0; p < pending[i]; p++) take(s, i, cache->length[i] + p);
    return true;
}

static void place(Cache *cache, size_t layer, size_t seq, size_t position, void **k,
                  void **v) {
    *k = k_at((Scattered *)cache, layer, seq, position);
    *v = v_at((Scattered *)cache, layer, seq, position);
}

static void at(const Rows *rows, size_t position, Span *span) {
    const Scattered *s = rows->owner;
    *span = (Span){.k = k_at(s, rows->layer, rows->seq, position),
                   .v = v_at(s, rows->layer, rows->seq, position),
                   .k_step = SIZE_MAX, /* nobody may step: the span holds one row */
                   .v_step = SIZE_MAX,
                   .first = position,
                   .count = 1};
}

static void abandon(Cache *cache) {
    for (size_t i = 0; i < cache->sequences; i++)
        give_back((Scattered *)cache, i, cache->length[i],
                  cache->length[i] + cache->pending[i]);
}

static bool crop(Cache *cache, size_t seq, size_t length, Error *err) {
    (void)err;
    give_back((Scattered *)cache, seq, length, cache->length[seq]);
    return true;
}

static bool fork_by_copy(Cache *cache, size_t from, size_t to, Error *err) {
    Scattered *s = (Scattered *)cache;
    if (cache->length[from] > s->free_count)
        return error_set(err, "%zu slots are free, a fork needs %zu", s->free_count,
                         cache->length[from]);
    for (size_t p = 0; p < cache->length[from]; p++) {
        take(s, to, p);
        for (size_t l = 0; l < cache->shape->layers; l++) {
            memcpy(k_at(s, l, to, p), k_at(s, l, from, p), k_bytes(cache, l));
            memcpy(v_at(s, l, to, p), v_at(s, l, from, p), v_bytes(cache, l));
        }
    }
    return true;
}

static size_t slot(const Cache *cache, size_t layer, size_t seq, size_t position) {
    (void)layer;
    return (size_t)*entry((const Scattered *)cache, seq, position);
}

static bool check(const Cache *cache, Error *err) {
    const Scattered *s = (const Scattered *)cache;
    size_t used = 0;
    for (size_t i = 0; i < cache->sequences; i++)
        for (size_t p = 0; p < cache->capacity; p++) {
            bool held = p < cache->length[i] + cache->pending[i];
            if (held != (*entry(s, i, p) != NO_SLOT))
                return error_set(err,
                                 "sequence %zu: position %zu has no slot, or one too "
                                 "many",
                                 i, p);
            used += held;
        }
    if (used + s->free_count != s->slots)
        return error_set(err, "%zu slots used and %zu free of %zu", used, s->free_count,
                         s->slots);
    for (size_t f = 0; f < s->free_count; f++)
        if (!memory_is_poisoned(s->pool + s->free[f] * s->slot_bytes, s->slot_bytes))
            return error_set(err, "free slot %zu was written", s->free[f]);
    return true;
}

static void close_scattered(Cache *cache) {
    Scattered *s = (Scattered *)cache;
    memory_free(&cache->payload, s->pool);
    memory_free(&cache->metadata, s->table);
    memory_free(&cache->metadata, s->free);
    cache_free(cache);
}

static void shuffle_slots(Scattered *s) {
    for (size_t i = 0; i < s->slots; i++) s->free[i] = i;
    for (size_t i = s->slots; i-- > 1;) {
        size_t j = random_draw(11, 0, i) % (i + 1), moved = s->free[i];
        s->free[i] = s->free[j];
        s->free[j] = moved;
    }
    s->free_count = s->slots;
}

static const CacheOps scattered = {.kind = "scattered",
                                   .reserve = reserve,
                                   .place = place,
                                   .at = at,
                                   .abandon = abandon,
                                   .crop = crop,
                                   .fork = fork_by_copy,
                                   .slot = slot,
                                   .check = check,
                                   .close = close_scattered};

Cache *scattered_open(const CacheConfig *config, Memory *memory, Error *err) {
    const size_t layers = config->shape->layers;
    Scattered *s = cache_new(sizeof *s + layers * sizeof s->offset[0], &scattered,
                             config, memory, err);
    if (!s) return NULL;
    Cache *c = &s->cache;
    s->slots = config->sequences * config->capacity;
    for (size_t l = 0; l < layers; l++) {
        s->offset[l] = s->slot_bytes;
        s->slot_bytes +=
            whole_words(v_bytes(c, l)) + whole_words(k_bytes(c, l)) + 2 * GAP;
    }
    s->pool = memory_new(&c->payload, s->slots, s->slot_bytes, err);
    s->table = memory_new(&c->metadata, s->slots, sizeof *s->table, err);
    s->free = memory_new(&c->metadata, s->slots, sizeof *s->free, err);
    if (!s->pool || !s->table || !s->free) {
        cache_close(c);
        return NULL;
    }
    memory_poison(s->pool, s->slots * s->slot_bytes);
    for (size_t i = 0; i < s->slots; i++) s->table[i] = NO_SLOT;
    shuffle_slots(s);
    return c;
}
