/* paged: one pool of blocks for all sequences; a sequence is a table of block numbers.
 *
 * A block holds the rows of `block_size` tokens in all layers. Position p of a sequence
 * stands in block table[p / B], row p mod B. Blocks are taken from a free list when a
 * step needs them and given back by crop and remove, and when every layer's window has
 * left them (unless a sink lies in them). Only the last block of a sequence can be part
 * empty.
 *
 * A fork shares all blocks and counts their users; before a sequence writes into a last
 * block that others use too, it gets a copy of it (copy on write). When the free list
 * cannot serve a whole step, reserve says so and nothing has changed. */
#ifndef KVSTEP_CACHE_PAGED_H
#define KVSTEP_CACHE_PAGED_H

#include "core/cache/cache.h"

/* Reserves formula_paged_bytes(shape, rule, blocks, block_size) bytes of payload. */
Cache *paged_open(const CacheConfig *config, Memory *memory, Error *err);

/* Blocks in the free list. */
size_t paged_free_blocks(const Cache *cache);

#endif
