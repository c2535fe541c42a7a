/* The engine without a cache: every step works through all tokens again.
 *
 * With the naive kernels it is the oracle: every technique must give its bits under the
 * same rule. Nothing is carried from one step to the next. */
#ifndef KVSTEP_MODEL_RECOMPUTE_H
#define KVSTEP_MODEL_RECOMPUTE_H

#include "core/model/layer.h"

typedef struct Recompute Recompute;

/* config.rows: most tokens of all sequences of a batch together. */
Recompute *recompute_open(const EngineConfig *config, Error *err);
void recompute_close(Recompute *engine);

/* One step. The batch holds *all* tokens of each sequence, from position 0.
 * logits [batch_logits(batch)][vocab]. On an error logits are undefined. */
bool recompute_step(Recompute *engine, const Batch *batch, float *logits, Error *err);

/* The K and V rows that the last step made for the sequence whose tokens begin at index
 * `first` of its batch and number n: for comparison only. */
Rows recompute_rows(const Recompute *engine, size_t layer, size_t first, size_t n);

#endif
