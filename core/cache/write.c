/* Where a row of K and a row of V are written: packed into the rule's formats at the
 * place that the cache gives. From here on everybody reads the stored form. */
#include "core/cache/cache.h"

bool cache_write(Cache *cache, const Kernels *kernels, size_t layer, size_t seq,
                 size_t first, size_t n, const float *k, const float *v, Error *err) {
    const LayerShape *shape = &cache->shape->layer[layer];
    const LayerRule *rule = &cache->rule->layer[layer];
    for (size_t t = 0; t < n; t++) {
        void *k_place, *v_place;
        cache->ops->place(cache, layer, seq, first + t, &k_place, &v_place);
        if (!kernels->store(kernels, rule->k, k, shape->kv_heads, shape->k_size,
                            k_place))
            return error_set(err, "step %zu, layer %zu: a key is not finite as %s",
                             first + t, layer, rule->k->name);
        if (!kernels->store(kernels, rule->v, v, shape->kv_heads, shape->v_size,
                            v_place))
            return error_set(err, "step %zu, layer %zu: a value is not finite as %s",
                             first + t, layer, rule->v->name);
        k += shape->kv_heads * shape->k_size;
        v += shape->kv_heads * shape->v_size;
    }
    return true;
}
