/* Chapter 2: one layer's attention opened up, and what it computes again and again.
 *
 * Step N - 1 and step N work through the same tokens but for the newest one; under the
 * causal mask every old row of weights has the same bits in both. `--no-mask` takes the
 * mask away, `--shift` moves all positions: what depends on distances alone stays. */
#ifndef KVSTEP_CHAPTERS_ATTENTION_RUN_H
#define KVSTEP_CHAPTERS_ATTENTION_RUN_H

#include "chapters/common/options.h"
#include "core/model/model.h"

typedef struct {
    int id;
    Piece piece; /* inside the tokenizer */
} AttentionToken;

typedef struct {
    Model model;
    size_t n;              /* tokens, <s> included: N */
    AttentionToken *token; /* [n] */
    size_t layer, head,
        kv_head; /* what is opened; kv_head is the one that `head` reads */
    size_t heads, k_size, v_size;
    float scale;
    bool no_mask;
    float *q, *k;   /* [n][k_size] of head and kv_head, turned to their positions */
    float *v;       /* [n][v_size] */
    float *scores;  /* [n][n] q . k * scale, of every pair */
    float *weights; /* [heads][n][n] of the layer, 0 where masked */
    float *out;     /* [n][v_size] */
    float *older;   /* [n - 1][n - 1] weights of head in the step before */
    bool *same;     /* [n - 1] rows of weights of head with the bits of that step */
    size_t rows_same, rows_compared; /* over all layers and heads */
    size_t above_diagonal; /* weights that are not zero, of head, key after query */
    /* Rotation, shown on pair 0 of the head: the angle per position. */
    size_t rot;
    double angle; /* radians per position */
    float *turn;  /* [n][2] cos and sin of pair 0 */
    /* The newest query's scores again, every position later by `shift`. */
    size_t shift;
    float *shifted;                                /* [n] */
    float score_change, logit_change, logit_range; /* largest |difference|; max - min */
    Memory *memory;
} AttentionResult;

bool attention_run(const Options *options, AttentionResult *result, Memory *memory,
                   Error *err);
void attention_result_close(AttentionResult *result);

#endif
