/* A matrix as a block of numbers for a terminal: rows labelled by token, the middle of
 * what is too long or too wide left out. */
#ifndef KVSTEP_CHAPTERS_ATTENTION_MATRIX_H
#define KVSTEP_CHAPTERS_ATTENTION_MATRIX_H

#include "chapters/02_attention/run.h"
#include <stdio.h>

typedef struct {
    const AttentionResult *result; /* names the rows: one per token */
    const float *cell;             /* [result->n][cols] */
    size_t cols;
    int decimals;
    bool masked; /* columns are tokens: a pair that the rule hides is a dot */
    bool marked; /* rows with the bits of the step before get an = */
} MatrixView;

/* The room of a row's label. */
enum { MATRIX_LABEL = 48 };

void matrix_print(const MatrixView *matrix, FILE *stream);

/* "3 c": position and piece. Returns out. */
const char *matrix_label(const AttentionResult *result, size_t position,
                         char out[MATRIX_LABEL]);

#endif
