/* The picture of `kvstep forward`. Not in the MINIMAL build. */
#ifndef KVSTEP_CHAPTERS_FORWARD_FIGURES_H
#define KVSTEP_CHAPTERS_FORWARD_FIGURES_H

#include "chapters/00_forward/run.h"
#include "viz/rect.h"

/* A VizDraw of a ForwardResult: the strip from text to next token, the area of a box
 * its multiply-adds. */
void forward_figure(VizCanvas *canvas, const void *result);

/* Writes it into options->out, which exists, and prints its name (but under --json and
 * --quiet). */
bool forward_draw(const ForwardResult *result, const Options *options, Error *err);

#endif
