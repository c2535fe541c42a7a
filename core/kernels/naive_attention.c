/* Attention of one query after another, in two passes over its keys: scores and their
 * largest first, then weights, their sum and the weighted values. Each stored row is
 * widened once per query and then met by every head. */
#include "core/kernels/exp.h"
#include "core/kernels/naive.h"
#include "core/kernels/sum.h"

/* One query at work; the four arrays are cut from Attention.scratch. */
typedef struct {
    const Attention *a;
    size_t t;      /* which query of the call */
    float *weight; /* [heads][end]: the score, then exp(score - m) */
    float *row;    /* [kv_heads][k_size or v_size]: the stored row, widened */
    float
        *dropped; /* [v_size]: what masked pairs produce when dense; nobody reads it */
    float *den;   /* [heads]: the sum of the weights */
} Query;

static bool sees(const Query *q, size_t key) {
    return rule_sees(q->a->rule, q->a->position[q->t], key);
}

/* Finds the span of `key`, asking only when the last one does not hold it. */
static size_t row_in_span(const Rows *rows, size_t key, Span *span) {
    if (key < span->first || key - span->first >= span->count)
        rows->at(rows, key, span);
    return key - span->first;
}

static void read_k(const Query *q, size_t key, Span *span) {
    const Attention *a = q->a;
    size_t r = row_in_span(a->rows, key, span);
    a->rule->k->unpack((const char *)span->k + r * span->k_step, span->k_step, 1,
                       a->kv_heads, a->k_size, q->row);
    if (!a->rule->keys_turned)
        NAIVE(naive_turn)(a->rope, key, a->kv_heads, a->k_size, q->row);
}

static void read_v(const Query *q, size_t key, Span *span) {
    const Attention *a = q->a;
    size_t r = row_in_span(a->rows, key, span);
    a->rule->v->unpack((const char *)span->v + r * span->v_step, span->v_step, 1,
                       a->kv_heads, a->v_size, q->row);
}

/* First pass: weight[h][key] = score, for every pair that is computed. */
static void score_keys(const Query *q) {
    const Attention *a = q->a;
    const size_t group = a->heads / a->kv_heads, end = a->rows->end;
    Span span = {0};
    for (size_t key = 0; key < end; key++) {
        if (!sees(q, key) && !a->dense) continue;
        read_k(q, key, &span);
        const float *query = key < a->rule->sinks ? a->q_sink : a->q;
        query += q->t * a->heads * a->k_size;
        for (size_t h = 0; h < a->heads; h++)
            q->weight[h * end + key] =
                dot(query + h * a->k_size, q->row + h / group * a->k_size, a->k_size) *
                a->scale;
    }
}

/* Turns the visible scores of one head into weights and returns their sum. */
static float weigh_keys(const Query *q, float *weight) {
    const size_t end = q->a->rows->end;
    float largest = -INFINITY, s[LANES] = {0};
    for (size_t key = 0; key < end; key++)
        if (sees(q, key) && weight[key] > largest) largest = weight[key];
    for (size_t key = 0; key < end; key++)
        if (sees(q, key)) {
            weight[key] = exp_f32(weight[key] - largest);
            s[key % LANES] += weight[key];
        }
    return tree(s);
}

/* Second pass: out[h] = sum of weight[h][key] * v, not yet divided. */
static void add_values(const Query *q, float *out) {
    const Attention *a = q->a;
    const size_t group = a->heads / a->kv_heads, end = a->rows->end;
    Span span = {0};
    for (size_t i = 0; i < a->heads * a->v_size; i++) out[i] = 0;
    for (size_t key = 0; key < end; key++) {
        bool visible = sees(q, key);
        if (!visible && !a->dense) continue;
        read_v(q, key, &span);
        for (size_t h = 0; h < a->heads; h++) {
            float *sum = visible ? out + h * a->v_size : q->dropped;
            const float *v = q->row + h / group * a->v_size;
            float weight = q->weight[h * end + key];
            for (size_t i = 0; i < a->v_size; i++) sum[i] = madd(weight, v[i], sum[i]);
        }
    }
}

static void write_probs(const Query *q, size_t head, const float *weight, float den) {
    const Attention *a = q->a;
    float *probs = a->probs + (q->t * a->heads + head) * a->rows->end;
    for (size_t key = 0; key < a->rows->end; key++)
        probs[key] = sees(q, key) ? weight[key] / den : 0;
}

void NAIVE(naive_attention)(const Kernels *kernels, const Attention *a) {
    (void)kernels;
    const size_t end = a->rows->end;
    const size_t wide = a->k_size > a->v_size ? a->k_size : a->v_size;
    Query q = {.a = a, .weight = a->scratch};
    q.row = q.weight + a->heads * end;
    q.dropped = q.row + a->kv_heads * wide;
    q.den = q.dropped + a->v_size;
    for (size_t i = 0; i < a->v_size; i++) q.dropped[i] = 0;
    for (q.t = 0; q.t < a->n; q.t++) {
        float *out = a->out + q.t * a->heads * a->v_size;
        score_keys(&q);
        for (size_t h = 0; h < a->heads; h++)
            q.den[h] = weigh_keys(&q, q.weight + h * end);
        add_values(&q, out);
        for (size_t i = 0; i < a->heads * a->v_size; i++) {
            float den = q.den[i / a->v_size];
            out[i] = den == 0 ? 0 : out[i] / den;
        }
        for (size_t h = 0; a->probs && h < a->heads; h++)
            write_probs(&q, h, q.weight + h * end, q.den[h]);
    }
}
