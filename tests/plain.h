/* The arithmetic of the kernels once more, written down sentence by sentence from its
 * description (core/kernels/kernels.h), in the slowest plain way: what the bits must
 * be.
 *
 * Only exp is core's own; tests/test_exp.c measures it. Rows are f32. */
#ifndef KVSTEP_TESTS_PLAIN_H
#define KVSTEP_TESTS_PLAIN_H

#include "core/base/random.h"
#include "core/kernels/exp.h"
#include "core/kernels/kernels.h"

#include <stdlib.h>

/* Most rows, heads, elements of a head, and queries of a case below. */
enum { PLAIN_END = 45, PLAIN_HEADS = 12, PLAIN_SIZE = 40, PLAIN_N = 9 };

/* One tree for sixteen sums: 8 apart, 4 apart, 2 apart, neighbours. */
static inline float plain_tree(const float *s) {
    float eight[8], four[4];
    for (size_t j = 0; j < 8; j++) eight[j] = s[j] + s[j + 8];
    for (size_t j = 0; j < 4; j++) four[j] = eight[j] + eight[j + 4];
    float even = four[0] + four[2], odd = four[1] + four[3];
    return even + odd;
}

static inline float plain_dot(const float *a, const float *b, size_t n) {
    float s[16];
    for (size_t j = 0; j < 16; j++) {
        s[j] = 0;
        for (size_t i = j; i < n; i += 16) s[j] = fmaf(a[i], b[i], s[j]);
    }
    return plain_tree(s);
}

static inline void plain_norm(const float *x, const float *w, float eps, size_t n,
                              float *y) {
    float mean = plain_dot(x, x, n) / (float)n;
    float root = sqrtf(mean + eps);
    float r = 1.0f / root;
    for (size_t i = 0; i < n; i++) {
        float scaled = x[i] * r;
        y[i] = scaled * w[i];
    }
}

/* One head at one position. */
static inline void plain_turn(const RopeTable *table, size_t position, float *head) {
    for (size_t i = 0; i < table->rot / 2; i++) {
        const float c = table->cos[position * (table->rot / 2) + i];
        const float s = table->sin[position * (table->rot / 2) + i];
        const float a = head[2 * i], b = head[2 * i + 1];
        float bs = b * s, as = a * s;
        head[2 * i] = fmaf(a, c, -bs);
        head[2 * i + 1] = fmaf(b, c, as);
    }
}

static inline float plain_swiglu(float gate, float up) {
    float below = 1.0f + exp_f32(-gate);
    float silu = gate / below;
    return silu * up;
}

/* i <= p, and i < S or p - R < i: with numbers so wide that nothing overflows. */
static inline bool plain_sees(const LayerRule *rule, size_t p, size_t i) {
    __int128 query = (__int128)p, key = (__int128)i, recent = (__int128)rule->recent;
    return key <= query && (i < rule->sinks || query - recent < key);
}

/* K or V of one KV head of a key, as attention meets it. */
static inline void plain_key(const Attention *a, size_t key, size_t kv, float *head) {
    Span span;
    a->rows->at(a->rows, key, &span);
    const float *row = span.k;
    for (size_t d = 0; d < a->k_size; d++) head[d] = row[kv * a->k_size + d];
    if (!a->rule->keys_turned) plain_turn(a->rope, key, head);
}

static inline const float *plain_value(const Attention *a, size_t key, size_t kv) {
    Span span;
    a->rows->at(a->rows, key, &span);
    return (const float *)span.v + kv * a->v_size;
}

/* Query t, head h: out [v_size], probs [rows->end]. */
static inline void plain_attend(const Attention *a, size_t t, size_t h, float *out,
                                float *probs) {
    const size_t kv = h / (a->heads / a->kv_heads), end = a->rows->end;
    const size_t at = (t * a->heads + h) * a->k_size;
    float score[PLAIN_END] = {0}, k[PLAIN_SIZE] = {0}, largest = -INFINITY, s[16] = {0};
    for (size_t i = 0; i < end; i++) {
        if (!plain_sees(a->rule, a->position[t], i)) continue;
        plain_key(a, i, kv, k);
        const float *q = i < a->rule->sinks ? a->q_sink : a->q;
        score[i] = plain_dot(q + at, k, a->k_size) * a->scale;
        if (score[i] > largest) largest = score[i];
    }
    for (size_t d = 0; d < a->v_size; d++) out[d] = 0;
    for (size_t i = 0; i < end; i++) {
        probs[i] = 0;
        if (!plain_sees(a->rule, a->position[t], i)) continue;
        score[i] = exp_f32(score[i] - largest);
        s[i % 16] = s[i % 16] + score[i];
    }
    float den = plain_tree(s);
    if (den == 0) return;
    for (size_t i = 0; i < end; i++) {
        if (!plain_sees(a->rule, a->position[t], i)) continue;
        const float *v = plain_value(a, i, kv);
        for (size_t d = 0; d < a->v_size; d++) out[d] = fmaf(score[i], v[d], out[d]);
        probs[i] = score[i] / den;
    }
    for (size_t d = 0; d < a->v_size; d++) out[d] = out[d] / den;
}

/* ---- Cases: random arguments for a kernel, and the comparison with the above ---- */

static inline size_t plain_draw(size_t index, size_t what, size_t least, size_t most) {
    return least + (size_t)(random_draw(77, index, what) % (most - least + 1));
}

/* count numbers in [-most, most) */
static inline void plain_fill(float *to, size_t count, size_t stream, float most) {
    for (size_t i = 0; i < count; i++)
        to[i] = most * (2 * random_unit(random_draw(78, stream, i)) - 1);
}

/* Rows that stand in any order, each a span of its own, NaN between them. */
typedef struct {
    Rows rows; /* first member */
    bool side_by_side;
    float k[PLAIN_END][PLAIN_HEADS * PLAIN_SIZE],
        v[PLAIN_END][PLAIN_HEADS * PLAIN_SIZE];
} PlainRows;

static inline size_t plain_row_of(const PlainRows *r, size_t position) {
    return r->side_by_side ? position : (position * 7 + 3) % PLAIN_END;
}

static inline void plain_rows_at(const Rows *rows, size_t position, Span *span) {
    const PlainRows *r = (const PlainRows *)rows;
    size_t row = plain_row_of(r, position);
    *span = (Span){.k = r->k[row],
                   .v = r->v[row],
                   .k_step = sizeof r->k[0],
                   .v_step = sizeof r->v[0],
                   .first = position,
                   .count = r->side_by_side ? rows->end - position : 1};
}

typedef struct {
    Attention a;
    LayerRule rule;
    RopeTable rope;
    PlainRows rows;
    size_t position[PLAIN_N];
    float cos[PLAIN_END * PLAIN_SIZE], sin[PLAIN_END * PLAIN_SIZE];
    float q[PLAIN_N * PLAIN_HEADS * PLAIN_SIZE],
        q_sink[PLAIN_N * PLAIN_HEADS * PLAIN_SIZE];
    float out[PLAIN_N * PLAIN_HEADS * PLAIN_SIZE],
        probs[PLAIN_N * PLAIN_HEADS * PLAIN_END];
} PlainCase;

static inline void plain_draw_rule(PlainCase *c, size_t index) {
    c->rule = (LayerRule){0, RULE_ALL, &format_f32, &format_f32, true};
    if (index % 4 == 1) c->rule.recent = plain_draw(index, 0, 1, 20);
    if (index % 4 == 2) {
        c->rule.sinks = plain_draw(index, 1, 1, 4);
        c->rule.recent = plain_draw(index, 2, 1, 20);
    }
    c->rule.keys_turned = plain_draw(index, 3, 0, 2) > 0;
}

/* A case on the heap; its owner frees it and a.scratch. */
static inline PlainCase *plain_case(size_t index) {
    PlainCase *c = malloc(sizeof *c);
    if (!c) abort();
    memset(c, 0xff, sizeof *c); /* NaN in whatever is not filled below */
    plain_draw_rule(c, index);
    Attention *a = &c->a;
    *a = (Attention){.n = plain_draw(index, 4, 1, PLAIN_N),
                     .kv_heads = plain_draw(index, 5, 1, 3)};
    a->heads = a->kv_heads * plain_draw(index, 6, 1, 4);
    a->k_size = plain_draw(index, 7, 1, PLAIN_SIZE);
    a->v_size = plain_draw(index, 8, 1, PLAIN_SIZE);
    a->scale = 1.0f / sqrtf((float)a->k_size);
    a->dense = index % 4 == 3;
    size_t end = plain_draw(index, 9, a->n, PLAIN_END);
    for (size_t t = 0; t < a->n; t++) c->position[t] = end - a->n + t;
    c->rope = (RopeTable){2 * plain_draw(index, 10, 0, a->k_size / 2), PLAIN_END,
                          c->cos, c->sin};
    plain_fill(c->cos, PLAIN_END * PLAIN_SIZE, index * 10, 1);
    plain_fill(c->sin, PLAIN_END * PLAIN_SIZE, index * 10 + 1, 1);
    plain_fill(c->q, a->n * a->heads * a->k_size, index * 10 + 2, 3);
    plain_fill(c->q_sink, a->n * a->heads * a->k_size, index * 10 + 3, 3);
    c->rows.rows = (Rows){.at = plain_rows_at, .end = end};
    c->rows.side_by_side = index % 2;
    for (size_t i = 0; i < end; i++) {
        size_t row = plain_row_of(&c->rows, i);
        plain_fill(c->rows.k[row], a->kv_heads * a->k_size, index * 1000 + 2 * i, 2);
        plain_fill(c->rows.v[row], a->kv_heads * a->v_size, index * 1000 + 2 * i + 1,
                   2);
    }
    LayerShape shape = {a->heads,  a->kv_heads, a->k_size,
                        a->v_size, 1,           SHAPE_NO_WINDOW};
    size_t floats;
    if (!attention_scratch(&shape, end, 1, &floats)) abort();
    a->scratch = malloc(floats * sizeof(float)); /* not one more: a sanitizer sees it */
    if (!a->scratch) abort();
    memset(a->scratch, 0xff, floats * sizeof(float));
    a->position = c->position;
    a->q = c->q;
    a->q_sink = c->rule.sinks ? c->q_sink : NULL;
    a->rows = &c->rows.rows;
    a->rule = &c->rule;
    a->rope = c->rule.keys_turned ? NULL : &c->rope;
    a->out = c->out;
    a->probs = c->probs;
    return c;
}

static inline void plain_case_free(PlainCase *c) {
    free(c->a.scratch);
    free(c);
}

/* Runs attention; true if every bit of out and probs is what it must be. */
static inline bool plain_attention_agrees(const Kernels *kernels, PlainCase *c) {
    const Attention *a = &c->a;
    kernels->attention(kernels, a);
    for (size_t t = 0; t < a->n; t++)
        for (size_t h = 0; h < a->heads; h++) {
            float out[PLAIN_SIZE], probs[PLAIN_END];
            const size_t at = t * a->heads + h, end = a->rows->end;
            plain_attend(a, t, h, out, probs);
            if (memcmp(out, a->out + at * a->v_size, a->v_size * sizeof *out) != 0 ||
                memcmp(probs, a->probs + at * end, end * sizeof *probs) != 0)
                return false;
        }
    return true;
}

/* A matrix of `cols` columns times three vectors: whether every bit is right. */
static inline bool plain_matmul_agrees(const Kernels *kernels, size_t cols) {
    enum { ROWS = 5, N = 3 };
    float w[ROWS * cols], x[N * cols], out[N * ROWS], scratch[cols]; /* naive: a row */
    plain_fill(w, ROWS * cols, cols, 2);
    plain_fill(x, N * cols, cols + 1000, 2);
    Matrix matrix = {w, &format_f32, ROWS, cols};
    kernels->matmul(kernels, PART_MLP, &matrix, x, N, out, scratch);
    for (size_t t = 0; t < N; t++)
        for (size_t j = 0; j < ROWS; j++) {
            float right = plain_dot(w + j * cols, x + t * cols, cols);
            if (memcmp(&right, &out[t * ROWS + j], sizeof right) != 0) return false;
        }
    return true;
}

#endif
