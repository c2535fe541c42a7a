/* Ways of being wrong, from outside: wrapped kernels and wrapped cache operations.
 *
 * Core has no switch for being wrong. A mutant stands between an engine and the real
 * kernels, or between a cache's contract and its kind, and changes what passes.
 * tests/test_mutants.c holds that each of them turns a check red. */
#ifndef KVSTEP_TESTS_MUTANTS_H
#define KVSTEP_TESTS_MUTANTS_H

#include "core/cache/cache.h"
#include "core/kernels/kernels.h"

/* A kernel table that passes every call on; whoever wraps replaces entries of it. Such
 * an entry gets the table as its first argument and finds the rest by wrapped(). */
typedef struct {
    Kernels table; /* hand &table to an engine */
    const Kernels *real;
    void *data;
} Wrapped;

void wrapped_init(Wrapped *wrapped, const Kernels *real, void *data);

static inline const Wrapped *wrapped(const Kernels *kernels) {
    return (const Wrapped *)kernels; /* table is the first member */
}

/* For Kernels.attention. */
void mutant_tiled_heads(const Kernels *, const Attention *); /* h % kv_heads */
void mutant_no_scale(const Kernels *, const Attention *);    /* scores not scaled */
void mutant_top_left_mask(const Kernels *,
                          const Attention *);                /* key <= index in chunk */
void mutant_no_own_row(const Kernels *, const Attention *);  /* key < query */
void mutant_no_last_row(const Kernels *, const Attention *); /* end - 1 rows */
void mutant_past_the_end(const Kernels *, const Attention *);  /* end + 1 rows */
void mutant_sinks_far(const Kernels *, const Attention *);     /* q for q_sink */
void mutant_window_plus_1(const Kernels *, const Attention *); /* W + 1 keys for W */
void mutant_to_block_end(const Kernels *, const Attention *);  /* of *(size_t *)data
                                                                  rows: as if full */
/* Slots taken for positions; a.rows are a ring's. */
void mutant_slots(const Kernels *, const Attention *);
/* The denominator goes by a key's rank among the visible ones, not by its position. */
void mutant_ranks(const Kernels *, const Attention *);
/* Each weight is divided by the sum before it meets V, not the sum of all after. */
void mutant_normalize_first(const Kernels *, const Attention *);

/* For Kernels.rope; the table needs one position more than is used. */
void mutant_newest_too_far(const Kernels *, const RopeTable *, const size_t *position,
                           size_t n, size_t heads, size_t size, float *x);
/* Only for a call with as many heads as *(size_t *)data: those of the keys. */
void mutant_keys_too_far(const Kernels *, const RopeTable *, const size_t *position,
                         size_t n, size_t heads, size_t size, float *x);
/* Pairs (i, i + rot / 2) instead of (2i, 2i + 1). */
void mutant_halves(const Kernels *, const RopeTable *, const size_t *position, size_t n,
                   size_t heads, size_t size, float *x);

/* For Kernels.matmul: the sum runs to the next multiple of 16 and meets what happens to
 * stand behind a row's end; or the tail is summed by itself and added last. */
void mutant_tail_reads_on(const Kernels *, Part, const Matrix *, const float *x,
                          size_t n, float *out, float *scratch);
void mutant_tail_apart(const Kernels *, Part, const Matrix *, const float *x, size_t n,
                       float *out, float *scratch);

/* For Kernels.store: q8_0 with the scale of the whole row in each of its blocks.
 * (mutants_formats.c) */
bool mutant_scale_per_row(const Kernels *, const Format *, const float *row,
                          size_t heads, size_t size, void *to);

/* Paged caches that are wrong (mutants_paged.c), to be opened by a conformance target.
 * Silent ones have a cache_check that finds nothing. */
Cache *mutant_paged_freed_twice(const CacheConfig *, Memory *, Error *);
Cache *mutant_paged_freed_twice_silently(const CacheConfig *, Memory *, Error *);
Cache *mutant_paged_to_block_end(const CacheConfig *, Memory *, Error *);
Cache *mutant_paged_uncounted_fork_silently(const CacheConfig *, Memory *, Error *);

/* Cache operations that pass everything on. */
typedef struct {
    CacheOps ops;
    const CacheOps *real;
    size_t *highest; /* [layers][sequences]: rows written so far */
    void *scratch;
} WrappedCache;

/* From now on the cache works through wrapped->ops. */
void wrapped_cache_init(WrappedCache *wrapped, Cache *cache);
void wrapped_cache_free(WrappedCache *wrapped);

/* Dead cells keep what they held: no poison. By itself this is no fault. */
bool mutant_crop_keeps_cells(Cache *, size_t seq, size_t length, Error *err);
/* A row of layer 0 that was written once is not written again after a crop. */
void mutant_place_once(Cache *, size_t layer, size_t seq, size_t position, void **k,
                       void **v);

#endif
