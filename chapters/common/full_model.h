/* The full model beside a run under another rule: at which step does it first differ?
 *
 * Opened only where the rule is not the full one; recomputes each step without a cache
 * until the logits part, then it is done. */
#ifndef KVSTEP_CHAPTERS_FULL_MODEL_H
#define KVSTEP_CHAPTERS_FULL_MODEL_H

#include "core/model/recompute.h"

#define FULL_MODEL_SAME SIZE_MAX

typedef struct {
    const Weights *weights;
    Rule rule;
    Recompute *engine; /* NULL once it differs, or where the rule is the full one */
    float *logits;     /* [vocab] */
    size_t first_differing; /* step, or FULL_MODEL_SAME so far */
    size_t compared;        /* steps */
    Memory *memory;
} FullModel;

/* like: the run's own engine; its rule is exchanged for the full one. */
bool full_model_open(FullModel *full, const EngineConfig *like, Memory *memory,
                     Error *err);
void full_model_close(FullModel *full);

/* The batch of the run's recompute step, wanting one row of logits, and what came out of it
 * under its rule. Past the model's context the full model has no answer and stops. */
bool full_model_compare(FullModel *full, const Batch *batch, const float *logits,
                        Error *err);

#endif
