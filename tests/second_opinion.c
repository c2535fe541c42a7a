#include "tests/second_opinion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY(name, count) /* on the stack: models that are asked about are small */   \
    double name[count];                                                                \
    memset(name, 0, sizeof name)

typedef struct {
    const Weights *weights;
    const LayerRule *rule;    /* [layers] */
    double **k, **v;          /* [layers] -> [tokens][kv_heads][k_size or v_size] */
    const StoredRows *stored; /* [layers] */
    double *row_off;          /* the farthest row so far */
} Opinion;

/* Weights are f32; anything else is an error. */
static double element(const Matrix *m, size_t r, size_t i) {
    float value;
    if (strcmp(m->format->name, "f32") != 0) abort();
    memcpy(&value, (const char *)m->data + 4 * (r * m->cols + i), 4);
    return (double)value;
}

static void times(const Matrix *m, const double *x, double *y) {
    memset(y, 0, m->rows * sizeof *y);
    for (size_t r = 0; r < m->rows; r++)
        for (size_t i = 0; i < m->cols; i++) y[r] += element(m, r, i) * x[i];
}

static void norm(const Shape *shape, const double *x, const float *w, double *y) {
    double mean = 0;
    for (size_t i = 0; i < shape->dim; i++) mean += x[i] * x[i] / (double)shape->dim;
    for (size_t i = 0; i < shape->dim; i++)
        y[i] = x[i] / sqrt(mean + (double)shape->eps) * (double)w[i];
}

/* Elements 2i and 2i + 1 are a point of the plane, turned by its own angle. */
static void turn(const Shape *shape, size_t position, double *head) {
    for (size_t i = 0; 2 * i < shape->rot; i++) {
        double exponent = -2.0 * (double)i / (double)shape->rot;
        double angle = (double)position * pow(shape->rope_base, exponent);
        double x = head[2 * i], y = head[2 * i + 1];
        head[2 * i] = x * cos(angle) - y * sin(angle);
        head[2 * i + 1] = x * sin(angle) + y * cos(angle);
    }
}

/* The `recent` newest keys up to p, and the first `sinks`. */
static void mark_visible(const LayerRule *rule, size_t p, bool *visible) {
    size_t oldest = p < rule->recent ? 0 : p + 1 - rule->recent;
    for (size_t i = oldest; i <= p; i++) visible[i] = true;
    for (size_t i = 0; i <= p && i < rule->sinks; i++) visible[i] = true;
}

/* q . k of a query not yet turned, at position p, and key i as it is kept. A sink key
 * is met from no farther than the place at which a cache of S + R rows ends. */
static double score(const Opinion *o, size_t l, size_t p, const double *query, size_t i,
                    const double *key) {
    const size_t size = o->weights->shape.layer[l].k_size;
    const LayerRule *rule = &o->rule[l];
    double q[size], k[size], sum = 0;
    memcpy(q, query, sizeof q);
    memcpy(k, key, sizeof k);
    if (i < rule->sinks && p >= rule->sinks && p - rule->sinks >= rule->recent)
        p = rule->sinks + rule->recent - 1;
    turn(&o->weights->shape, p, q);
    if (!rule->keys_turned) turn(&o->weights->shape, i, k);
    for (size_t d = 0; d < size; d++) sum += q[d] * k[d];
    return sum / sqrt((double)size);
}

/* One query head that reads KV head g. out [v_size], zeros before */
static void attend(const Opinion *o, size_t l, size_t p, size_t g, const double *query,
                   const bool *visible, double *out) {
    const LayerShape *s = &o->weights->shape.layer[l];
    double most = -INFINITY, sum = 0;
    ARRAY(e, p + 1);
    for (size_t i = 0; i <= p; i++) {
        e[i] = score(o, l, p, query, i, o->k[l] + (i * s->kv_heads + g) * s->k_size);
        if (visible[i]) most = fmax(most, e[i]);
    }
    for (size_t i = 0; i <= p; i++) e[i] = visible[i] ? exp(e[i] - most) : 0;
    for (size_t i = 0; i <= p; i++) sum += e[i];
    for (size_t i = 0; i <= p; i++)
        for (size_t d = 0; d < s->v_size; d++)
            out[d] += e[i] / sum * o->v[l][(i * s->kv_heads + g) * s->v_size + d];
}

/* New rows of position p: from here on they are what was stored. */
static void store(const Opinion *o, size_t l, size_t p, double *k, double *v) {
    const LayerShape *s = &o->weights->shape.layer[l];
    const StoredRows *rows = &o->stored[l];
    const double off[] = {
        second_opinion_row(o->rule[l].k, (const char *)rows->k + p * rows->k_step,
                           s->kv_heads, s->k_size, k),
        second_opinion_row(o->rule[l].v, (const char *)rows->v + p * rows->v_step,
                           s->kv_heads, s->v_size, v)};
    *o->row_off = fmax(*o->row_off, fmax(off[0], off[1]));
}

static void attention(const Opinion *o, size_t l, size_t p, double *x, bool *visible) {
    const Shape *shape = &o->weights->shape;
    const LayerShape *s = &shape->layer[l];
    const LayerWeights *w = &o->weights->layer[l];
    const size_t k_row = s->kv_heads * s->k_size, v_row = s->kv_heads * s->v_size;
    double *k = o->k[l] + p * k_row, *v = o->v[l] + p * v_row;
    ARRAY(n, shape->dim);
    ARRAY(q, s->heads * s->k_size);
    ARRAY(all, s->heads * s->v_size);
    norm(shape, x, w->attention_norm, n);
    times(&w->q, n, q);
    times(&w->k, n, k);
    times(&w->v, n, v);
    for (size_t g = 0; g < s->kv_heads && o->rule[l].keys_turned; g++)
        turn(shape, p, k + g * s->k_size);
    store(o, l, p, k, v);
    mark_visible(&o->rule[l], p, visible);
    for (size_t g = 0, head = 0; g < s->kv_heads; g++) /* KV heads serve in turn */
        for (size_t j = 0; j < s->heads / s->kv_heads; j++, head++)
            attend(o, l, p, g, q + head * s->k_size, visible, all + head * s->v_size);
    times(&w->o, all, n);
    for (size_t i = 0; i < shape->dim; i++) x[i] += n[i];
}

static void mlp(const Shape *shape, const LayerWeights *w, double *x) {
    ARRAY(n, shape->dim);
    ARRAY(gate, w->gate.rows);
    ARRAY(up, w->gate.rows);
    norm(shape, x, w->mlp_norm, n);
    times(&w->gate, n, gate);
    times(&w->up, n, up);
    for (size_t i = 0; i < w->gate.rows; i++)
        gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i];
    times(&w->down, gate, n);
    for (size_t i = 0; i < shape->dim; i++) x[i] += n[i];
}

double second_opinion(const Weights *weights, const Rule *rule, const int *token,
                      size_t n, const StoredRows *stored, double *logits,
                      bool *visible) {
    const Shape *s = &weights->shape;
    double row_off = 0;
    double *k[SHAPE_MAX_LAYERS] = {0}, *v[SHAPE_MAX_LAYERS] = {0};
    ARRAY(x, s->dim);
    Opinion o = {weights, rule->layer, k, v, stored, &row_off};
    for (size_t l = 0; l < s->layers; l++) {
        const LayerShape *layer = &s->layer[l];
        k[l] =
            calloc(n * layer->kv_heads * (layer->k_size + layer->v_size), sizeof **k);
        if (!k[l]) abort();
        v[l] = k[l] + n * layer->kv_heads * layer->k_size;
    }
    memset(visible, 0, s->layers * n * n * sizeof *visible);
    for (size_t p = 0; p < n; p++) {
        for (size_t i = 0; i < s->dim; i++)
            x[i] = element(&weights->embedding, (size_t)token[p], i);
        for (size_t l = 0; l < s->layers; l++) {
            attention(&o, l, p, x, visible + (l * n + p) * n);
            mlp(s, &weights->layer[l], x);
        }
        norm(s, x, weights->final_norm, x);
        times(s->tied ? &weights->embedding : &weights->output, x,
              logits + p * s->vocab);
    }
    for (size_t l = 0; l < s->layers; l++) free(k[l]);
    return row_off;
}

double second_opinion_deviation(const double *opinion, const float *logits,
                                size_t vocab) {
    double scale = 1, most = 0;
    for (size_t i = 0; i < vocab; i++) {
        double difference = fabs(opinion[i] - (double)logits[i]);
        if (!(difference < INFINITY)) return INFINITY;
        scale = fmax(scale, fabs(opinion[i]));
        most = fmax(most, difference);
    }
    return most / scale;
}
