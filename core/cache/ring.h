/* ring: room for the rows that a window can see, and for one step's new ones; nothing
 * more, however long the text.
 *
 * A layer under a window or sinks rule (S first keys, R newest) has C = S + R - 1 +
 * chunk slots per sequence: the first S positions keep slots 0 to S - 1 for ever,
 * position p >= S stands in slot S + (p - S) mod (C - S). All rows of a step are
 * written before any is read; with C slots none of them overwrites a row that a query
 * of the step can see. A layer under the full rule has `capacity` slots. Slots are not
 * in the order of positions: only positions say what is visible.
 *
 * What was overwritten is gone. A crop back to where a window reaches overwritten rows
 * is refused by name. */
#ifndef KVSTEP_CACHE_RING_H
#define KVSTEP_CACHE_RING_H

#include "core/cache/cache.h"

/* Reserves formula_ring_bytes(...) bytes of payload. */
Cache *ring_open(const CacheConfig *config, Memory *memory, Error *err);

#endif
