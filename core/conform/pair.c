#include "core/conform/pair.h"
#include "core/base/random.h"
#include "core/conform/compare.h"

#include <string.h>

static bool open_engines(Pair *p, const ConformTarget *target, Error *err) {
    const Kernels *naive = kernels_select("naive", err);
    const Kernels *fast = kernels_select("fast", err);
    if (!naive || !fast) return false;
    EngineConfig config = {.weights = &p->weights,
                           .rule = &p->rule,
                           .kernels = naive,
                           .rows = p->sequences * p->capacity,
                           .positions = p->capacity,
                           .memory = p->memory};
    CacheConfig cache = {.shape = &p->weights.shape,
                         .rule = &p->rule,
                         .sequences = p->sequences,
                         .capacity = p->capacity,
                         .chunk = target->chunk};
    p->recompute = recompute_open(&config, err);
    p->cache = p->recompute ? target->open(&cache, p->memory, err) : NULL;
    config.kernels = fast; /* the same bits: so two things are compared at once */
    p->cached = p->cache ? cached_open(&config, p->cache, err) : NULL;
    return p->cached;
}

static bool open_buffers(Pair *p, Error *err) {
    const size_t vocab = p->weights.shape.vocab, most = p->sequences * p->capacity;
    Memory *m = p->memory;
    p->token = memory_new(m, most, sizeof *p->token, err);
    p->length = memory_new(m, p->sequences, sizeof *p->length, err);
    p->logits = memory_new(m, p->sequences, vocab * sizeof *p->logits, err);
    p->expected = memory_new(m, vocab, sizeof *p->expected, err);
    p->batch_token = memory_new(m, most, sizeof *p->batch_token, err);
    p->batch_seq = memory_new(m, most, sizeof *p->batch_seq, err);
    p->batch_pos = memory_new(m, most, sizeof *p->batch_pos, err);
    p->batch_want = memory_new(m, most, sizeof *p->batch_want, err);
    return p->token && p->length && p->logits && p->expected && p->batch_token &&
           p->batch_seq && p->batch_pos && p->batch_want;
}

static bool open_rule(Pair *p, const PairRule *wanted, Error *err) {
    const Format *k = format_find(wanted->k ? wanted->k : "f32");
    const Format *v = format_find(wanted->v ? wanted->v : "f32");
    if (!k || !v) return error_set(err, "no such format");
    rule_full(&p->rule, &p->weights.shape, k);
    for (size_t l = 0; l < p->rule.layers; l++) {
        LayerRule *rule = &p->rule.layer[l];
        rule->v = v;
        rule->keys_turned = !wanted->turned_when_read;
        if (wanted->recent == 0 || l < wanted->full_layers) continue;
        rule->sinks = wanted->sinks;
        rule->recent = wanted->recent;
    }
    return true;
}

bool pair_open(Pair *p, const ConformTarget *target, const PairRule *rule,
               size_t sequences, size_t capacity, Memory *memory, Error *err) {
    *p = (Pair){.sequences = sequences,
                .capacity = capacity,
                .chunk = target->chunk ? target->chunk : capacity,
                .memory = memory};
    if (!weights_random(&p->weights, rule->spec, memory, err)) return false;
    if (open_rule(p, rule, err) && open_buffers(p, err) && open_engines(p, target, err))
        return true;
    pair_close(p);
    return false;
}

void pair_close(Pair *p) {
    Memory *m = p->memory;
    cached_close(p->cached);
    cache_close(p->cache);
    recompute_close(p->recompute);
    void *buffers[] = {p->token,       p->length,    p->logits,    p->expected,
                       p->batch_token, p->batch_seq, p->batch_pos, p->batch_want};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        memory_free(m, buffers[i]);
    weights_close(&p->weights);
    *p = (Pair){0};
}

void pair_add(Pair *p, size_t seq, size_t n, uint64_t seed) {
    for (size_t i = 0; i < n; i++) {
        size_t pos = p->length[seq]++;
        uint64_t draw = random_draw(seed, seq, pos);
        int id = (int)(draw % p->weights.shape.vocab);
        p->token[seq * p->capacity + pos] = id;
        p->batch_token[p->batch_n] = id;
        p->batch_seq[p->batch_n] = seq;
        p->batch_pos[p->batch_n] = pos;
        p->batch_want[p->batch_n++] = i + 1 == n;
    }
}

/* Logits come in the order of the batch; each sequence has its own place for them. */
bool pair_step(Pair *p, Error *err) {
    const size_t vocab = p->weights.shape.vocab;
    Batch batch = {p->batch_n, p->batch_token, p->batch_seq, p->batch_pos,
                   p->batch_want};
    float *logits = memory_new(p->memory, p->sequences, vocab * sizeof *logits, err);
    bool done = logits && cached_step(p->cached, &batch, logits, err);
    for (size_t first = 0, row = 0; done && first < batch.n; row++) {
        memcpy(p->logits + batch.seq[first] * vocab, logits + row * vocab,
               vocab * sizeof *logits);
        first += batch_run(&batch, first);
    }
    memory_free(p->memory, logits);
    p->batch_n = 0;
    return done;
}

bool pair_feed(Pair *p, size_t seq, size_t n, uint64_t seed, Error *err) {
    while (n > 0) {
        size_t some = n < p->chunk ? n : p->chunk;
        pair_add(p, seq, some, seed);
        if (!pair_step(p, err)) return false;
        n -= some;
    }
    return true;
}

bool pair_check(Pair *p, size_t seq, Error *err) {
    const Shape *shape = &p->weights.shape;
    const size_t n = p->length[seq];
    for (size_t i = 0; i < n; i++) {
        p->batch_seq[i] = seq;
        p->batch_pos[i] = i;
        p->batch_want[i] = i + 1 == n;
    }
    Batch all = {n, p->token + seq * p->capacity, p->batch_seq, p->batch_pos,
                 p->batch_want};
    if (!recompute_step(p->recompute, &all, p->expected, err)) return false;
    for (size_t l = 0; l < shape->layers; l++) {
        size_t position;
        Rows oracle = recompute_rows(p->recompute, l, 0, n);
        Rows cached = cache_rows(p->cache, l, seq);
        if (compare_rows(&oracle, &cached, &shape->layer[l], &p->rule.layer[l],
                         &position))
            return error_set(err,
                             "sequence %zu of %zu tokens: the row of layer %zu, "
                             "position %zu differs from the oracle's",
                             seq, n, l, position);
    }
    if (memcmp(p->logits + seq * shape->vocab, p->expected,
               shape->vocab * sizeof *p->logits) != 0)
        return error_set(
            err, "sequence %zu: the logits of step %zu differ from the oracle's", seq,
            n - 1);
    return cache_check(p->cache, err);
}

void pair_cropped(Pair *p, size_t seq, size_t length) {
    if (length < p->length[seq]) p->length[seq] = length;
}

void pair_forked(Pair *p, size_t from, size_t to) {
    p->length[to] = p->length[from];
    memcpy(p->token + to * p->capacity, p->token + from * p->capacity,
           p->length[from] * sizeof *p->token);
}
