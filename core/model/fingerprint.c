#include "core/model/fingerprint.h"

#include "core/base/hash.h"

#include <string.h>

static void add_real(Hash *hash, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    hash_add_number(hash, bits);
}

static void add_shape(Hash *hash, const Shape *s) {
    const uint64_t numbers[] = {s->dim, s->vocab, s->context,
                                s->rot, s->tied,  s->layers};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        hash_add_number(hash, numbers[i]);
    add_real(hash, s->rope_base);
    add_real(hash, (double)s->eps);
    for (size_t l = 0; l < s->layers; l++) {
        const LayerShape *layer = &s->layer[l];
        const uint64_t of_layer[] = {layer->heads,  layer->kv_heads, layer->k_size,
                                     layer->v_size, layer->hidden,   layer->window};
        for (size_t i = 0; i < sizeof of_layer / sizeof *of_layer; i++)
            hash_add_number(hash, of_layer[i]);
    }
}

static void add_matrix(Hash *hash, const Matrix *matrix) {
    hash_add(hash, matrix->format->name, strlen(matrix->format->name));
    hash_add(hash, matrix->data, matrix_bytes(matrix));
}

uint64_t weights_fingerprint(const Weights *w) {
    const size_t norm = w->shape.dim * sizeof(float);
    Hash hash;
    hash_begin(&hash);
    add_shape(&hash, &w->shape);
    add_matrix(&hash, &w->embedding);
    for (size_t l = 0; l < w->shape.layers; l++) {
        const LayerWeights *layer = &w->layer[l];
        const Matrix *all[] = {&layer->q,    &layer->k,  &layer->v,   &layer->o,
                               &layer->gate, &layer->up, &layer->down};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) add_matrix(&hash, all[i]);
        hash_add(&hash, layer->attention_norm, norm);
        hash_add(&hash, layer->mlp_norm, norm);
    }
    hash_add(&hash, w->final_norm, norm);
    add_matrix(&hash, &w->output);
    return hash_value(&hash);
}
