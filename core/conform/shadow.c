#include "core/conform/shadow.h"
#include "core/base/random.h"

#include <stdio.h>
#include <string.h>

/* Element e of the K (which 0) or V (which 1) row of `id` in a layer. */
static float element(uint64_t id, size_t layer, size_t which, size_t e) {
    return random_unit(random_draw(id, 2 * layer + which, e)) - 0.5f;
}

static void fill(float *row, size_t n, uint64_t id, size_t layer, size_t which) {
    for (size_t e = 0; e < n; e++) row[e] = element(id, layer, which, e);
}

bool shadow_open(Shadow *s, const ConformTarget *target, uint64_t seed, Memory *memory,
                 Error *err) {
    *s = (Shadow){.seed = seed};
    s->shape = (Shape){.dim = 8, .vocab = 2, .context = SHADOW_CAPACITY, .layers = 3};
    for (size_t l = 0; l < s->shape.layers; l++)
        s->shape.layer[l] = (LayerShape){.heads = 2 + 2 * l,
                                         .kv_heads = 1 + l,
                                         .k_size = 3 + l,
                                         .v_size = 5 - l,
                                         .hidden = 4,
                                         .window = SHAPE_NO_WINDOW};
    rule_full(&s->rule, &s->shape, &format_f32);
    s->kernels = kernels_select("naive", err);
    CacheConfig config = {&s->shape, &s->rule, SHADOW_SEQUENCES, SHADOW_CAPACITY};
    s->cache = target->open(&config, memory, err);
    return s->cache;
}

void shadow_close(Shadow *s) {
    cache_close(s->cache);
    s->cache = NULL;
}

size_t shadow_draw(Shadow *s, size_t limit) {
    return (size_t)(random_draw(s->seed, 0, s->draws++) % limit);
}

static bool write_rows(Shadow *s, size_t seq, size_t n, Error *err) {
    for (size_t l = 0; l < s->shape.layers; l++) {
        const LayerShape *shape = &s->shape.layer[l];
        for (size_t i = 0; i < n; i++) {
            float k[SHADOW_MOST_ROW], v[SHADOW_MOST_ROW];
            size_t position = s->length[seq] + i;
            fill(k, shape->kv_heads * shape->k_size, s->id[seq][position], l, 0);
            fill(v, shape->kv_heads * shape->v_size, s->id[seq][position], l, 1);
            if (!cache_write(s->cache, s->kernels, l, seq, position, 1, k, v, err))
                return false;
        }
    }
    return true;
}

bool shadow_append(Shadow *s, const size_t n[SHADOW_SEQUENCES], Error *err) {
    size_t seq[SHADOW_SEQUENCES], rows[SHADOW_SEQUENCES], count = 0;
    for (size_t i = 0; i < SHADOW_SEQUENCES; i++)
        if (n[i] > 0) seq[count] = i, rows[count++] = n[i];
    if (!cache_reserve(s->cache, count, seq, rows, err)) return false;
    for (size_t i = 0; i < count; i++) {
        for (size_t r = 0; r < rows[i]; r++)
            s->id[seq[i]][s->length[seq[i]] + r] = random_draw(s->seed, 1, s->draws++);
        if (!write_rows(s, seq[i], rows[i], err)) return false;
    }
    cache_commit(s->cache);
    for (size_t i = 0; i < count; i++) s->length[seq[i]] += rows[i];
    return true;
}

static bool row_agrees(const Shadow *s, size_t l, size_t seq, size_t position,
                       const Span *span) {
    const LayerShape *shape = &s->shape.layer[l];
    const LayerRule *rule = &s->rule.layer[l];
    float row[SHADOW_MOST_ROW];
    unsigned char stored[SHADOW_MOST_ROW * sizeof(float)];
    size_t r = position - span->first;
    fill(row, shape->kv_heads * shape->k_size, s->id[seq][position], l, 0);
    rule->k->pack(row, shape->kv_heads, shape->k_size, stored);
    if (memcmp(stored, (const char *)span->k + r * span->k_step,
               rule->k->row_bytes(shape->kv_heads, shape->k_size)) != 0)
        return false;
    fill(row, shape->kv_heads * shape->v_size, s->id[seq][position], l, 1);
    rule->v->pack(row, shape->kv_heads, shape->v_size, stored);
    return memcmp(stored, (const char *)span->v + r * span->v_step,
                  rule->v->row_bytes(shape->kv_heads, shape->v_size)) == 0;
}

static bool rows_agree(const Shadow *s, size_t l, size_t seq, Error *err) {
    Rows rows = cache_rows(s->cache, l, seq);
    if (rows.end != s->length[seq])
        return error_set(err, "sequence %zu ends at %zu, not %zu", seq, rows.end,
                         s->length[seq]);
    for (size_t p = 0; p < rows.end; p++) {
        if (!rule_sees(&s->rule.layer[l], rows.end - 1, p)) continue;
        Span span;
        rows.at(&rows, p, &span);
        if (span.first > p || p - span.first >= span.count ||
            span.count > rows.end - span.first)
            return error_set(err, "sequence %zu: the span of position %zu is %zu + %zu",
                             seq, p, span.first, span.count);
        for (size_t i = p; i < span.first + span.count; i++)
            if (!row_agrees(s, l, seq, i, &span))
                return error_set(err,
                                 "sequence %zu, layer %zu: the row of position %zu is "
                                 "not the one that was written",
                                 seq, l, i);
    }
    return true;
}

bool shadow_check(const Shadow *s, Error *err) {
    uint64_t live = 0;
    for (size_t seq = 0; seq < SHADOW_SEQUENCES; seq++) {
        if (cache_length(s->cache, seq) != s->length[seq])
            return error_set(err, "sequence %zu holds %zu tokens, not %zu", seq,
                             cache_length(s->cache, seq), s->length[seq]);
        live += formula_live_bytes(&s->shape, &s->rule, s->length[seq]);
        for (size_t l = 0; l < s->shape.layers; l++)
            if (!rows_agree(s, l, seq, err)) return false;
    }
    CacheBytes bytes = cache_bytes(s->cache);
    if (bytes.live > live || bytes.reserved != bytes.live + bytes.wasted ||
        bytes.reserved < bytes.live)
        return error_set(err,
                         "%zu bytes live and %zu wasted of %zu reserved; the rows are "
                         "%llu",
                         bytes.live, bytes.wasted, bytes.reserved,
                         (unsigned long long)live);
    return cache_check(s->cache, err);
}

/* One random operation; refusals are allowed, and must then change nothing. */
static bool operate(Shadow *s, char *did, size_t room, Error *err) {
    size_t a = shadow_draw(s, SHADOW_SEQUENCES), b = shadow_draw(s, SHADOW_SEQUENCES);
    size_t length = shadow_draw(s, SHADOW_CAPACITY), n[SHADOW_SEQUENCES] = {0};
    Error refused;
    switch (shadow_draw(s, 8)) {
    case 0:
        snprintf(did, room, "crop %zu to %zu", a, length);
        if (cache_crop(s->cache, a, length, &refused) && length < s->length[a])
            s->length[a] = length;
        return true;
    case 1:
        snprintf(did, room, "fork %zu to %zu", a, b);
        if (cache_fork(s->cache, a, b, &refused)) {
            s->length[b] = s->length[a];
            memcpy(s->id[b], s->id[a], sizeof s->id[a]);
        }
        return true;
    case 2:
        snprintf(did, room, "remove %zu", a);
        cache_remove(s->cache, a);
        s->length[a] = 0;
        return true;
    case 3:
        n[b] = 1; /* then two sequences in one step, if they differ */
        __attribute__((fallthrough));
    default:
        n[a] = 1 + shadow_draw(s, 4);
        snprintf(did, room, "append %zu to %zu (and %zu to %zu)", n[a], a, n[b], b);
        if (shadow_append(s, n, err)) return true;
        /* Only a full sequence is a reason to refuse. */
        return s->length[a] + n[a] > SHADOW_CAPACITY ||
               s->length[b] + n[b] > SHADOW_CAPACITY;
    }
}

bool conform_shadow(const ConformTarget *target, const ConformOptions *o, Error *err) {
    Memory memory = {0};
    Shadow s;
    if (!shadow_open(&s, target, o->seed, &memory, err)) return false;
    bool holds = true;
    for (size_t i = 0; holds && i < o->operations; i++) {
        char did[80];
        holds = operate(&s, did, sizeof did, err) && shadow_check(&s, err);
        if (!holds) {
            error_at(err, did);
            char where[64];
            snprintf(where, sizeof where, "operation %zu of seed %llu", i,
                     (unsigned long long)o->seed);
            error_at(err, where);
        }
    }
    shadow_close(&s);
    if (holds && memory.live != 0)
        holds = error_set(err, "%zu bytes were never freed", memory.live);
    return holds;
}
