#include "core/cache/growing.h"
#include "core/cache/row.h"

#include <stdint.h>
#include <string.h>

/* Of one sequence; all layers hold the same number of rows. */
typedef struct {
    size_t rows; /* room, used or not */
    struct {
        char *k, *v; /* [rows] stored rows; NULL while there are none */
    } layer[];       /* [layers] */
} Grown;

typedef struct {
    Cache cache; /* first member: the contract's view */
    Growth growth;
    Grown **seq;   /* [sequences] */
    Grown **fresh; /* [sequences] the larger blocks, gathered before any is used */
} Growing;

static void free_blocks(Growing *g, Grown *grown) {
    for (size_t l = 0; l < g->cache.shape->layers; l++) {
        memory_free(&g->cache.payload, grown->layer[l].k);
        memory_free(&g->cache.payload, grown->layer[l].v);
        grown->layer[l].k = grown->layer[l].v = NULL;
    }
    grown->rows = 0;
}

/* Allocates `rows` rows in all layers, or nothing. */
static bool allocate(Growing *g, Grown *grown, size_t rows, Error *err) {
    grown->rows = rows;
    for (size_t l = 0; l < g->cache.shape->layers; l++) {
        const size_t k = row_k_bytes(&g->cache, l), v = row_v_bytes(&g->cache, l);
        grown->layer[l].k = memory_new(&g->cache.payload, rows, k, err);
        grown->layer[l].v = memory_new(&g->cache.payload, rows, v, err);
        if (!grown->layer[l].k || !grown->layer[l].v) {
            free_blocks(g, grown);
            return false;
        }
        memory_poison(grown->layer[l].k, rows * k);
        memory_poison(grown->layer[l].v, rows * v);
    }
    return true;
}

static void copy_rows(Growing *g, Grown *to, const Grown *from, size_t rows) {
    for (size_t l = 0; rows > 0 && l < g->cache.shape->layers; l++) {
        const size_t k = row_k_bytes(&g->cache, l), v = row_v_bytes(&g->cache, l);
        memcpy(to->layer[l].k, from->layer[l].k, rows * k);
        memcpy(to->layer[l].v, from->layer[l].v, rows * v);
        g->cache.rows_copied += rows;
        g->cache.bytes_copied += rows * (k + v);
    }
}

/* Larger blocks for every sequence that needs them, or for none. */
static bool allocate_all(Growing *g, const size_t *pending, Error *err) {
    const Cache *cache = &g->cache;
    for (size_t s = 0; s < cache->sequences; s++) {
        size_t needed = cache->length[s] + pending[s], held = g->seq[s]->rows;
        if (pending[s] == 0 || needed <= held) continue;
        size_t rows = formula_grown_rows(g->growth, held, needed, cache->capacity);
        if (allocate(g, g->fresh[s], rows, err)) continue;
        for (size_t done = 0; done < s; done++) free_blocks(g, g->fresh[done]);
        return false;
    }
    return true;
}

/* The larger blocks take the place of the old ones, which are freed. */
static void take_fresh(Growing *g, size_t seq) {
    Grown *old = g->seq[seq];
    g->seq[seq] = g->fresh[seq];
    g->fresh[seq] = old;
    free_blocks(g, old);
}

static bool reserve(Cache *cache, const size_t *pending, Error *err) {
    Growing *g = (Growing *)cache;
    if (!allocate_all(g, pending, err)) return false;
    for (size_t s = 0; s < cache->sequences; s++) {
        if (g->fresh[s]->rows == 0) continue;
        copy_rows(g, g->fresh[s], g->seq[s], cache->length[s]);
        take_fresh(g, s);
    }
    return true;
}

static void place(Cache *cache, size_t layer, size_t seq, size_t position, void **k,
                  void **v) {
    const Grown *grown = ((Growing *)cache)->seq[seq];
    *k = grown->layer[layer].k + position * row_k_bytes(cache, layer);
    *v = grown->layer[layer].v + position * row_v_bytes(cache, layer);
}

static void at(const Rows *rows, size_t position, Span *span) {
    const Growing *g = rows->owner;
    const Grown *grown = g->seq[rows->seq];
    const size_t k = row_k_bytes(&g->cache, rows->layer);
    const size_t v = row_v_bytes(&g->cache, rows->layer);
    *span = (Span){.k = grown->layer[rows->layer].k + position * k,
                   .v = grown->layer[rows->layer].v + position * v,
                   .k_step = k,
                   .v_step = v,
                   .first = position,
                   .count = rows->end - position};
}

static void forget_rows(Growing *g, size_t seq, size_t first, size_t end) {
    for (size_t l = 0; first < end && l < g->cache.shape->layers; l++) {
        void *k, *v;
        place(&g->cache, l, seq, first, &k, &v);
        memory_poison(k, (end - first) * row_k_bytes(&g->cache, l));
        memory_poison(v, (end - first) * row_v_bytes(&g->cache, l));
    }
}

static void abandon(Cache *cache) {
    for (size_t s = 0; s < cache->sequences; s++)
        forget_rows((Growing *)cache, s, cache->length[s],
                    cache->length[s] + cache->pending[s]);
}

/* Room stays for what comes next; a sequence that is empty gives its room back. */
static bool crop(Cache *cache, size_t seq, size_t length, Error *err) {
    (void)err;
    Growing *g = (Growing *)cache;
    forget_rows(g, seq, length, cache->length[seq]);
    if (length == 0) free_blocks(g, g->seq[seq]);
    return true;
}

static bool fork_by_copy(Cache *cache, size_t from, size_t to, Error *err) {
    Growing *g = (Growing *)cache;
    const size_t length = cache->length[from];
    if (length == 0) return true;
    size_t rows = formula_grown_rows(g->growth, 0, length, cache->capacity);
    if (!allocate(g, g->fresh[to], rows, err)) return false;
    copy_rows(g, g->fresh[to], g->seq[from], length);
    take_fresh(g, to);
    return true;
}

static size_t slot(const Cache *cache, size_t layer, size_t seq, size_t position) {
    (void)layer;
    return seq * cache->capacity + position; /* as if all had their full room */
}

static bool check(const Cache *cache, Error *err) {
    const Growing *g = (const Growing *)cache;
    size_t predicted = 0;
    for (size_t s = 0; s < cache->sequences; s++) {
        const Grown *grown = g->seq[s];
        const size_t rows = cache->length[s] + cache->pending[s];
        size_t bytes;
        if (rows > grown->rows ||
            !formula_cache_bytes(cache->shape, cache->rule, 1, grown->rows, &bytes))
            return error_set(err, "sequence %zu: %zu rows in room for %zu", s, rows,
                             grown->rows);
        predicted += bytes;
        for (size_t l = 0; rows < grown->rows && l < cache->shape->layers; l++) {
            void *k, *v;
            place((Cache *)(uintptr_t)cache, l, s, rows, &k, &v);
            if (!memory_is_poisoned(k, (grown->rows - rows) * row_k_bytes(cache, l)) ||
                !memory_is_poisoned(v, (grown->rows - rows) * row_v_bytes(cache, l)))
                return error_set(err,
                                 "layer %zu, sequence %zu: a row past its %zu tokens "
                                 "was written",
                                 l, s, rows);
        }
    }
    if (predicted != cache->payload.live)
        return error_set(err, "%zu bytes are held, %zu were predicted",
                         cache->payload.live, predicted);
    return true;
}

static void close_growing(Cache *cache) {
    Growing *g = (Growing *)cache;
    for (size_t s = 0; g->seq && s < 2 * cache->sequences; s++) {
        if (g->seq[s]) free_blocks(g, g->seq[s]);
        memory_free(&cache->metadata, g->seq[s]);
    }
    memory_free(&cache->metadata, g->seq);
    cache_free(cache);
}

static const CacheOps growing = {.kind = "growing",
                                 .reserve = reserve,
                                 .place = place,
                                 .at = at,
                                 .abandon = abandon,
                                 .crop = crop,
                                 .fork = fork_by_copy,
                                 .slot = slot,
                                 .check = check,
                                 .close = close_growing};

Cache *growing_open(const CacheConfig *config, Memory *memory, Error *err) {
    Growing *g = cache_new(sizeof *g, &growing, config, memory, err);
    if (!g) return NULL;
    Memory *metadata = &g->cache.metadata;
    const size_t one =
        sizeof(Grown) + config->shape->layers * sizeof g->seq[0]->layer[0];
    const size_t lists = 2 * config->sequences;
    g->growth = config->growth;
    g->seq = memory_new(metadata, lists, sizeof *g->seq, err);
    if (g->seq) g->fresh = g->seq + config->sequences;
    bool done = g->seq;
    for (size_t s = 0; done && s < lists; s++) {
        g->seq[s] = memory_new(metadata, 1, one, err);
        done = g->seq[s];
    }
    if (done) return &g->cache;
    cache_close(&g->cache);
    return NULL;
}
