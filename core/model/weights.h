/* The weights of a Llama-architecture model, found by name and checked against its
 * shape.
 *
 * All matrices are [rows][cols] with one row per output. Norms are f32 in every file.
 */
#ifndef KVSTEP_MODEL_WEIGHTS_H
#define KVSTEP_MODEL_WEIGHTS_H

#include "core/base/shape.h"
#include "core/format/tensors.h"

typedef struct {
    const float *attention_norm; /* [dim] */
    Matrix q;                    /* [heads x k_size][dim] */
    Matrix k;                    /* [kv_heads x k_size][dim] */
    Matrix v;                    /* [kv_heads x v_size][dim] */
    Matrix o;                    /* [dim][heads x v_size] */
    const float *mlp_norm;       /* [dim] */
    Matrix gate, up;             /* [hidden][dim] */
    Matrix down;                 /* [dim][hidden] */
} LayerWeights;

typedef struct {
    Shape shape;
    const Format *format;    /* of every matrix */
    Matrix embedding;        /* [vocab][dim] */
    const float *final_norm; /* [dim] */
    Matrix output;           /* [vocab][dim]; the embedding itself if tied */
    LayerWeights *layer;     /* [layers] */
    Tensors tensors;         /* where the data lies, if it came from a file */
    float *arena;            /* or if it was made here */
    Memory *memory;
} Weights;

/* Takes over the tensors (closed on failure, too). Refuses shapes that shape_check
 * refuses and tensors that are missing or have another size, by name. */
bool weights_from_tensors(Weights *weights, Tensors tensors, Memory *memory,
                          Error *err);

/* spec: "dim=64,layers=2,..." with the keys of random_model.c, in any order. The
 * weights are integers scaled by powers of two, drawn from (seed, matrix, element): the
 * same on every machine. Unknown keys and bad values are refused by name. */
bool weights_random(Weights *weights, const char *spec, Memory *memory, Error *err);

/* Number of parameters; a tied output matrix counts once. */
uint64_t weights_parameters(const Shape *shape);

void weights_close(Weights *weights);

/* For the two makers: sizes of all matrices of a layer and of the ends; data and format
 * still NULL. */
void weights_shape_layer(const Shape *shape, size_t layer, LayerWeights *weights);
void weights_shape_ends(const Shape *shape, Matrix *embedding, Matrix *output);

#endif
