#include "core/conform/compare.h"

#include <string.h>

bool compare_rows(const Rows *a, const Rows *b, const LayerShape *shape,
                  const LayerRule *rule, size_t *position) {
    const size_t k_bytes = rule->k->row_bytes(shape->kv_heads, shape->k_size);
    const size_t v_bytes = rule->v->row_bytes(shape->kv_heads, shape->v_size);
    const size_t end = a->end < b->end ? a->end : b->end;
    for (size_t p = 0; p < end; p++) {
        if (!rule_sees(rule, end, p)) continue;
        Span left, right;
        a->at(a, p, &left);
        b->at(b, p, &right);
        *position = p;
        if (memcmp(left.k, right.k, k_bytes) != 0) return true;
        if (memcmp(left.v, right.v, v_bytes) != 0) return true;
    }
    *position = end;
    return a->end != b->end;
}
