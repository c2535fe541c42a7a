/* A second opinion on what the model means, written from the formulas alone.
 *
 * In double, one token after another, with its own mask, head mapping, rotation and
 * decoding of stored numbers; of core it uses Weights, Shape and Rule as data. Both
 * engines share kernels and rule: a fault there changes both sides of a memcmp alike
 * and is seen here. */
#ifndef KVSTEP_TESTS_SECOND_OPINION_H
#define KVSTEP_TESTS_SECOND_OPINION_H

#include "core/kernels/rule.h"
#include "core/model/weights.h"

/* Logits of every position and what each query sees, for n tokens from position 0 on.
 * logits [n][vocab]; visible [layers][n queries][n keys]. */
void second_opinion(const Weights *weights, const Rule *rule, const int *token,
                    size_t n, double *logits, bool *visible);

/* The largest difference in a row of logits, in units of the row's largest (of 1 if
 * that is smaller); infinite for NaN. */
double second_opinion_deviation(const double *opinion, const float *logits,
                                size_t vocab);

/* Thousands of operations make a logit, each rounds to 6e-8: measured 1.1e-6 at most. A
 * mutant moves logits by more than a hundred times this bound. */
#define SECOND_OPINION_BOUND 1e-5

#endif
