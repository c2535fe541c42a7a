/* The plain numbers of a model and of each of its layers (Llama architecture). */
#ifndef KVSTEP_BASE_SHAPE_H
#define KVSTEP_BASE_SHAPE_H

#include "core/base/error.h"
#include <stddef.h>
#include <stdint.h>

enum { SHAPE_MAX_LAYERS = 256 };

#define SHAPE_NO_WINDOW SIZE_MAX

typedef struct {
    size_t heads;    /* query heads */
    size_t kv_heads; /* heads of K and V; divides heads; query head j reads j / (heads /
                        kv_heads) */
    size_t k_size;   /* elements of one head of q and k */
    size_t v_size;   /* elements of one head of v and of the attention's output */
    size_t hidden;   /* width of the MLP */
    size_t window; /* newest keys a query sees, itself included; SHAPE_NO_WINDOW: all */
} LayerShape;

typedef struct {
    size_t dim;       /* width of the residual stream */
    size_t vocab;     /* tokens the model knows */
    size_t context;   /* positions it was made for */
    size_t rot;       /* elements of a head that RoPE turns: even, 0 to every k_size */
    double rope_base; /* 10000 in the Llama family */
    float eps;        /* inside the root of RMSNorm */
    bool tied;        /* the output matrix is the embedding table */
    size_t layers;
    LayerShape layer[SHAPE_MAX_LAYERS];
} Shape;

/* Copies `one` into all shape->layers layers (the usual case: all alike). */
void shape_all_layers(Shape *shape, const LayerShape *one);

/* Refuses zeros, heads that kv_heads does not divide, odd or too large rot, too many
 * layers, sizes over 2^24, a vocabulary or context over 2^30 (ids are int), and an eps or
 * base that is no positive number.
 */
bool shape_check(const Shape *shape, Error *err);

#endif
