/* The pictures of `kvstep attention`. Each figure is a VizDraw of an AttentionFigures.
 * Not in the MINIMAL build. */
#ifndef KVSTEP_CHAPTERS_ATTENTION_FIGURES_H
#define KVSTEP_CHAPTERS_ATTENTION_FIGURES_H

#include "chapters/02_attention/run.h"
#include "chapters/common/figures_heads.h"
#include "chapters/common/labels.h"

/* The arrays behind the pictures, in double as viz wants them. */
typedef struct {
    const AttentionResult *result;
    double *q, *k, *v, *out;     /* [n][k_size or v_size] */
    double *scores, *weights;    /* [n][n] */
    double *older;               /* [n - 1][n - 1] */
    unsigned char *masked;       /* [n][n] */
    unsigned char *older_masked; /* [n - 1][n - 1] */
    unsigned char *same;         /* [n][n] 1: part of a row with the bits of before */
    size_t rows_same;            /* of the opened head */
    double *turn[2];             /* [n][2] the first and the last pair */
    double *position;            /* [n] */
    double *scored[2];           /* [n] the newest query's scores; later by the shift */
    const char **position_name;  /* [n] */
    char (*position_text)[24];   /* [n] */
    Labels labels;
    HeadMaps heads;
    Memory *memory;
} AttentionFigures;

bool attention_figures_open(AttentionFigures *figures, const AttentionResult *result,
                            Memory *memory, Error *err);
void attention_figures_close(AttentionFigures *figures);

void attention_figure_matrices(VizCanvas *canvas, const void *figures);
void attention_figure_same(VizCanvas *canvas, const void *figures);
void attention_figure_rotation(VizCanvas *canvas, const void *figures);
/* and figure_heads of &figures->heads */

/* Writes all into options->out, which exists, and prints their names (but under --json
 * and --quiet). */
bool attention_draw(const AttentionResult *result, const Options *options, Error *err);

#endif
