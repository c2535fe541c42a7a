/* Chapter 2: one layer's attention opened up, and what it computes again and again.
 *
 * Step N - 1 and step N work through the same tokens but for the newest one; under the
 * causal mask every old row of weights has the same bits in both. `--no-mask` takes the
 * mask away, `--shift` moves all positions: what depends on distances alone stays. */
#ifndef KVSTEP_CHAPTERS_ATTENTION_RUN_H
#define KVSTEP_CHAPTERS_ATTENTION_RUN_H

#include "chapters/common/options.h"
#include "core/model/model.h"

/* More would fill the memory with matrices that nobody looks at. */
enum { ATTENTION_MOST_TOKENS = 1024 };

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
    float *q, *k;      /* [n][k_size] of head and kv_head, turned to their positions */
    float *v;          /* [n][v_size] */
    float *scores;     /* [n][n] q . k * scale, of every pair */
    float *weights;    /* [heads][n][n] of the layer, 0 where masked */
    float *out;        /* [n][v_size] */
    float *older;      /* [n - 1][n - 1] weights of head in the step before */
    bool *same;        /* [n - 1] rows of weights of head with the bits of that step */
    size_t *head_same; /* [heads] how many of them, of each head of the layer */
    size_t rows_same, rows_compared; /* over all layers and heads */
    size_t above_diagonal; /* weights that are not zero, of head, key after query */
    size_t above_all;      /* the same over all layers and heads */
    size_t pairs_above;    /* n (n - 1) / 2: how many there are per head */
    uint64_t pairs_dense, pairs_causal; /* per head: n^2, and those the rule lets see */
    /* Rotation: the first pair of a head, which turns fastest, and the last. */
    size_t rot;
    double angle, slow_angle; /* radians per position */
    float *turn, *slow_turn;  /* [n][2] cos and sin */
    /* Every position later by `shift`; then the newest token's alone. */
    size_t shift;
    float *shifted;                                /* [n] the newest query's scores */
    float score_change, logit_change, logit_range; /* largest |difference|; max - min */
    float score_low, score_high;                   /* of all n x n pairs */
    float moved_change; /* of the newest query's scores with older keys */
    Memory *memory;
} AttentionResult;

/* Whether the rule of this run lets a query see a key; of --no-mask: always. */
bool attention_sees(const AttentionResult *result, size_t query, size_t key);

bool attention_run(const Options *options, AttentionResult *result, Memory *memory,
                   Error *err);
void attention_result_close(AttentionResult *result);

#endif
