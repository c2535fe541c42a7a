#ifndef KVSTEP_MINIMAL

#include "chapters/common/json_parts.h"

#include <math.h>
#include <string.h>

json_t *json_put_object(json_t *parent, const char *key, Error *err) {
    json_t *object = json_object();
    return json_put(parent, key, object, err) ? object : NULL;
}

json_t *json_put_list(json_t *parent, const char *key, Error *err) {
    json_t *list = json_array();
    return json_put(parent, key, list, err) ? list : NULL;
}

static bool add(json_t *list, json_t *value, Error *err) {
    if (json_array_append_new(list, value) == 0) return true;
    return error_set(err, "JSON: no memory for the next of a list");
}

json_t *json_add_object(json_t *list, Error *err) {
    json_t *object = json_object();
    return add(list, object, err) ? object : NULL;
}

static json_t *number_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

bool json_put_real(json_t *object, const char *key, double value, Error *err) {
    return json_put(object, key, number_or_null(value), err);
}

static bool add_floats(json_t *list, const float *number, size_t count, Error *err) {
    for (size_t i = 0; i < count; i++)
        if (!add(list, number_or_null((double)number[i]), err)) return false;
    return true;
}

bool json_put_floats(json_t *object, const char *key, const float *number, size_t count,
                     Error *err) {
    json_t *list = json_put_list(object, key, err);
    return list && add_floats(list, number, count, err);
}

bool json_put_matrix(json_t *object, const char *key, const float *cell, size_t rows,
                     size_t cols, Error *err) {
    json_t *list = json_put_list(object, key, err);
    bool done = list;
    for (size_t r = 0; done && r < rows; r++) {
        json_t *row = json_array();
        done = add(list, row, err) && add_floats(row, cell + r * cols, cols, err);
    }
    return done;
}

bool json_put_model(json_t *root, const Model *model, Error *err) {
    const Shape *shape = &model->weights.shape;
    const LayerShape *layer = &shape->layer[0];
    const struct {
        const char *key;
        uint64_t value;
    } sizes[] = {
        {"dim", shape->dim},
        {"layers", shape->layers},
        {"heads", layer->heads},
        {"kv_heads", layer->kv_heads},
        {"k_size", layer->k_size},
        {"v_size", layer->v_size},
        {"hidden", layer->hidden},
        {"vocab", shape->vocab},
        {"context", shape->context},
        {"rotary_size", shape->rot},
        {"parameters", weights_parameters(shape)},
    };
    json_t *object = json_put_object(root, "model", err);
    bool done = object && json_put_bytes(object, "name", NULL, model->name,
                                         strlen(model->name), err);
    for (size_t i = 0; done && i < sizeof sizes / sizeof *sizes; i++)
        done = json_put_count(object, sizes[i].key, sizes[i].value, err);
    return done && json_put(object, "tied", json_boolean(shape->tied), err) &&
           json_put(object, "type", json_string(model->weights.format->name), err);
}

bool json_put_flops(json_t *object, const Counters *counters, Error *err) {
    json_t *flops = json_put_object(object, "flops", err);
    bool done = flops;
    for (int part = 0; done && part < PARTS; part++)
        done = json_put_count(flops, part_name((Part)part), counters->flops[part], err);
    return done && json_put_count(flops, "total", counters_flops(counters), err);
}

bool json_put_piece(json_t *object, Piece piece, Error *err) {
    return json_put_bytes(object, "text", "bytes", piece.bytes, piece.length, err);
}

#endif
