/* A second opinion on what the model means, written from the formulas alone.
 *
 * In double, one token after another, with its own mask, head mapping, rotation and
 * decoding of stored numbers. It shares no code with core, only what core calls a
 * model: Weights, Shape and Rule, as data. Both engines share their kernels and their
 * rule, so a fault there changes both sides of a memcmp alike; it is seen here. */
#ifndef KVSTEP_TESTS_SECOND_OPINION_H
#define KVSTEP_TESTS_SECOND_OPINION_H

#include "core/kernels/rule.h"
#include "core/model/weights.h"

/* Logits of every position and what each query sees, for n tokens from position 0 on.
 * logits [n][vocab]; visible [layers][n queries][n keys]. */
void second_opinion(const Weights *weights, const Rule *rule, const int *token,
                    size_t n, double *logits, bool *visible);

/* How far logits of the engines may be from the opinion, in units of the row's largest
 * logit (or of 1 if that is smaller). Each of the some thousand operations in a row
 * that make a logit rounds to 2^-24 = 6e-8, and errors partly cancel: MEASURED was the
 * most over all trials. The mutants are far over the bound. */
#define SECOND_OPINION_BOUND 3e-5

/* The largest difference in a row of logits, in the unit above; infinite for NaN. */
double second_opinion_deviation(const double *opinion, const float *logits,
                                size_t vocab);

#endif
