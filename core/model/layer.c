#include "core/model/layer.h"

#include <math.h>
#include <string.h>

void layer_project(Pass *p, size_t layer, const Batch *batch) {
    const EngineConfig *c = &p->config;
    const Kernels *k = c->kernels;
    const Shape *shape = &c->weights->shape;
    const LayerWeights *w = &c->weights->layer[layer];
    const LayerShape *s = &shape->layer[layer];
    const LayerRule *rule = &c->rule->layer[layer];
    const size_t n = batch->n;

    k->rms_norm(k, p->x, w->attention_norm, shape->eps, n, shape->dim, p->n);
    k->matmul(k, PART_QKV, &w->q, p->n, n, p->q, p->product);
    k->matmul(k, PART_QKV, &w->k, p->n, n, p->k, p->product);
    k->matmul(k, PART_QKV, &w->v, p->n, n, p->v, p->product);
    if (rule->sinks) {
        memcpy(p->q_sink, p->q, n * s->heads * s->k_size * sizeof *p->q);
        for (size_t t = 0; t < n; t++)
            p->sink_position[t] = rule_sink_position(rule, p->position[t]);
        k->rope(k, &p->rope, p->sink_position, n, s->heads, s->k_size, p->q_sink);
    }
    k->rope(k, &p->rope, p->position, n, s->heads, s->k_size, p->q);
    if (rule->keys_turned)
        k->rope(k, &p->rope, p->position, n, s->kv_heads, s->k_size, p->k);
}

static void trace_weights(const Pass *p, size_t layer, const Attention *a) {
    TraceStep at = {p->name, a->rows->seq, a->position[a->n - 1]};
    for (size_t t = 0; t < a->n; t++)
        for (size_t h = 0; h < a->heads; h++)
            trace_attention(p->config.trace, &at, layer, h, a->position[t],
                            a->probs + (t * a->heads + h) * a->rows->end, a->rows->end);
}

void layer_attend(Pass *p, size_t layer, size_t first, size_t n, const Rows *rows) {
    const EngineConfig *c = &p->config;
    const LayerShape *s = &c->weights->shape.layer[layer];
    const LayerRule *rule = &c->rule->layer[layer];
    const size_t q = first * s->heads * s->k_size;
    Attention a = {.n = n,
                   .position = p->position + first,
                   .heads = s->heads,
                   .kv_heads = s->kv_heads,
                   .k_size = s->k_size,
                   .v_size = s->v_size,
                   .scale = 1.0f / sqrtf((float)s->k_size),
                   .q = p->q + q,
                   .q_sink = rule->sinks ? p->q_sink + q : NULL,
                   .rows = rows,
                   .rule = rule,
                   .rope = &p->rope,
                   .dense = c->dense,
                   .out = p->out + first * s->heads * s->v_size,
                   .probs = p->probs,
                   .scratch = p->scratch};
    c->kernels->attention(c->kernels, &a);
    if (p->probs) trace_weights(p, layer, &a);
}

static bool check_finite(const Pass *p, size_t layer, const Batch *batch, Error *err) {
    const size_t dim = p->config.weights->shape.dim;
    for (size_t i = 0; i < batch->n * dim; i++)
        if (p->x[i] - p->x[i] != 0)
            return error_set(err,
                             "step %zu, layer %zu: the residual is not finite; check "
                             "the weights",
                             batch->pos[i / dim], layer);
    return true;
}

bool layer_finish(Pass *p, size_t layer, const Batch *batch, Error *err) {
    const EngineConfig *c = &p->config;
    const Kernels *k = c->kernels;
    const Shape *shape = &c->weights->shape;
    const LayerWeights *w = &c->weights->layer[layer];
    const size_t n = batch->n, hidden = shape->layer[layer].hidden;

    k->matmul(k, PART_OUTPUT, &w->o, p->out, n, p->n, p->product);
    k->add(k, p->x, p->n, n * shape->dim);
    k->rms_norm(k, p->x, w->mlp_norm, shape->eps, n, shape->dim, p->n);
    k->matmul(k, PART_MLP, &w->gate, p->n, n, p->gate, p->product);
    k->matmul(k, PART_MLP, &w->up, p->n, n, p->up, p->product);
    k->swiglu(k, p->gate, p->up, n * hidden);
    k->matmul(k, PART_MLP, &w->down, p->gate, n, p->n, p->product);
    k->add(k, p->x, p->n, n * shape->dim);
    return check_finite(p, layer, batch, err);
}
