/* The engine with a cache: a step works through its new tokens only and reads the rows
 * of the older ones. */
#ifndef KVSTEP_MODEL_CACHED_H
#define KVSTEP_MODEL_CACHED_H

#include "core/cache/cache.h"
#include "core/model/layer.h"

typedef struct Cached Cached;

/* The cache must hold rows of the same shape and under the same rule as the config's.
 */
Cached *cached_open(const EngineConfig *config, Cache *cache, Error *err);
void cached_close(Cached *engine);

/* One step: a ragged batch of new tokens, each sequence from its committed length on.
 * logits [batch_logits(batch)][vocab]. Room for all rows is reserved first; on any
 * error the cache is as it was before the step. */
bool cached_step(Cached *engine, const Batch *batch, float *logits, Error *err);

#endif
