/* A small run that writes a trace, and a record of JSON spelled as text. */
#ifndef KVSTEP_TESTS_TRACED_H
#define KVSTEP_TESTS_TRACED_H

#include "core/count/counted.h"
#include "core/count/trace.h"
#include "tests/runs.h"

#if __has_include(<jansson.h>)
#include <jansson.h>
#define HAVE_JANSSON 1
#endif

typedef struct {
    Trace trace;
    Counters counters;
    Cached *engine;
    Cache *cache;
} Traced;

static inline void traced_step(Traced *traced, const Batch *batch, size_t vocab,
                               int token) {
    Error err = {0};
    float logits[TRIAL_ROWS * 16];
    ck_assert(vocab <= 16);
    traced->counters = (Counters){0};
    ck_assert_msg(cached_step(traced->engine, batch, logits, &err), "%s", err.text);
    TraceStep at = {"cached", 0, cache_length(traced->cache, 0) - 1};
    trace_step(&traced->trace, &at, token, &traced->counters,
               cache_bytes(traced->cache).live);
}

/* Two sequences under a window: a prompt of four and one of two together, then a step
 * of the first alone. The name holds what the formats must escape. */
static inline char *write_trace(bool json) {
    Trial trial;
    Error err = {0};
    char *text = NULL;
    size_t size;
    trial_open_spec(&trial, 0,
                    "dim=8,layers=2,heads=2,kv_heads=1,hidden=6,vocab=11,ctx=16,"
                    "window=3,seed=3");
    rule_full(&trial.rule, &trial.weights.shape, &format_f32);
    trial.rule.layer[1].sinks = 1; /* slots read with a gap */
    Traced t = {.trace = {.stream = open_memstream(&text, &size), .json = json}};
    t.trace.attention = true;
    Counted counted;
    counted_init(&counted, kernels_select("naive", &err), &t.counters, true);
    CacheConfig room = {.shape = &trial.weights.shape,
                        .rule = &trial.rule,
                        .sequences = 2,
                        .capacity = 16};
    t.cache = cache_open("contiguous", &room, &trial.memory, &err);
    EngineConfig config = {.weights = &trial.weights,
                           .rule = &trial.rule,
                           .kernels = &counted.table,
                           .rows = 6,
                           .positions = 16,
                           .trace = &t.trace,
                           .memory = &trial.memory};
    t.engine = cached_open(&config, t.cache, &err);
    ck_assert_msg(t.engine && t.trace.stream, "%s", err.text);
    trace_begin(&t.trace, "a \"small\" model\\", &trial.weights.shape);
    const int token[] = {1, 5, 3, 5, 1, 7, 9};
    const size_t seq[] = {0, 0, 0, 0, 1, 1, 0}, pos[] = {0, 1, 2, 3, 0, 1, 4};
    const bool want[] = {false, false, false, true, false, true, true};
    Batch prompts = {6, token, seq, pos, want};
    Batch one = {1, token + 6, seq + 6, pos + 6, want + 6};
    traced_step(&t, &prompts, 11, 9);
    traced_step(&t, &one, 11, 2);
    fclose(t.trace.stream);
    cached_close(t.engine);
    cache_close(t.cache);
    trial_close(&trial);
    return text;
}

#ifdef HAVE_JANSSON
/* A value as the text spelling has it. */
static inline void put_value(FILE *out, const json_t *value) {
    if (json_is_integer(value))
        fprintf(out, "%lld", (long long)json_integer_value(value));
    if (json_is_real(value)) fprintf(out, "%.9g", json_real_value(value));
    if (json_is_string(value))
        for (const char *c = json_string_value(value); *c; c++)
            putc(*c <= ' ' ? '_' : *c, out);
    size_t i;
    json_t *item;
    json_array_foreach(value, i, item) {
        if (i > 0) putc(',', out);
        if (!json_is_array(item)) {
            put_value(out, item);
            continue;
        }
        json_int_t first = json_integer_value(json_array_get(item, 0));
        json_int_t last = json_integer_value(json_array_get(item, 1));
        ck_assert(json_array_size(item) == 2 && first <= last);
        fprintf(out, last > first ? "%lld-%lld" : "%lld", (long long)first,
                (long long)last);
    }
}

static inline void put_record(FILE *out, json_t *record) {
    const char *key;
    json_t *value;
    json_object_foreach(record, key, value) { /* in the order they stand in the file */
        if (strcmp(key, "record") == 0) {
            fputs(json_string_value(value), out);
            continue;
        }
        fprintf(out, " %s=", key);
        put_value(out, value);
    }
    putc('\n', out);
}

#endif

#endif
