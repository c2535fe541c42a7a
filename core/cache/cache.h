/* The cache contract: where the K and V rows of past tokens are kept.
 *
 * A cache holds, for each of `sequences` sequences and each layer, one row of K and one
 * of V per committed token, in the formats of the rule. Geometry is per layer. One step
 * is
 *
 *     reserve  ->  write every layer  ->  commit     (or abandon: nothing happened)
 *
 * reserve makes room for all new rows at once and fails *before* changing anything, so
 * a step that has begun cannot run out of room. Rows written in this step are visible
 * to cache_rows before the commit; the committed length counts tokens, once for all
 * layers. Cells without a committed or pending row are dead: in the checking build they
 * hold NaN, and no result may change by that.
 *
 * Positions are those of the text, from 0. Slots are the cache's own business and leave
 * it only for the trace. Several threads may read Rows at once; one thread changes the
 * cache.
 *
 * A kind implements CacheOps; everybody else calls the functions below, which check
 * arguments, keep the lengths, and call the kind. core/conform holds every kind to this
 * page. */
#ifndef KVSTEP_CACHE_CACHE_H
#define KVSTEP_CACHE_CACHE_H

#include "core/base/memory.h"
#include "core/count/formula.h"
#include "core/kernels/kernels.h"

typedef struct Cache Cache;

typedef struct {
    const Shape *shape;
    const Rule *rule;
    size_t sequences; /* ids 0 to sequences - 1 */
    size_t capacity;  /* most tokens of one sequence */
    Growth growth;    /* growing */
    size_t chunk;     /* ring: most new tokens of a sequence in one step; 0: capacity */
    size_t block_size; /* paged: tokens in a block; 0: 16 */
    size_t blocks;     /* paged: blocks in the pool; 0: enough for every sequence */
} CacheConfig;

/* Bytes of payload, and of tables and lists apart. wasted = reserved - live. */
typedef struct {
    size_t reserved; /* rows as requested from the tracked memory */
    size_t live;     /* rows the newest committed query of each sequence could see, one
                        that several sequences share once, and none given back */
    size_t wasted;
    size_t metadata;
} CacheBytes;

typedef struct {
    const char *kind;
    /* Room for pending[seq] more rows of every sequence, or nothing changed. */
    bool (*reserve)(Cache *, const size_t *pending, Error *err);
    /* Where the stored row of a reserved position goes. */
    void (*place)(Cache *, size_t layer, size_t seq, size_t position, void **k,
                  void **v);
    /* As Rows.at; rows->owner is the Cache. */
    void (*at)(const Rows *rows, size_t position, Span *span);
    /* Pending rows are now committed (lengths are kept by the caller). May be NULL. */
    void (*commit)(Cache *);
    /* Pending rows of all sequences are dead again. */
    void (*abandon)(Cache *);
    /* Rows from `length` on are dead. Refuses only what the kind cannot do. */
    bool (*crop)(Cache *, size_t seq, size_t length, Error *err);
    /* `to`, empty, gets the rows of `from`. Nothing changed on failure. */
    bool (*fork)(Cache *, size_t from, size_t to, Error *err);
    size_t (*slot)(const Cache *, size_t layer, size_t seq, size_t position);
    /* Bytes of live rows, where sequences share some; NULL: each has its own. */
    size_t (*live)(const Cache *);
    /* The kind's own invariants. */
    bool (*check)(const Cache *, Error *err);
    void (*close)(Cache *); /* frees all of it */
} CacheOps;

struct Cache {
    const CacheOps *ops;
    const Shape *shape;
    const Rule *rule;
    size_t sequences, capacity;
    size_t chunk;   /* most new tokens of a sequence in one step */
    size_t *length; /* [sequences] committed tokens: the one field that says how long */
    size_t *pending; /* [sequences] tokens of the step that is under way */
    size_t *loaded;  /* [sequences] length when it came from a snapshot, else 0 */
    size_t *wanted;  /* [sequences] what cache_reserve is asking for */
    size_t rows_copied,
        bytes_copied;         /* since it was opened: by growth, fork, sharing */
    Memory payload, metadata; /* children of the caller's Memory */
};

/* "contiguous", "growing", "ring" or "paged": see the header of that name. NULL and one
 * line naming the kinds for another. shape, rule and memory must outlive the cache. */
Cache *cache_open(const char *kind, const CacheConfig *config, Memory *memory,
                  Error *err);
void cache_close(Cache *cache); /* NULL does nothing */

/* Begins a step: room for rows[i] >= 1 more tokens of sequence seq[i], count different
 * sequences. Fails with nothing changed if a sequence would pass its capacity, if ids
 * are wrong, or if the kind has no room. */
bool cache_reserve(Cache *cache, size_t count, const size_t *seq, const size_t *rows,
                   Error *err);

/* Stores new rows of one layer: k [n][kv_heads][k_size], v [n][kv_heads][v_size], for
 * positions first to first + n - 1, all reserved. False: a value is not finite in the
 * rule's format. This is where a K row is written. (write.c) */
bool cache_write(Cache *cache, const Kernels *kernels, size_t layer, size_t seq,
                 size_t first, size_t n, const float *k, const float *v, Error *err);

/* The committed and pending rows of a sequence in a layer. */
Rows cache_rows(const Cache *cache, size_t layer, size_t seq);

/* Ends a step. Neither can fail. */
void cache_commit(Cache *cache);
void cache_abandon(Cache *cache);

/* Committed tokens of a sequence. */
size_t cache_length(const Cache *cache, size_t seq);

/* Between steps. crop keeps the first `length` tokens (more than there are: nothing
 * happens); fork wants an empty `to`; remove is crop to nothing and always works. */
bool cache_crop(Cache *cache, size_t seq, size_t length, Error *err);
bool cache_fork(Cache *cache, size_t from, size_t to, Error *err);
void cache_remove(Cache *cache, size_t seq);

/* The slot of a committed or pending position, for the trace. */
size_t cache_slot(const Cache *cache, size_t layer, size_t seq, size_t position);

/* True if every invariant holds; else err names the first broken one. */
bool cache_check(const Cache *cache, Error *err);

CacheBytes cache_bytes(const Cache *cache);

/* For implementations: allocates `bytes` zeroed bytes as a cache with its lengths
 * (Cache is the first member), and frees that part. */
void *cache_new(size_t bytes, const CacheOps *ops, const CacheConfig *config,
                Memory *memory, Error *err);
void cache_free(Cache *cache);

#endif
