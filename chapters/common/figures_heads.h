/* Attention weights of all heads of a layer as heat maps: one figure for every chapter
 * that opens attention up. */
#ifndef KVSTEP_CHAPTERS_FIGURES_HEADS_H
#define KVSTEP_CHAPTERS_FIGURES_HEADS_H

#include "core/base/memory.h"
#include "core/kernels/rule.h"
#include "viz/rect.h"

enum { HEADS_SHOWN = 32, HEADS_NUMBERED = 12 };

typedef struct {
    size_t layer, heads;
    size_t n, all;             /* tokens shown, of so many in the text */
    const char *const *labels; /* [n] words of a user; NULL: positions alone */
    double *weights;           /* [heads][n][n] */
    unsigned char *masked;     /* [n][n] 1: the rule lets this query not see this key */
    double *sharpness; /* [heads] the largest weight of a query, on average over queries
                          that see more than one key */
    double
        darkest; /* where the scale of colors ends: the largest weight of queries that
                          see at least a quarter of the tokens */
    Memory *memory;
} HeadMaps;

/* weights [heads][n][n] in f32; rule NULL: every query sees every key. */
bool head_maps_open(HeadMaps *maps, const float *weights, const LayerRule *rule,
                    size_t layer, size_t heads, size_t n, Memory *memory, Error *err);
void head_maps_close(HeadMaps *maps);

/* A VizDraw of a HeadMaps: the sharpest head large, up to HEADS_NUMBERED tokens with
 * its numbers, beside all of them. */
void figure_heads(VizCanvas *canvas, const void *maps);

#endif
