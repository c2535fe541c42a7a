/* What chapter 2 takes out of the attention calls of its steps: a listener that fills
 * AttentionResult while the engine, which knows nothing of it, works. */
#ifndef KVSTEP_CHAPTERS_ATTENTION_LOOKING_H
#define KVSTEP_CHAPTERS_ATTENTION_LOOKING_H

#include "chapters/02_attention/run.h"
#include "core/count/observed.h"

/* The steps in their order: N - 1 tokens; N; N, all later by --shift; N, the newest
 * alone later. */
typedef enum {
    LOOKING_BEFORE,
    LOOKING_NEWEST,
    LOOKING_SHIFTED,
    LOOKING_MOVED
} LookingStep;

typedef struct {
    AttentionResult *result;
    LookingStep which;    /* the step under way */
    size_t at_layer;      /* of the next attention call */
    size_t most_heads;    /* of any layer */
    float *older;         /* [layers][most_heads][n - 1][n - 1] weights of BEFORE */
    float *probs;         /* [n][heads][n] of one call: where the kernel puts them */
    float *k_row, *v_row; /* one row of the chosen layer, widened */
    Memory *memory;
} Looking;

/* The result's n, layer and matrices are there. */
bool looking_open(Looking *look, AttentionResult *result, Memory *memory, Error *err);
void looking_close(Looking *look);

void looking_begin(Looking *look, LookingStep which);

/* The listener; data is the Looking. */
void looking_see(const KernelCall *call, void *data);

#endif
