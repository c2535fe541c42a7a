/* The pictures of `kvstep generate`. Each figure is a VizDraw of a GenerateFigures. Not
 * in the MINIMAL build. */
#ifndef KVSTEP_CHAPTERS_GENERATE_FIGURES_H
#define KVSTEP_CHAPTERS_GENERATE_FIGURES_H

#include "chapters/01_generate/run.h"
#include "core/kernels/rule.h"
#include "viz/rect.h"

/* The arrays behind the pictures. */
typedef struct {
    const GenerateResult *result;
    bool dense;
    LayerRule rule;            /* of layer 0, which stands for all */
    double *flops;             /* [steps][2] new work, done before */
    const char **context_name; /* [steps] N as words */
    char (*context_text)[24];  /* [steps] */
    uint64_t pairs, pairs_new; /* of one head of layer 0, over all steps */
    Memory *memory;
} GenerateFigures;

bool generate_figures_open(GenerateFigures *figures, const GenerateResult *result,
                           const Options *options, Memory *memory, Error *err);
void generate_figures_close(GenerateFigures *figures);

void generate_figure_staircase(VizCanvas *canvas, const void *figures);
void generate_figure_triangle(VizCanvas *canvas, const void *figures);

/* Writes both into options->out, which exists, and prints their names (but under
 * --json, --digest and --quiet). */
bool generate_draw(const GenerateResult *result, const Options *options, Error *err);

#endif
