/* The kernels: a table of functions that do all arithmetic of the forward pass.
 *
 * THE ARITHMETIC, to the last rounding. All in float32; every operation written below
 * rounds once; fused multiply-add only where fma is written; no libm but fma and sqrt
 * (both exact by definition), exp from exp.h. So bits do not depend on chunk, batch,
 * cache, threads, vector width, compiler or machine.
 *
 *   dot(a, b)   s[0..15] = +0; s[i mod 16] = fma(a_i, b_i, s[i mod 16]) for rising i;
 *               then the tree s[j] += s[j+8], s[j+4], s[j+2], s[j+1]; the result is
 *               s[0]. A tail adds only its own terms. Sums start at +0. (sum.h)
 *   sum         the same with plain additions.
 *   stored      a weight or a row of K or V is first widened to f32. (format.h)
 *   embedding   the row, widened.
 *   norm(x)     r = 1 / sqrt(dot(x, x) / n + eps); y_i = (x_i * r) * w_i.
 *   matmul      y_j = dot(W_j, x); no bias; never added into the residual.
 *   RoPE        pair (a, b) = elements (2i, 2i+1), i < rot / 2:
 *               a' = fma(a, c, -(b * s)), b' = fma(b, c, a * s), the inner products
 *               rounded; later elements unchanged; c and s from a RopeTable.
 *   attention   query head j reads KV head j / (heads / kv_heads). For every visible
 *               key score = dot(q, k) * scale; m = the largest visible score;
 *               e = exp(score - m); den = sixteen sums of e by *absolute* position
 *               mod 16, then the tree; o = +0, o = fma(e, v, o) by rising position;
 *               out = o / den, once. Two passes, nothing rescaled. A masked key adds
 *               no term. Nothing visible gives zeros.
 *   SwiGLU      h_i = (g_i / (1 + exp(-g_i))) * u_i.
 *   residual    x_i = x_i + y_i.
 *
 * Threads split results, never a sum (threads.h). Kernels allocate nothing and check
 * nothing: shapes come from a checked Shape. Sets: `naive` (plain loops in
 * just this order, the oracle) and `fast` (the same bits through vectors, fast.h). A
 * table that counts stands in count/counted.h. */
#ifndef KVSTEP_KERNELS_KERNELS_H
#define KVSTEP_KERNELS_KERNELS_H

#include "core/kernels/format.h"
#include "core/kernels/rule.h"
#include "core/kernels/span.h"

/* What a matrix product is for; FLOPs are counted by these, and scores and values by
 * attention. */
typedef enum {
    PART_QKV,    /* the three projections of a layer */
    PART_SCORES, /* q . k */
    PART_VALUES, /* weights times V */
    PART_OUTPUT, /* W_o */
    PART_MLP,    /* gate, up, down */
    PART_LOGITS, /* W_out */
    PARTS
} Part;

/* The field's word for a part: "qkv", "scores", ... */
const char *part_name(Part part);

/* cos and sin of position * base^(-2i / rot), made in double and rounded once. */
typedef struct {
    size_t rot, positions;
    const float *cos, *sin; /* [positions][rot / 2] */
} RopeTable;

/* Attention of n queries of one sequence in one layer. */
typedef struct {
    size_t n;
    const size_t *position; /* [n] rising; each below rows->end */
    size_t heads, kv_heads, k_size, v_size;
    float scale;    /* 1 / sqrt(k_size) */
    const float *q; /* [n][heads][k_size], turned to position */
    const float
        *q_sink;      /* same, turned to rule_sink_position(position); NULL: no sinks */
    const Rows *rows; /* the keys and values */
    const LayerRule *rule;
    const RopeTable *rope; /* read only when !rule->keys_turned */
    bool dense;   /* every query meets every row: a masked pair is computed, dropped */
    float *out;   /* [n][heads][v_size] */
    float *probs; /* NULL, or [n][heads][rows->end]; 0 where masked */
    float *scratch; /* attention_scratch() floats, for the threads of the table */
} Attention;

/* Every function gets the table it was called through, so that a table can carry state
 * (counters, a listener, the number of threads). A table may be copied and single
 * functions exchanged. */
enum { KERNELS_QUERIES = 8 }; /* what scratch has room for */

typedef struct Kernels Kernels;
struct Kernels {
    const char *name;
    size_t
        threads; /* most that one call may use: 1 in the sets, kernels_on() sets it */

    /* out [n][table->cols]: row token[t] of the table. */
    void (*embed)(const Kernels *, const Matrix *table, const int *token, size_t n,
                  float *out);

    /* x [n][size] -> out [n][size]; w [size]. out may be x. */
    void (*rms_norm)(const Kernels *, const float *x, const float *w, float eps,
                     size_t n, size_t size, float *out);

    /* out [n][w->rows] = x [n][w->cols] times w transposed; scratch: matmul_scratch()
     * floats. */
    void (*matmul)(const Kernels *, Part part, const Matrix *w, const float *x,
                   size_t n, float *out, float *scratch);

    /* Turns x [n][heads][size] in place, row t to position[t]. */
    void (*rope)(const Kernels *, const RopeTable *table, const size_t *position,
                 size_t n, size_t heads, size_t size, float *x);

    /* Stores row [heads][size] at `to`; false: not finite in the format. */
    bool (*store)(const Kernels *, const Format *format, const float *row, size_t heads,
                  size_t size, void *to);

    void (*attention)(const Kernels *, const Attention *);

    /* gate [count] becomes silu(gate) * up. */
    void (*swiglu)(const Kernels *, float *gate, const float *up, size_t count);

    /* x [count] += y. */
    void (*add)(const Kernels *, float *x, const float *y, size_t count);
};

/* Floats of scratch for any attention call of this shape over up to `keys` rows, and for
 * any product with a matrix of up to `cols` columns; false if that overflows. */
bool attention_scratch(const LayerShape *shape, size_t keys, size_t threads,
                       size_t *floats);
bool matmul_scratch(size_t cols, size_t threads, size_t *floats);

/* The set of that name ("naive") in the build that suits this machine, or NULL and the
 * names that exist. */
const Kernels *kernels_select(const char *name, Error *err);

/* The same set, allowed that many threads (1 or more). */
static inline Kernels kernels_on(const Kernels *set, size_t threads) {
    Kernels table = *set;
    table.threads = threads;
    return table;
}

#endif
