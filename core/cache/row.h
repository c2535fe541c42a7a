/* Bytes of a stored row of one layer, as every kind needs them. */
#ifndef KVSTEP_CACHE_ROW_H
#define KVSTEP_CACHE_ROW_H

#include "core/cache/cache.h"

static inline size_t row_k_bytes(const Cache *cache, size_t layer) {
    const LayerShape *shape = &cache->shape->layer[layer];
    return cache->rule->layer[layer].k->row_bytes(shape->kv_heads, shape->k_size);
}

static inline size_t row_v_bytes(const Cache *cache, size_t layer) {
    const LayerShape *shape = &cache->shape->layer[layer];
    return cache->rule->layer[layer].v->row_bytes(shape->kv_heads, shape->v_size);
}

#endif
