/* The closed formulas of FLOPs and bytes: the only copy in the project.
 *
 * With d = dim, h = heads, g = kv_heads, k and v = head sizes, f = hidden, per layer:
 *   qkv    2 (h k + g k + g v) d          per row
 *   output 2 h v d                        per row
 *   mlp    2 x 3 d f                      per row
 *   scores 2 h k, values 2 h v            per (query, key) pair
 *   logits 2 d vocab                      per row of logits, once per model
 * Pairs of n new positions on top of `first` older ones, N = first + n in all:
 *   dense  n N                            every query meets every row of the call
 *   causal sum of min(p + 1, S + R)       over first <= p < N; N (N + 1) / 2 for a
 *                                         whole pass under the full rule
 * A step without a cache is first = 0, n = N; with one n = 1 (decode). */
#ifndef KVSTEP_COUNT_FORMULA_H
#define KVSTEP_COUNT_FORMULA_H

#include "core/count/counters.h"

/* New rows of one sequence in one pass. */
typedef struct {
    size_t first;  /* older tokens: those of the cache; 0 for recompute */
    size_t n;      /* new tokens, the ones worked through */
    size_t logits; /* rows of logits made */
    bool cache;    /* rows are read from and written to a cache */
    bool dense;
} FormulaRows;

/* Adds what these rows cost, the weights' bytes apart. */
void formula_rows(const Shape *shape, const Rule *rule, const FormulaRows *rows,
                  Counters *sum);

/* Adds the bytes of weights that one pass reads: all matrices of the layers in
 * `format`, norms in f32, embedding rows of `distinct` tokens, the output matrix if
 * `logits`. */
void formula_weights(const Shape *shape, const Format *format, size_t distinct,
                     bool logits, Counters *sum);

/* (query, key) pairs of one head and layer. */
uint64_t formula_pairs(const LayerRule *rule, size_t first, size_t n, bool dense);

/* Rows that at least one of the n queries sees. */
uint64_t formula_rows_seen(const LayerRule *rule, size_t first, size_t n);

/* Bytes of one token's rows of one layer. */
uint64_t formula_row_bytes(const LayerShape *shape, const LayerRule *rule);

/* Payload that a cache of `rows` rows per layer and sequence holds: the sum over layers
 * of sequences x rows x (bytes of a K row + bytes of a V row). false on overflow. */
bool formula_cache_bytes(const Shape *shape, const Rule *rule, size_t sequences,
                         size_t rows, size_t *bytes);

/* How much room a growing cache makes when it must: for just the rows it needs, so that
 * every step copies all older ones; for twice as many; up to the next multiple of 256.
 */
typedef enum { GROWTH_EACH, GROWTH_DOUBLE, GROWTH_256 } Growth;

/* Rows held after making room for `needed`, more than the `held` ones; at most
 * capacity, which needed does not pass. */
size_t formula_grown_rows(Growth growth, size_t held, size_t needed, size_t capacity);

/* Slots of one layer's ring: every row that a step of `chunk` new tokens needs at once,
 * which is S + R - 1 + chunk, and never more than capacity. */
size_t formula_ring_slots(const LayerRule *rule, size_t capacity, size_t chunk);

/* Payload of a ring cache. false on overflow. */
bool formula_ring_bytes(const Shape *shape, const Rule *rule, size_t sequences,
                        size_t capacity, size_t chunk, size_t *bytes);

/* Blocks that hold every sequence at its full capacity, and the payload of a pool of
 * blocks. false on overflow. */
bool formula_paged_blocks(size_t sequences, size_t capacity, size_t block_size,
                          size_t *blocks);
bool formula_paged_bytes(const Shape *shape, const Rule *rule, size_t blocks,
                         size_t block_size, size_t *bytes);

/* Of those, live: rows that the newest of `length` committed tokens can see. */
uint64_t formula_live_bytes(const Shape *shape, const Rule *rule, size_t length);

#endif
