/* contiguous: all room from the start, one row after another.
 *
 * Per layer one block of K and one of V, [sequences][capacity] rows each. The row of
 * position p of sequence s is row s x capacity + p, for ever: nothing moves, nothing is
 * allocated after opening, a fork copies, a crop only forgets. Its price is in the
 * numbers: reserved bytes are the same at one token and at `capacity` tokens. */
#ifndef KVSTEP_CACHE_CONTIGUOUS_H
#define KVSTEP_CACHE_CONTIGUOUS_H

#include "core/cache/cache.h"

/* Reserves formula_cache_bytes(shape, rule, sequences, capacity) bytes of payload. */
Cache *contiguous_open(const CacheConfig *config, Memory *memory, Error *err);

#endif
