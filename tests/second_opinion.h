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

/* Rows of one sequence in one layer, as an engine stored them: position 0 first. */
typedef struct {
    const void *k, *v;
    size_t k_step, v_step;
} StoredRows;

/* Logits of every position and what each query sees, for n tokens from position 0 on.
 * logits [n][vocab]; visible [layers][n queries][n keys].
 *
 * A stored row is what everybody reads, and rounding has borders: a last bit of the row
 * decides on which side it falls. So stored [layers] gives the bytes; each row must be
 * what rounding may make of the opinion's own, and is then read in its stored form. One
 * that is not is not read, and the result says how far it is off: the largest distance
 * beyond what the format's rounding allows, in units of the row's largest value. */
double second_opinion(const Weights *weights, const Rule *rule, const int *token,
                      size_t n, const StoredRows *stored, double *logits,
                      bool *visible);

/* For one row, own [heads][size]: how far off it is; own becomes what is read. f32 is
 * compared, but goes on as the opinion's own. (second_opinion_formats.c) */
double second_opinion_row(const Format *format, const void *stored, size_t heads,
                          size_t size, double *own);

/* The largest difference in a row of logits, in units of the row's largest (of 1 if
 * that is smaller); infinite for NaN. */
double second_opinion_deviation(const double *opinion, const float *logits,
                                size_t vocab);

/* Thousands of operations make a logit, each rounds to 6e-8: measured 1.1e-6 at most. A
 * mutant moves logits by more than a hundred times this bound. */
#define SECOND_OPINION_BOUND 1e-5

#endif
