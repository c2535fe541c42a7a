/* growing: as much room as there are rows, found when it is needed.
 *
 * Per sequence and layer one block of K and one of V. When a step needs more rows than
 * they hold, larger blocks are allocated, the older rows copied, the old blocks freed:
 * old and new exist at once, for all layers, because a step must get all its room or
 * none. Three ways to grow (Growth), one price each: concatenating at every step
 * copies N(N-1)/2 rows per layer for N tokens, doubling fewer than 2N, by 256 something
 * between, and what is not used yet is wasted. */
#ifndef KVSTEP_CACHE_GROWING_H
#define KVSTEP_CACHE_GROWING_H

#include "core/cache/cache.h"

Cache *growing_open(const CacheConfig *config, Memory *memory, Error *err);

#endif
