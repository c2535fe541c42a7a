/* The rule: which keys a query may see and how rows are stored. Both engines obey the
 * same rule, so every technique is compared with the recomputing oracle by memcmp. */
#ifndef KVSTEP_KERNELS_RULE_H
#define KVSTEP_KERNELS_RULE_H

#include "core/base/shape.h"
#include "core/kernels/format.h"

#define RULE_ALL SIZE_MAX

/* Key i is visible to query p iff i <= p and (i < sinks or p - i < recent).
 * Full: sinks 0, recent RULE_ALL. Window W, the query included: 0, W. Sinks: S, R. */
typedef struct {
    size_t sinks, recent;
    const Format *k, *v;
    bool keys_turned; /* K is stored after rotation; false: turned by its own position
                         whenever it is read */
} LayerRule;

typedef struct {
    size_t layers;
    LayerRule layer[SHAPE_MAX_LAYERS];
} Rule;

/* The full model's rule: every earlier key (within the model's own window where a layer
 * has one), rows in `format`, K stored after rotation. */
void rule_full(Rule *rule, const Shape *shape, const Format *format);

/* Refuses recent = 0, a rule for another number of layers, and a format that cannot
 * store this shape's rows (its blocks must divide kv_heads x size). */
bool rule_check(const Rule *rule, const Shape *shape, Error *err);

static inline bool rule_sees(const LayerRule *rule, size_t query, size_t key) {
    return key <= query && (key < rule->sinks || query - key < rule->recent);
}

/* How many keys query p sees. */
size_t rule_visible(const LayerRule *rule, size_t query);

/* The position that query p is turned to when it meets a sink key: min(p, S + R - 1).
 */
size_t rule_sink_position(const LayerRule *rule, size_t query);

#endif
