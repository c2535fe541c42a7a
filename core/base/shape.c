#include "core/base/shape.h"

void shape_all_layers(Shape *shape, const LayerShape *one) {
    for (size_t l = 0; l < shape->layers; l++) shape->layer[l] = *one;
}

static bool in_range(const char *name, size_t value, size_t most, Error *err) {
    if (value >= 1 && value <= most) return true;
    return error_set(err, "%s is %zu; it must be 1 to %zu", name, value, most);
}

static bool layer_check(const Shape *s, const LayerShape *layer, Error *err) {
    const size_t most = (size_t)1 << 24;
    if (!in_range("heads", layer->heads, most, err)) return false;
    if (!in_range("kv_heads", layer->kv_heads, most, err)) return false;
    if (!in_range("head size of k", layer->k_size, most, err)) return false;
    if (!in_range("head size of v", layer->v_size, most, err)) return false;
    if (!in_range("hidden", layer->hidden, most, err)) return false;
    if (layer->window == 0) return error_set(err, "window is 0; it must be 1 or more");
    if (layer->heads % layer->kv_heads != 0)
        return error_set(err, "heads %zu is not a multiple of kv_heads %zu",
                         layer->heads, layer->kv_heads);
    if (s->rot % 2 != 0 || s->rot > layer->k_size)
        return error_set(err,
                         "rotary size is %zu; it must be even and at most the head "
                         "size, %zu",
                         s->rot, layer->k_size);
    return true;
}

bool shape_check(const Shape *s, Error *err) {
    const size_t most = (size_t)1 << 30;
    if (!in_range("layers", s->layers, SHAPE_MAX_LAYERS, err)) return false;
    if (!in_range("dim", s->dim, (size_t)1 << 24, err)) return false;
    if (!in_range("vocab", s->vocab, most, err)) return false;
    if (!in_range("context", s->context, most, err)) return false;
    if (!(s->eps > 0 && s->eps < 1))
        return error_set(err, "eps is %g; it must lie between 0 and 1", (double)s->eps);
    if (!(s->rope_base > 0 && s->rope_base < 1e30))
        return error_set(err, "RoPE base is %g; it must be positive", s->rope_base);
    for (size_t l = 0; l < s->layers; l++)
        if (!layer_check(s, &s->layer[l], err)) return false;
    return true;
}
