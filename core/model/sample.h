/* Which token comes next.
 *
 * Temperature 0: the largest logit, of equal ones the lowest id. Else z = logit / T,
 * e = exp(z - max z) by the kernels' exp; candidates stand by e descending, then id;
 * running sums of e by plain addition in that order; kept is the shortest prefix whose
 * sum is at least top_p x total; u = 24 bits x 2^-24 of draw(seed, request, position);
 * chosen is the first whose running sum is over u x the kept sum. So a token depends on
 * nothing but its logits, the options and these three numbers. */
#ifndef KVSTEP_MODEL_SAMPLE_H
#define KVSTEP_MODEL_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    float temperature; /* 0 or more */
    float top_p;       /* over 0, up to 1 */
    uint64_t seed;
} Sampling;

typedef struct {
    float weight;
    int id;
} Candidate;

/* logits [vocab]; position: of the token that is drawn; scratch [vocab]. */
int sample_token(const float *logits, size_t vocab, const Sampling *sampling,
                 uint64_t request, uint64_t position, Candidate *scratch);

#endif
