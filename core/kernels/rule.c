#include "core/kernels/rule.h"

void rule_full(Rule *rule, const Shape *shape, const Format *format) {
    rule->layers = shape->layers;
    for (size_t l = 0; l < shape->layers; l++)
        rule->layer[l] = (LayerRule){.sinks = 0,
                                     .recent = shape->layer[l].window,
                                     .k = format,
                                     .v = format,
                                     .keys_turned = true};
}

bool rule_check(const Rule *rule, const Shape *shape, Error *err) {
    if (rule->layers != shape->layers)
        return error_set(err, "the rule has %zu layers, the model %zu", rule->layers,
                         shape->layers);
    for (size_t l = 0; l < rule->layers; l++) {
        const LayerRule *r = &rule->layer[l];
        const LayerShape *s = &shape->layer[l];
        if (r->recent == 0)
            return error_set(err,
                             "layer %zu: a window of 0 shows no key; use 1 or more", l);
        if (r->k->row_bytes(s->kv_heads, s->k_size) == 0)
            return error_set(err,
                             "layer %zu: K of %zu x %zu values cannot be stored as %s",
                             l, s->kv_heads, s->k_size, r->k->name);
        if (r->v->row_bytes(s->kv_heads, s->v_size) == 0)
            return error_set(err,
                             "layer %zu: V of %zu x %zu values cannot be stored as %s",
                             l, s->kv_heads, s->v_size, r->v->name);
    }
    return true;
}

/* S + R without overflow: RULE_ALL swallows every sum. */
static size_t most_visible(const LayerRule *rule) {
    size_t sum;
    return __builtin_add_overflow(rule->sinks, rule->recent, &sum) ? RULE_ALL : sum;
}

size_t rule_visible(const LayerRule *rule, size_t query) {
    size_t most = most_visible(rule);
    return query < most ? query + 1 : most;
}

size_t rule_sink_position(const LayerRule *rule, size_t query) {
    size_t last = most_visible(rule) - 1;
    return query < last ? query : last;
}
