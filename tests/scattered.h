/* scattered: a second implementation of the cache contract, as unlike the contiguous
 * one as the contract allows, so that the contract is not shaped by one layout. Every
 * row is its own span; rows lie in shuffled slots of one pool with gaps between them; V
 * lies in front of K in a slot; room is allocated in `reserve` and given back by crop.
 */
#ifndef KVSTEP_TESTS_SCATTERED_H
#define KVSTEP_TESTS_SCATTERED_H

#include "core/cache/cache.h"

Cache *scattered_open(const CacheConfig *config, Memory *memory, Error *err);

#endif
