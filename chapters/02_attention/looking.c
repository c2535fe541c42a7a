#include "chapters/02_attention/looking.h"

#include "core/kernels/sum.h"

#include <math.h>
#include <string.h>

/* Weights of one query and head of this call. */
static const float *probs_of(const Attention *a, size_t query, size_t head) {
    return a->probs + (query * a->heads + head) * a->rows->end;
}

static float *older_row(const Looking *look, size_t layer, size_t head, size_t query) {
    const size_t n = look->result->n - 1;
    return look->older + ((layer * look->most_heads + head) * n + query) * n;
}

static void keep_older(Looking *look, const Attention *a) {
    const size_t n = look->result->n - 1;
    for (size_t h = 0; h < a->heads; h++)
        for (size_t t = 0; t < n; t++)
            memcpy(older_row(look, look->at_layer, h, t), probs_of(a, t, h),
                   n * sizeof(float));
}

/* The row of an old query is the same if its old weights have the same bits and the new
 * key got none. */
static void compare_older(Looking *look, const Attention *a) {
    AttentionResult *r = look->result;
    const size_t n = r->n - 1;
    for (size_t h = 0; h < a->heads; h++)
        for (size_t t = 0; t < n; t++) {
            const float *older = older_row(look, look->at_layer, h, t);
            const float *newer = probs_of(a, t, h);
            bool same = memcmp(older, newer, n * sizeof(float)) == 0 && newer[n] == 0;
            r->rows_same += same;
            r->rows_compared++;
            if (look->at_layer != r->layer) continue;
            r->head_same[h] += same;
            if (h != r->head) continue;
            r->same[t] = same;
            memcpy(r->older + t * n, older, n * sizeof(float));
        }
}

static void count_above(Looking *look, const Attention *a) {
    AttentionResult *r = look->result;
    for (size_t h = 0; h < a->heads; h++) {
        const bool chosen = look->at_layer == r->layer && h == r->head;
        for (size_t t = 0; t < r->n; t++)
            for (size_t i = t + 1; i < r->n; i++) {
                const bool sees = probs_of(a, t, h)[i] != 0;
                r->above_all += sees;
                r->above_diagonal += chosen && sees;
            }
    }
}

static void read_row(const Looking *look, const Attention *a, size_t position) {
    Span span;
    a->rows->at(a->rows, position, &span);
    a->rule->k->unpack(span.k, span.k_step, 1, a->kv_heads, a->k_size, look->k_row);
    a->rule->v->unpack(span.v, span.v_step, 1, a->kv_heads, a->v_size, look->v_row);
}

/* Copies what the chosen head sees out of the call: the same numbers, not new ones. */
static void open_head(Looking *look, const Attention *a) {
    AttentionResult *r = look->result;
    const size_t n = r->n;
    for (size_t t = 0; t < n; t++) {
        memcpy(r->q + t * r->k_size, a->q + (t * a->heads + r->head) * r->k_size,
               r->k_size * sizeof *r->q);
        memcpy(r->out + t * r->v_size, a->out + (t * a->heads + r->head) * r->v_size,
               r->v_size * sizeof *r->out);
        read_row(look, a, t);
        memcpy(r->k + t * r->k_size, look->k_row + r->kv_head * r->k_size,
               r->k_size * sizeof *r->k);
        memcpy(r->v + t * r->v_size, look->v_row + r->kv_head * r->v_size,
               r->v_size * sizeof *r->v);
        for (size_t h = 0; h < a->heads; h++)
            memcpy(r->weights + (h * n + t) * n, probs_of(a, t, h), n * sizeof(float));
    }
    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; i < n; i++)
            r->scores[t * n + i] =
                dot(r->q + t * r->k_size, r->k + i * r->k_size, r->k_size) * a->scale;
}

/* The score of one pair of the chosen head in this call; k_row holds the key's row. */
static float score_of(const Looking *look, const Attention *a, size_t query) {
    const AttentionResult *r = look->result;
    const float *q = a->q + (query * a->heads + r->head) * r->k_size;
    return dot(q, look->k_row + r->kv_head * r->k_size, r->k_size) * a->scale;
}

static void raise_to(float *largest, float change) {
    if (change > *largest) *largest = change;
}

static void score_shifted(Looking *look, const Attention *a) {
    AttentionResult *r = look->result;
    const size_t n = r->n;
    for (size_t i = 0; i < n; i++) {
        read_row(look, a, i);
        for (size_t t = 0; t < n; t++)
            raise_to(&r->score_change,
                     fabsf(score_of(look, a, t) - r->scores[t * n + i]));
        r->shifted[i] = score_of(look, a, n - 1);
    }
}

/* Of the newest query with itself nothing moved. */
static void score_moved(Looking *look, const Attention *a) {
    AttentionResult *r = look->result;
    const size_t n = r->n;
    for (size_t i = 0; i + 1 < n; i++) {
        read_row(look, a, i);
        raise_to(&r->moved_change,
                 fabsf(score_of(look, a, n - 1) - r->scores[(n - 1) * n + i]));
    }
}

void looking_see(const KernelCall *call, void *data) {
    Looking *look = data;
    if (call->kind != CALL_ATTENTION) return;
    const Attention *a = call->attention;
    const bool chosen = look->at_layer == look->result->layer;
    if (look->which == LOOKING_BEFORE) keep_older(look, a);
    if (look->which == LOOKING_NEWEST) compare_older(look, a);
    if (look->which == LOOKING_NEWEST) count_above(look, a);
    if (look->which == LOOKING_NEWEST && chosen) open_head(look, a);
    if (look->which == LOOKING_SHIFTED && chosen) score_shifted(look, a);
    if (look->which == LOOKING_MOVED && chosen) score_moved(look, a);
    look->at_layer++;
}

bool looking_open(Looking *look, AttentionResult *result, Memory *memory, Error *err) {
    const Shape *shape = &result->model.weights.shape;
    const LayerShape *layer = &shape->layer[result->layer];
    const size_t n = result->n, row = n * sizeof(float);
    *look = (Looking){.result = result, .memory = memory};
    for (size_t l = 0; l < shape->layers; l++)
        if (shape->layer[l].heads > look->most_heads)
            look->most_heads = shape->layer[l].heads;
    size_t older = shape->layers * look->most_heads;
    if (!size_times(&older, n)) return error_set(err, "%zu tokens are too many", n);
    look->older = memory_new(memory, older, row, err);
    look->probs = memory_new(memory, look->most_heads * n, row, err);
    look->k_row =
        memory_new(memory, layer->kv_heads * layer->k_size, sizeof(float), err);
    look->v_row =
        memory_new(memory, layer->kv_heads * layer->v_size, sizeof(float), err);
    return look->older && look->probs && look->k_row && look->v_row;
}

void looking_close(Looking *look) {
    float *all[] = {look->older, look->probs, look->k_row, look->v_row};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        memory_free(look->memory, all[i]);
    *look = (Looking){0};
}

void looking_begin(Looking *look, LookingStep which) {
    look->which = which;
    look->at_layer = 0;
}
