/* The two ends of a pass, and its buffers; layer.h has the contract. */
#include "core/model/layer.h"

#include <string.h>

/* The widest of each, since layers may differ. */
typedef struct {
    size_t q, k, v, out, hidden, product, scratch, heads;
} Widths;

static void widen(size_t *width, size_t value) {
    if (value > *width) *width = value;
}

static bool widths_of(const EngineConfig *c, Widths *w, Error *err) {
    const Shape *shape = &c->weights->shape;
    const size_t threads = c->kernels->threads;
    size_t cols = shape->dim;
    *w = (Widths){0};
    for (size_t i = 0; i < shape->layers; i++) {
        const LayerShape *l = &shape->layer[i];
        size_t scratch;
        if (!attention_scratch(l, c->positions, threads, &scratch))
            return error_set(err, "scores of %zu positions are too many", c->positions);
        widen(&w->q, l->heads * l->k_size);
        widen(&w->k, l->kv_heads * l->k_size);
        widen(&w->v, l->kv_heads * l->v_size);
        widen(&w->out, l->heads * l->v_size);
        widen(&w->hidden, l->hidden);
        widen(&cols, w->out > w->hidden ? w->out : w->hidden);
        widen(&w->heads, l->heads);
        widen(&w->scratch, scratch);
    }
    if (!matmul_scratch(cols, threads, &w->product))
        return error_set(err, "products of %zu columns are too large", cols);
    return true;
}

static bool check_config(const EngineConfig *c, Error *err) {
    if (!rule_check(c->rule, &c->weights->shape, err)) return false;
    for (size_t l = 0; c->dense && l < c->rule->layers; l++)
        if (c->rule->layer[l].recent != RULE_ALL || c->rule->layer[l].sinks)
            return error_set(err,
                             "dense scores are for the full rule; layer %zu has a "
                             "window or sinks: use causal",
                             l);
    return true;
}

bool pass_open(Pass *p, const char *name, const EngineConfig *config, Error *err) {
    *p = (Pass){.config = *config, .name = name};
    const Shape *shape = &config->weights->shape;
    Memory *m = config->memory;
    Widths w;
    if (!check_config(config, err) || !widths_of(config, &w, err)) return false;
    bool probs = config->trace && config->trace->attention;
    size_t weights = w.heads;
    if (!size_times(&weights, config->positions))
        return error_set(err, "scores of %zu positions are too many",
                         config->positions);
    struct {
        void *buffer; /* where the pointer is kept */
        size_t count, size;
    } wanted[] = {{&p->position, config->rows, sizeof(size_t)},
                  {&p->sink_position, config->rows, sizeof(size_t)},
                  {&p->x, config->rows, shape->dim * sizeof(float)},
                  {&p->n, config->rows, shape->dim * sizeof(float)},
                  {&p->q, config->rows, w.q * sizeof(float)},
                  {&p->q_sink, config->rows, w.q * sizeof(float)},
                  {&p->k, config->rows, w.k * sizeof(float)},
                  {&p->v, config->rows, w.v * sizeof(float)},
                  {&p->out, config->rows, w.out * sizeof(float)},
                  {&p->gate, config->rows, w.hidden * sizeof(float)},
                  {&p->up, config->rows, w.hidden * sizeof(float)},
                  {&p->product, w.product, sizeof(float)},
                  {&p->scratch, w.scratch, sizeof(float)},
                  {&p->probs, config->rows, weights * sizeof(float)}};
    const size_t buffers =
        sizeof wanted / sizeof *wanted - !probs; /* probs stands last */
    bool done =
        rope_open(&p->rope, shape->rot, shape->rope_base, config->positions, m, err);
    for (size_t i = 0; done && i < buffers; i++) {
        void *block = memory_new(m, wanted[i].count, wanted[i].size, err);
        memcpy(wanted[i].buffer, &block, sizeof block);
        done = block;
    }
    if (!done) pass_close(p);
    return done;
}

void pass_close(Pass *p) {
    Memory *m = p->config.memory;
    void *buffers[] = {p->position, p->sink_position, p->x,  p->n,
                       p->q,        p->q_sink,        p->k,  p->v,
                       p->out,      p->gate,          p->up, p->product,
                       p->scratch,  p->probs};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        memory_free(m, buffers[i]);
    rope_close(&p->rope, m);
    *p = (Pass){0};
}

bool pass_begin(Pass *p, const Batch *batch, Error *err) {
    const EngineConfig *c = &p->config;
    const Shape *shape = &c->weights->shape;
    if (!batch_check(batch, c->rows, shape->vocab, c->positions, err)) return false;
    memcpy(p->position, batch->pos, batch->n * sizeof *p->position);
    c->kernels->embed(c->kernels, &c->weights->embedding, batch->token, batch->n, p->x);
    return true;
}

void pass_logits(Pass *p, const Batch *batch, float *logits) {
    const EngineConfig *c = &p->config;
    const Kernels *k = c->kernels;
    const Shape *shape = &c->weights->shape;
    size_t wanted = 0;
    for (size_t t = 0; t < batch->n; t++) /* gather: the wanted rows stand first */
        if (batch->want_logits[t])
            memmove(p->x + wanted++ * shape->dim, p->x + t * shape->dim,
                    shape->dim * sizeof *p->x);
    k->rms_norm(k, p->x, c->weights->final_norm, shape->eps, wanted, shape->dim, p->n);
    k->matmul(k, PART_LOGITS, &c->weights->output, p->n, wanted, logits, p->product);
}
