/* The attention weights of one layer over a whole text, for pictures: the tokens go
 * through the recomputing engine once more, with a listener (core/count/observed.h).
 * The bits are those of the run. */
#ifndef KVSTEP_CHAPTERS_ATTENDED_H
#define KVSTEP_CHAPTERS_ATTENDED_H

#include "core/kernels/rule.h"
#include "core/model/model.h"

typedef struct {
    size_t layer, heads;
    size_t n;       /* tokens looked at: the first ones of the text */
    size_t all;     /* tokens of the text */
    float *weights; /* [heads][n][n], 0 where masked */
    Memory *memory;
} Attended;

/* token [all]. Of a long text only the first tokens are looked at, so many that the
 * weights fit a picture: under a causal rule those that follow change nothing. */
bool attended_open(Attended *attended, const Model *model, const Rule *rule,
                   const char *kernels, const int *token, size_t all, size_t layer,
                   Memory *memory, Error *err);
void attended_close(Attended *attended);

#endif
