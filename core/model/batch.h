/* A Batch is the only way into an engine: a prompt, a chunk of one, a decode step and a
 * mixture of several sequences are all this. No padding: every token says where it is.
 */
#ifndef KVSTEP_MODEL_BATCH_H
#define KVSTEP_MODEL_BATCH_H

#include "core/base/shape.h"

/* Tokens of one sequence stand together, positions rising without a gap. For recompute
 * the batch holds all tokens of each sequence, from position 0; for cached the new
 * ones, from the committed length on. */
typedef struct {
    size_t n;
    const int *token;        /* [n] 0 to vocab - 1 */
    const size_t *seq, *pos; /* [n] */
    const bool *want_logits; /* [n] */
} Batch;

/* The run of tokens of one sequence that begins at index `first`. */
size_t batch_run(const Batch *batch, size_t first);

/* How many rows of logits are wanted. */
size_t batch_logits(const Batch *batch);

/* Refuses an empty batch or more than `room` tokens, tokens outside the vocabulary,
 * positions with a gap or at or over `positions`, and a sequence that comes twice. */
bool batch_check(const Batch *batch, size_t room, size_t vocab, size_t positions,
                 Error *err);

#endif
