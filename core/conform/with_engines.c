/* The properties that drive the cached engine and compare with the oracle. Each runs
 * over the same few models: grouped heads of several kinds, odd sizes, windows. */
#include "core/base/random.h"
#include "core/conform/pair.h"

typedef bool Scenario(Pair *, uint64_t seed, Error *);

static const PairRule rules[] = {
    {.spec = "dim=24,layers=2,heads=4,kv_heads=2,hidden=20,vocab=17,ctx=64"},
    {.spec = "dim=18,layers=3,heads=3,kv_heads=1,hidden=7,vocab=11,ctx=64"},
    {.spec = "dim=16,layers=1,heads=2,kv_heads=2,rot=4,hidden=9,vocab=13,ctx=64",
     .turned_when_read = true},
    {.spec = "dim=24,layers=2,heads=4,kv_heads=2,hidden=20,vocab=17,ctx=64,seed=5",
     .recent = 1},
    {.spec = "dim=24,layers=3,heads=6,kv_heads=2,hidden=20,vocab=17,ctx=64,seed=6",
     .recent = 5,
     .full_layers = 1},
    {.spec = "dim=24,layers=2,heads=6,kv_heads=2,hidden=20,vocab=17,ctx=64,seed=7",
     .sinks = 3,
     .recent = 6,
     .k = "f16",
     .v = "bf16"},
    {.spec = "dim=64,layers=2,heads=4,kv_heads=2,hidden=20,vocab=17,ctx=64,seed=8",
     .recent = 8,
     .k = "q8_0",
     .v = "q4_0"},
    {.spec = "dim=20,layers=2,heads=4,kv_heads=2,hidden=20,vocab=17,ctx=64,seed=9",
     .k = "fp8",
     .v = "f16",
     .turned_when_read = true},
};

/* GARBAGE bytes are huge or NaN in every format, and no poison. */
enum { SEQUENCES = 3, CAPACITY = 40, GARBAGE = 0x7F };

static bool over_models(const ConformTarget *target, const ConformOptions *options,
                        Scenario *scenario, Error *err) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        Memory memory = {0};
        Pair pair;
        if (!pair_open(&pair, target, &rules[i], SEQUENCES, CAPACITY, &memory, err))
            return false;
        bool holds = scenario(&pair, options->seed + i, err);
        pair_close(&pair);
        if (holds && memory.live != 0)
            holds = error_set(err, "%zu bytes were never freed", memory.live);
        if (!holds) return error_at(err, rules[i].spec);
    }
    return true;
}

static bool steps(Pair *p, uint64_t seed, Error *err) {
    if (!pair_feed(p, 1, 5, seed, err) || !pair_check(p, 1, err)) return false;
    while (p->length[1] < CAPACITY)
        if (!pair_feed(p, 1, 1, seed, err) || !pair_check(p, 1, err)) return false;
    return true;
}

static bool chunks(Pair *p, uint64_t seed, Error *err) {
    for (size_t chunk = 1; chunk <= p->chunk;
         chunk = chunk < 8 ? chunk + 1 : 2 * chunk - 1) {
        while (p->length[0] < CAPACITY) {
            size_t left = CAPACITY - p->length[0];
            if (!pair_feed(p, 0, chunk < left ? chunk : left, seed, err)) return false;
        }
        if (!pair_check(p, 0, err)) return false;
        cache_remove(p->cache, 0);
        pair_cropped(p, 0, 0);
    }
    return true;
}

static bool ragged(Pair *p, uint64_t seed, Error *err) {
    for (uint64_t round = 0; round < 12; round++) {
        for (size_t s = SEQUENCES; s-- > 0;) { /* not in the order of ids */
            size_t n = random_draw(seed, round, s) % 5;
            if (n > p->chunk) n = p->chunk;
            if (n > CAPACITY - p->length[s]) n = CAPACITY - p->length[s];
            if (n > 0) pair_add(p, s, n, seed);
        }
        if (p->batch_n == 0) continue;
        if (!pair_step(p, err)) return false;
        for (size_t s = 0; s < SEQUENCES; s++)
            if (p->length[s] > 0 && !pair_check(p, s, err)) return false;
    }
    return true;
}

/* A crop may be refused where a window has left what it needs; then nothing changed. */
static bool crop_to(Pair *p, size_t seq, size_t length, Error *err) {
    Error why;
    const bool full = p->rule.layer[p->rule.layers - 1].recent == RULE_ALL;
    if (cache_crop(p->cache, seq, length, &why))
        pair_cropped(p, seq, length);
    else if (full || length == 0)
        return error_set(err, "a crop to %zu was refused: %s", length, why.text);
    if (cache_length(p->cache, seq) == p->length[seq])
        return cache_check(p->cache, err);
    return error_set(err, "a crop to %zu left %zu tokens for %zu", length,
                     cache_length(p->cache, seq), p->length[seq]);
}

static bool crop(Pair *p, uint64_t seed, Error *err) {
    static const size_t lengths[] = {31, 30, 28, 29, 16, 15, 7, 1, 0};
    if (!pair_feed(p, 2, 31, seed, err)) return false;
    if (!crop_to(p, 2, 35, err) || !pair_check(p, 2, err)) return false;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        if (!crop_to(p, 2, lengths[i], err)) return false;
        if (p->length[2] + 3 > CAPACITY) continue;
        if (!pair_feed(p, 2, 2, seed + 100 + i, err) || !pair_check(p, 2, err) ||
            !pair_feed(p, 2, 1, seed + 200 + i, err) || !pair_check(p, 2, err))
            return false;
    }
    return true;
}

static bool fork_twice(Pair *p, uint64_t seed, Error *err) {
    if (!pair_feed(p, 0, 9, seed, err)) return false;
    for (size_t to = 1; to < SEQUENCES; to++) {
        if (!cache_fork(p->cache, 0, to, err)) return false;
        pair_forked(p, 0, to);
        if (!pair_feed(p, 0, 2, seed + to, err)) return false;
    }
    for (size_t s = 0; s < SEQUENCES; s++)
        if (!pair_feed(p, s, 7, seed + 10 + s, err)) return false;
    for (size_t s = 0; s < SEQUENCES; s++) /* all have written; now all are read */
        if (!pair_check(p, s, err)) return false;
    cache_remove(p->cache, 0);
    pair_cropped(p, 0, 0);
    return pair_feed(p, 0, 5, seed + 20, err) && pair_check(p, 0, err) &&
           pair_feed(p, 1, 1, seed + 21, err) && pair_check(p, 1, err);
}

/* Reserves rows, fills them with NaN and abandons them: the next steps must not see it.
 */
static bool spoil(Pair *p, size_t seq, size_t n, Error *err) {
    if (!cache_reserve(p->cache, 1, &seq, &n, err)) return false;
    for (size_t l = 0; l < p->weights.shape.layers; l++)
        for (size_t i = 0; i < n; i++) {
            const LayerShape *s = &p->weights.shape.layer[l];
            const LayerRule *r = &p->rule.layer[l];
            void *k, *v;
            p->cache->ops->place(p->cache, l, seq, p->length[seq] + i, &k, &v);
            for (size_t b = 0; b < r->k->row_bytes(s->kv_heads, s->k_size); b++)
                ((unsigned char *)k)[b] = GARBAGE;
            for (size_t b = 0; b < r->v->row_bytes(s->kv_heads, s->v_size); b++)
                ((unsigned char *)v)[b] = GARBAGE;
        }
    cache_abandon(p->cache);
    if (cache_length(p->cache, seq) == p->length[seq])
        return cache_check(p->cache, err);
    return error_set(err, "an abandoned step left %zu tokens for %zu",
                     cache_length(p->cache, seq), p->length[seq]);
}

static bool dead_rows(Pair *p, uint64_t seed, Error *err) {
    const size_t most = p->chunk < 8 ? p->chunk : 8;
    if (!spoil(p, 1, most, err) || !pair_feed(p, 1, 6, seed, err)) return false;
    for (size_t n = 1; n <= most; n++)
        if (!spoil(p, 1, n, err) || !pair_feed(p, 1, 2, seed, err) ||
            !pair_check(p, 1, err))
            return false;
    return true;
}

bool conform_steps(const ConformTarget *t, const ConformOptions *o, Error *err) {
    return over_models(t, o, steps, err);
}

bool conform_chunks(const ConformTarget *t, const ConformOptions *o, Error *err) {
    return over_models(t, o, chunks, err);
}

bool conform_ragged(const ConformTarget *t, const ConformOptions *o, Error *err) {
    return over_models(t, o, ragged, err);
}

bool conform_crop(const ConformTarget *t, const ConformOptions *o, Error *err) {
    return over_models(t, o, crop, err);
}

bool conform_fork(const ConformTarget *t, const ConformOptions *o, Error *err) {
    return over_models(t, o, fork_twice, err);
}

bool conform_dead_rows(const ConformTarget *t, const ConformOptions *o, Error *err) {
    return over_models(t, o, dead_rows, err);
}
