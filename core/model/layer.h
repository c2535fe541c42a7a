/* What both engines do alike: the forward pass but for where K and V rows are kept.
 *
 *   pass_begin                          embedding
 *   for each layer:  layer_project      norm, q k v, rotation
 *                    (the engine keeps the new rows and knows all rows)
 *                    layer_attend       once for each sequence
 *                    layer_finish       W_o, residual, norm, MLP, residual
 *   pass_logits                         final norm, W_out
 *
 * recompute.c and cached.c differ in nothing else, so what they differ in is the cache.
 */
#ifndef KVSTEP_MODEL_LAYER_H
#define KVSTEP_MODEL_LAYER_H

#include "core/count/trace.h"
#include "core/model/batch.h"
#include "core/model/rope.h"
#include "core/model/weights.h"

/* What an engine is opened with. Everything pointed to must outlive it. */
typedef struct {
    const Weights *weights;
    const Rule *rule;
    const Kernels *kernels;
    size_t rows;      /* most tokens in one batch */
    size_t positions; /* most tokens of one sequence */
    bool dense;       /* scores of every pair; refused with a window or sinks */
    Trace *trace;     /* NULL: none */
    Memory *memory;
} EngineConfig;

/* The buffers of one pass; [rows] is config.rows. */
typedef struct {
    EngineConfig config;
    const char *name; /* of the engine, for the trace */
    RopeTable rope;
    size_t *position, *sink_position; /* [rows] */
    float *x, *n;      /* [rows][dim]: residual stream; normed, or W_o out */
    float *q, *q_sink; /* [rows][heads][k_size] */
    float *k, *v;      /* [rows][kv_heads][k_size or v_size] */
    float *out;        /* [rows][heads][v_size] */
    float *gate, *up;  /* [rows][hidden] */
    float *product;    /* matmul's scratch */
    float *scratch;    /* attention's */
    float *probs;      /* [n][heads][rows->end] of a call, only when traced */
} Pass;

bool pass_open(Pass *pass, const char *name, const EngineConfig *config, Error *err);
void pass_close(Pass *pass);

/* Checks the batch, takes its positions and fills x. */
bool pass_begin(Pass *pass, const Batch *batch, Error *err);

/* Fills q, q_sink, k and v of all rows. */
void layer_project(Pass *pass, size_t layer, const Batch *batch);

/* Fills out of the n rows from `first` on, all of one sequence whose rows are `rows`.
 */
void layer_attend(Pass *pass, size_t layer, size_t first, size_t n, const Rows *rows);

/* Adds attention's output and the MLP to x; an x that is not finite is an error that
 * names step and layer. */
bool layer_finish(Pass *pass, size_t layer, const Batch *batch, Error *err);

/* logits [batch_logits(batch)][vocab], in the order of the batch. Overwrites x. */
void pass_logits(Pass *pass, const Batch *batch, float *logits);

#endif
