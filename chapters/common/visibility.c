#include "chapters/common/visibility.h"

#include <stdio.h>
#include <string.h>

static bool find_recent(const Options *o, size_t *sinks, size_t *recent, Error *err) {
    *sinks = 0;
    *recent = RULE_ALL;
    if (o->window && o->max_cached)
        return error_set(err,
                         "--window and --max-cached both say what is seen; give one");
    if (o->evict_sinks && !o->max_cached)
        return error_set(err,
                         "--evict sinks needs --max-cached N, the rows to keep in all");
    if (o->window) *recent = o->window;
    if (!o->max_cached) return true;
    if (o->evict_sinks && o->sinks >= o->max_cached)
        return error_set(err,
                         "--sinks %zu leave no room in --max-cached %zu for newer "
                         "tokens",
                         o->sinks, o->max_cached);
    *sinks = o->evict_sinks ? o->sinks : 0;
    *recent = o->max_cached - *sinks;
    return true;
}

bool visibility_rule(const Options *o, const Shape *shape, Rule *rule, Error *err) {
    size_t sinks, recent;
    if (!find_recent(o, &sinks, &recent, err)) return false;
    rule_full(rule, shape, format_find(o->type_k));
    for (size_t l = 0; l < rule->layers; l++) {
        LayerRule *layer = &rule->layer[l];
        layer->v = format_find(o->type_v);
        layer->keys_turned = !o->rope_before;
        if (recent >= layer->recent) continue;
        layer->sinks = sinks;
        layer->recent = recent;
    }
    return rule_check(rule, shape, err);
}

bool visibility_is_full(const Rule *rule, const Shape *shape) {
    for (size_t l = 0; l < rule->layers; l++) {
        const LayerRule *layer = &rule->layer[l];
        if (layer->sinks || layer->recent != shape->layer[l].window ||
            layer->k != &format_f32 || layer->v != &format_f32)
            return false;
    }
    return true;
}

static void append(char *text, const char *more) {
    const size_t used = strlen(text);
    snprintf(text + used, VISIBILITY_TEXT - used, "%s%s", used ? ", " : "", more);
}

const char *visibility_words(const Options *o, char text[VISIBILITY_TEXT]) {
    char part[VISIBILITY_TEXT];
    *text = '\0';
    if (o->window) {
        snprintf(part, sizeof part, "a window of %zu", o->window);
        append(text, part);
    }
    if (o->max_cached) {
        const size_t sinks = o->evict_sinks ? o->sinks : 0;
        snprintf(part, sizeof part, "the newest %zu tokens", o->max_cached - sinks);
        if (sinks)
            snprintf(part, sizeof part, "the first %zu and newest %zu tokens", sinks,
                     o->max_cached - sinks);
        append(text, part);
    }
    if (strcmp(o->type_k, "f32") != 0 || strcmp(o->type_v, "f32") != 0) {
        if (strcmp(o->type_k, o->type_v) == 0)
            snprintf(part, sizeof part, "K and V in %s", o->type_k);
        else
            snprintf(part, sizeof part, "K in %s, V in %s", o->type_k, o->type_v);
        append(text, part);
    }
    if (o->rope_before) append(text, "keys turned when read");
    if (!*text) append(text, "the full rule");
    return text;
}
