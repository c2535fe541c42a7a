#include "core/model/weights.h"

#include <stdio.h>
#include <string.h>

void weights_shape_layer(const Shape *shape, size_t layer, LayerWeights *w) {
    const LayerShape *l = &shape->layer[layer];
    const size_t d = shape->dim;
    w->q = (Matrix){.rows = l->heads * l->k_size, .cols = d};
    w->k = (Matrix){.rows = l->kv_heads * l->k_size, .cols = d};
    w->v = (Matrix){.rows = l->kv_heads * l->v_size, .cols = d};
    w->o = (Matrix){.rows = d, .cols = l->heads * l->v_size};
    w->gate = w->up = (Matrix){.rows = l->hidden, .cols = d};
    w->down = (Matrix){.rows = d, .cols = l->hidden};
}

void weights_shape_ends(const Shape *shape, Matrix *embedding, Matrix *output) {
    *embedding = *output = (Matrix){.rows = shape->vocab, .cols = shape->dim};
}

uint64_t weights_parameters(const Shape *shape) {
    uint64_t count = (uint64_t)shape->vocab * shape->dim * (shape->tied ? 1 : 2);
    count += shape->dim;
    for (size_t i = 0; i < shape->layers; i++) {
        const LayerShape *l = &shape->layer[i];
        uint64_t outputs = l->heads * (l->k_size + l->v_size) +
                           l->kv_heads * (l->k_size + l->v_size) + 3 * l->hidden + 2;
        count += outputs * shape->dim;
    }
    return count;
}

static bool read_size(const Tensors *t, const char *name, size_t *value, Error *err) {
    const double *number = tensors_number(t, name);
    if (!number) return error_set(err, "%s: %s is missing", t->path, name);
    if (!(*number >= 0 && *number <= 0x1p31 && *number == (double)(size_t)*number))
        return error_set(err, "%s: %s is %g; it must be a whole number", t->path, name,
                         *number);
    *value = (size_t)*number;
    return true;
}

static bool read_shape(const Tensors *t, Shape *s, Error *err) {
    LayerShape layer = {.window = SHAPE_NO_WINDOW};
    *s = (Shape){.tied = !tensors_find(t, "output.weight")};
    if (!read_size(t, "llama.embedding_length", &s->dim, err) ||
        !read_size(t, "llama.block_count", &s->layers, err) ||
        !read_size(t, "llama.vocab_size", &s->vocab, err) ||
        !read_size(t, "llama.context_length", &s->context, err) ||
        !read_size(t, "llama.rope.dimension_count", &s->rot, err) ||
        !read_size(t, "llama.feed_forward_length", &layer.hidden, err) ||
        !read_size(t, "llama.attention.head_count", &layer.heads, err) ||
        !read_size(t, "llama.attention.head_count_kv", &layer.kv_heads, err))
        return false;
    if (layer.heads == 0 || s->dim % layer.heads != 0)
        return error_set(err, "%s: dim %zu is not a multiple of heads %zu", t->path,
                         s->dim, layer.heads);
    layer.k_size = layer.v_size = s->dim / layer.heads;
    const double *base = tensors_number(t, "llama.rope.freq_base");
    const double *eps = tensors_number(t, "llama.attention.layer_norm_rms_epsilon");
    s->rope_base = base ? *base : 10000.0;
    s->eps = eps ? (float)*eps : 1e-5f;
    if (s->layers <= SHAPE_MAX_LAYERS) shape_all_layers(s, &layer);
    return shape_check(s, err) || error_at(err, t->path);
}

static bool find_matrix(const Tensors *t, const char *name, Matrix *m, Error *err) {
    const Tensor *tensor = tensors_find(t, name);
    if (!tensor) return error_set(err, "%s: tensor %s is missing", t->path, name);
    if (tensor->matrix.rows != m->rows || tensor->matrix.cols != m->cols)
        return error_set(err, "%s: tensor %s is %zu x %zu; the shape wants %zu x %zu",
                         t->path, name, tensor->matrix.rows, tensor->matrix.cols,
                         m->rows, m->cols);
    *m = tensor->matrix;
    return true;
}

static bool find_norm(const Tensors *t, const char *name, size_t dim,
                      const float **norm, Error *err) {
    Matrix m = {.rows = 1, .cols = dim};
    if (!find_matrix(t, name, &m, err) || !m.format) return false;
    if (m.format != &format_f32)
        return error_set(err, "%s: tensor %s is %s; norms must be f32", t->path, name,
                         m.format->name);
    *norm = m.data;
    return true;
}

static bool find_layer(Weights *w, size_t l, Error *err) {
    LayerWeights *layer = &w->layer[l];
    weights_shape_layer(&w->shape, l, layer);
    struct {
        const char *name;
        Matrix *matrix;
        const float **norm;
    } parts[] = {{"attn_norm", NULL, &layer->attention_norm},
                 {"attn_q", &layer->q, NULL},
                 {"attn_k", &layer->k, NULL},
                 {"attn_v", &layer->v, NULL},
                 {"attn_output", &layer->o, NULL},
                 {"ffn_norm", NULL, &layer->mlp_norm},
                 {"ffn_gate", &layer->gate, NULL},
                 {"ffn_up", &layer->up, NULL},
                 {"ffn_down", &layer->down, NULL}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char name[TENSOR_NAME_MAX];
        snprintf(name, sizeof name, "blk.%zu.%s.weight", l, parts[i].name);
        bool found =
            parts[i].matrix
                ? find_matrix(&w->tensors, name, parts[i].matrix, err)
                : find_norm(&w->tensors, name, w->shape.dim, parts[i].norm, err);
        if (!found) return false;
    }
    return true;
}

static bool find_all(Weights *w, Error *err) {
    const Tensors *t = &w->tensors;
    if (!read_shape(t, &w->shape, err)) return false;
    w->layer = memory_new(w->memory, w->shape.layers, sizeof *w->layer, err);
    if (!w->layer) return false;
    for (size_t l = 0; l < w->shape.layers; l++)
        if (!find_layer(w, l, err)) return false;
    weights_shape_ends(&w->shape, &w->embedding, &w->output);
    if (!find_matrix(t, "token_embd.weight", &w->embedding, err)) return false;
    if (!find_norm(t, "output_norm.weight", w->shape.dim, &w->final_norm, err))
        return false;
    w->format = w->embedding.format;
    if (w->shape.tied) {
        w->output = w->embedding;
        return true;
    }
    return find_matrix(t, "output.weight", &w->output, err);
}

bool weights_from_tensors(Weights *weights, Tensors tensors, Memory *memory,
                          Error *err) {
    *weights = (Weights){.tensors = tensors, .memory = memory};
    if (find_all(weights, err)) return true;
    weights_close(weights);
    return false;
}

void weights_close(Weights *weights) {
    memory_free(weights->memory, weights->layer);
    memory_free(weights->memory, weights->arena);
    if (weights->tensors.memory) tensors_close(&weights->tensors);
    *weights = (Weights){0};
}
