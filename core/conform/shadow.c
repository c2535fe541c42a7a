#include "core/conform/shadow.h"
#include "core/base/hash.h"
#include "core/base/random.h"
#include "core/cache/row.h"
#include "core/cache/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Element e of the K (which 0) or V (which 1) row of `id` in a layer. */
static float element(uint64_t id, size_t layer, size_t which, size_t e) {
    return random_unit(random_draw(id, 2 * layer + which, e)) - 0.5f;
}

static void fill(float *row, size_t n, uint64_t id, size_t layer, size_t which) {
    for (size_t e = 0; e < n; e++) row[e] = element(id, layer, which, e);
}

/* The rule of one variant: every combination of four visibilities and four formats. */
static void choose_rule(Shadow *s, uint64_t variant) {
    static const Format *const formats[][2] = {{&format_f32, &format_f32},
                                               {&format_f16, &format_fp8},
                                               {&format_q8_0, &format_q4_0},
                                               {&format_fp8, &format_bf16}};
    rule_full(&s->rule, &s->shape, &format_f32);
    for (size_t l = 0; l < s->rule.layers; l++) {
        LayerRule *rule = &s->rule.layer[l];
        rule->k = formats[variant / 4 % 4][0];
        rule->v = formats[variant / 4 % 4][1];
        if (variant % 4 == 1) rule->recent = 1 + 4 * l; /* windows of 1, 5 and 9 */
        if (variant % 4 >= 2) rule->recent = 6;
        if (variant % 4 == 2) rule->sinks = 3;
        if (variant % 4 == 3 && l == 1) rule->recent = RULE_ALL; /* mixed */
    }
}

bool shadow_open(Shadow *s, const ConformTarget *target, uint64_t variant,
                 Memory *memory, Error *err) {
    *s = (Shadow){.scarce = target->scarce,
                  .chunk = target->chunk ? target->chunk : SHADOW_CAPACITY};
    s->shape = (Shape){.dim = 8, .vocab = 2, .context = SHADOW_CAPACITY, .layers = 3};
    for (size_t l = 0; l < s->shape.layers; l++) /* rows of 32, 64 and 96 values */
        s->shape.layer[l] = (LayerShape){.heads = 2 * (1 + l),
                                         .kv_heads = 1 + l,
                                         .k_size = 32,
                                         .v_size = 32,
                                         .hidden = 4,
                                         .window = SHAPE_NO_WINDOW};
    if (variant / 4 % 4 != 2) /* no blocks: odd sizes, K and V of different ones */
        for (size_t l = 0; l < s->shape.layers; l++) {
            s->shape.layer[l].k_size = 3 + l;
            s->shape.layer[l].v_size = 5 - l;
        }
    choose_rule(s, variant);
    s->kernels = kernels_select("naive", err);
    CacheConfig config = {.shape = &s->shape,
                          .rule = &s->rule,
                          .sequences = SHADOW_SEQUENCES,
                          .capacity = SHADOW_CAPACITY,
                          .chunk = target->chunk};
    s->cache = target->open(&config, memory, err);
    return s->cache;
}

void shadow_close(Shadow *s) {
    cache_close(s->cache);
    s->cache = NULL;
}

/* Rows from `position` on, with the content of ids from `id` on. */
static bool write_rows(Shadow *s, size_t seq, size_t position, size_t n, uint64_t id,
                       Error *err) {
    float k[SHADOW_MOST_ROW], v[SHADOW_MOST_ROW];
    for (size_t l = 0; l < s->shape.layers; l++) {
        const LayerShape *shape = &s->shape.layer[l];
        for (size_t i = 0; i < n; i++) {
            fill(k, shape->kv_heads * shape->k_size, id + i, l, 0);
            fill(v, shape->kv_heads * shape->v_size, id + i, l, 1);
            if (!cache_write(s->cache, s->kernels, l, seq, position + i, 1, k, v, err))
                return false;
        }
    }
    return true;
}

static bool write_step(Shadow *s, const size_t n[SHADOW_SEQUENCES], Error *err) {
    size_t seq[SHADOW_SEQUENCES], rows[SHADOW_SEQUENCES], count = 0;
    for (size_t i = 0; i < SHADOW_SEQUENCES; i++)
        if (n[i] > 0) {
            seq[count] = i;
            rows[count++] = n[i];
        }
    if (!cache_reserve(s->cache, count, seq, rows, err)) return false;
    for (size_t i = 0; i < count; i++) {
        if (!write_rows(s, seq[i], s->length[seq[i]], rows[i], s->ids, err))
            return false;
        for (size_t r = 0; r < rows[i]; r++)
            s->id[seq[i]][s->length[seq[i]] + r] = s->ids++;
    }
    return true;
}

bool shadow_append(Shadow *s, const size_t n[SHADOW_SEQUENCES], Error *err) {
    if (!write_step(s, n, err)) return false;
    cache_commit(s->cache);
    for (size_t i = 0; i < SHADOW_SEQUENCES; i++) s->length[i] += n[i];
    return true;
}

bool shadow_abandon(Shadow *s, const size_t n[SHADOW_SEQUENCES], Error *err) {
    if (!write_step(s, n, err)) return false;
    cache_abandon(s->cache);
    return true;
}

void shadow_cropped(Shadow *s, size_t seq, size_t length) {
    if (length < s->length[seq]) s->length[seq] = length;
}

void shadow_forked(Shadow *s, size_t from, size_t to) {
    s->length[to] = s->length[from];
    memcpy(s->id[to], s->id[from], sizeof s->id[from]);
}

static bool load(Shadow *s, size_t to, Bytes file, Error *err) {
    Memory memory = {0};
    int *tokens;
    size_t n;
    bool done = cache_load(s->cache, to, 7, file, &tokens, &n, &memory, err);
    for (size_t i = 0; i < n; i++) done &= tokens[i] == (int)(i % s->shape.vocab);
    memory_free(&memory, tokens);
    return done;
}

bool shadow_reload(Shadow *s, size_t from, size_t to, Error *err) {
    int tokens[SHADOW_CAPACITY];
    char *bytes = NULL;
    size_t size = 0;
    if (!hash_exists()) return true;
    for (size_t i = 0; i < SHADOW_CAPACITY; i++) tokens[i] = (int)(i % s->shape.vocab);
    FILE *stream = open_memstream(&bytes, &size);
    if (!stream) return error_set(err, "no memory for a snapshot");
    bool saved = cache_save(s->cache, from, tokens, 7, stream, err);
    fclose(stream);
    Error refused = {0};
    Bytes file = {.data = (unsigned char *)bytes, .size = size};
    bool loaded = saved && load(s, to, file, &refused);
    free(bytes);
    const bool no_room = s->scarce && !loaded;
    if (!no_room && loaded != (s->length[to] == 0))
        return error_set(err, "a snapshot of %zu tokens was %s: %s", s->length[from],
                         loaded ? "loaded over others" : "refused", refused.text);
    if (loaded) shadow_forked(s, from, to);
    return saved;
}

static bool row_agrees(const Shadow *s, size_t l, size_t seq, size_t position,
                       const Span *span) {
    const LayerShape *shape = &s->shape.layer[l];
    const LayerRule *rule = &s->rule.layer[l];
    float row[SHADOW_MOST_ROW], stored[SHADOW_MOST_ROW];
    const size_t r = position - span->first;
    fill(row, shape->kv_heads * shape->k_size, s->id[seq][position], l, 0);
    rule->k->pack(row, shape->kv_heads, shape->k_size, stored);
    if (memcmp(stored, (const char *)span->k + r * span->k_step,
               row_k_bytes(s->cache, l)) != 0)
        return false;
    fill(row, shape->kv_heads * shape->v_size, s->id[seq][position], l, 1);
    rule->v->pack(row, shape->kv_heads, shape->v_size, stored);
    return memcmp(stored, (const char *)span->v + r * span->v_step,
                  row_v_bytes(s->cache, l)) == 0;
}

static bool rows_agree(const Shadow *s, size_t l, size_t seq, Error *err) {
    Rows rows = cache_rows(s->cache, l, seq);
    if (rows.end != s->length[seq])
        return error_set(err, "sequence %zu ends at %zu, not %zu", seq, rows.end,
                         s->length[seq]);
    for (size_t p = 0; p < rows.end; p++) {
        if (!rule_sees(&s->rule.layer[l], rows.end, p)) continue;
        Span span;
        rows.at(&rows, p, &span);
        if (span.first != p || span.count == 0 || span.count > rows.end - p)
            return error_set(err, "sequence %zu: the span of position %zu is %zu + %zu",
                             seq, p, span.first, span.count);
        for (size_t i = p; i < p + span.count; i++)
            if (rule_sees(&s->rule.layer[l], rows.end, i) &&
                !row_agrees(s, l, seq, i, &span))
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
    CacheBytes bytes = cache_bytes(s->cache); /* shared rows count once: live or less */
    if (bytes.live > live || bytes.live > bytes.reserved ||
        bytes.reserved != bytes.live + bytes.wasted)
        return error_set(err,
                         "%zu bytes live and %zu wasted of %zu reserved; the rows are "
                         "%llu",
                         bytes.live, bytes.wasted, bytes.reserved,
                         (unsigned long long)live);
    return cache_check(s->cache, err);
}
