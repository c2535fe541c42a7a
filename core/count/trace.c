#include "core/count/trace.h"

#include <string.h>

bool trace_wants_json(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".json") == 0 || strcmp(dot, ".jsonl") == 0);
}

static void record(Trace *t, const char *kind) {
    fprintf(t->stream, t->json ? "{\"record\":\"%s\"" : "%s", kind);
}

static void end_record(Trace *t) {
    fputs(t->json ? "}\n" : "\n", t->stream);
}

static void key(Trace *t, const char *name) {
    fprintf(t->stream, t->json ? ",\"%s\":" : " %s=", name);
}

static void number(Trace *t, const char *name, uint64_t value) {
    key(t, name);
    fprintf(t->stream, "%llu", (unsigned long long)value);
}

/* Names hold no space and no quote but what a user typed; those become '_' in text and
 * are escaped in JSON. */
static void text(Trace *t, const char *name, const char *value) {
    key(t, name);
    if (t->json) putc('"', t->stream);
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if (!t->json)
            putc(c <= ' ' ? '_' : c, t->stream);
        else if (c < ' ' || c == '"' || c == '\\')
            fprintf(t->stream, "\\u%04x", c);
        else
            putc(c, t->stream);
    }
    if (t->json) putc('"', t->stream);
}

static void ranges(Trace *t, const char *name, const size_t *slot, size_t n) {
    key(t, name);
    if (t->json) putc('[', t->stream);
    for (size_t i = 0, last; i < n; i = last + 1) {
        last = i;
        while (last + 1 < n && slot[last + 1] == slot[last] + 1) last++;
        if (i > 0) putc(',', t->stream);
        if (t->json)
            fprintf(t->stream, "[%zu,%zu]", slot[i], slot[last]);
        else if (last > i)
            fprintf(t->stream, "%zu-%zu", slot[i], slot[last]);
        else
            fprintf(t->stream, "%zu", slot[i]);
    }
    if (t->json) putc(']', t->stream);
}

static void floats(Trace *t, const char *name, const float *value, size_t n) {
    key(t, name);
    if (t->json) putc('[', t->stream);
    for (size_t i = 0; i < n; i++)
        fprintf(t->stream, i ? ",%.9g" : "%.9g", (double)value[i]);
    if (t->json) putc(']', t->stream);
}

static void place(Trace *t, const TraceStep *at) {
    text(t, "engine", at->engine);
    number(t, "seq", at->seq);
    number(t, "step", at->step);
}

void trace_begin(Trace *t, const char *model, const Shape *shape) {
    record(t, "trace");
    number(t, "version", 1);
    end_record(t);
    const LayerShape *layer = &shape->layer[0];
    record(t, "model");
    text(t, "name", model);
    number(t, "dim", shape->dim);
    number(t, "layers", shape->layers);
    number(t, "heads", layer->heads);
    number(t, "kv_heads", layer->kv_heads);
    number(t, "k_size", layer->k_size);
    number(t, "v_size", layer->v_size);
    number(t, "hidden", layer->hidden);
    number(t, "vocab", shape->vocab);
    number(t, "context", shape->context);
    end_record(t);
}

void trace_rows(Trace *t, const TraceStep *at, size_t layer, size_t position,
                const size_t *written, size_t n_written, const size_t *read,
                size_t n_read) {
    record(t, "rows");
    place(t, at);
    number(t, "layer", layer);
    number(t, "position", position);
    number(t, "count", n_written);
    ranges(t, "written", written, n_written);
    ranges(t, "read", read, n_read);
    end_record(t);
}

void trace_attention(Trace *t, const TraceStep *at, size_t layer, size_t head,
                     size_t position, const float *weights, size_t n) {
    record(t, "attention");
    place(t, at);
    number(t, "layer", layer);
    number(t, "head", head);
    number(t, "position", position);
    floats(t, "weights", weights, n);
    end_record(t);
}

void trace_step(Trace *t, const TraceStep *at, int token, const Counters *counters,
                uint64_t cache_bytes) {
    record(t, "step");
    place(t, at);
    number(t, "context", at->step + 1);
    number(t, "token", (uint64_t)token);
    for (Part part = 0; part < PARTS; part++)
        number(t, part_name(part), counters->flops[part]);
    number(t, "elementwise", counters->elementwise);
    number(t, "weight_bytes", counters->weight_bytes_read);
    number(t, "kv_read", counters->kv_bytes_read);
    number(t, "kv_written", counters->kv_bytes_written);
    number(t, "cache_bytes", cache_bytes);
    end_record(t);
}
