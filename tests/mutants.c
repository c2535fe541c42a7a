#include "tests/mutants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *room(size_t count, size_t size) {
    void *block = calloc(count + 1, size);
    if (!block) abort();
    return block;
}

/* ---- Passing on ----------------------------------------------------------------- */

static void pass_embed(const Kernels *kernels, const Matrix *table, const int *token,
                       size_t n, float *out) {
    const Kernels *real = wrapped(kernels)->real;
    real->embed(real, table, token, n, out);
}

static void pass_rms_norm(const Kernels *kernels, const float *x, const float *w,
                          float eps, size_t n, size_t size, float *out) {
    const Kernels *real = wrapped(kernels)->real;
    real->rms_norm(real, x, w, eps, n, size, out);
}

static void pass_matmul(const Kernels *kernels, Part part, const Matrix *w,
                        const float *x, size_t n, float *out, float *scratch) {
    const Kernels *real = wrapped(kernels)->real;
    real->matmul(real, part, w, x, n, out, scratch);
}

static void pass_rope(const Kernels *kernels, const RopeTable *table,
                      const size_t *position, size_t n, size_t heads, size_t size,
                      float *x) {
    const Kernels *real = wrapped(kernels)->real;
    real->rope(real, table, position, n, heads, size, x);
}

static bool pass_store(const Kernels *kernels, const Format *format, const float *row,
                       size_t heads, size_t size, void *to) {
    const Kernels *real = wrapped(kernels)->real;
    return real->store(real, format, row, heads, size, to);
}

static void pass_attention(const Kernels *kernels, const Attention *a) {
    const Kernels *real = wrapped(kernels)->real;
    real->attention(real, a);
}

static void pass_swiglu(const Kernels *kernels, float *gate, const float *up,
                        size_t count) {
    const Kernels *real = wrapped(kernels)->real;
    real->swiglu(real, gate, up, count);
}

static void pass_add(const Kernels *kernels, float *x, const float *y, size_t count) {
    const Kernels *real = wrapped(kernels)->real;
    real->add(real, x, y, count);
}

void wrapped_init(Wrapped *w, const Kernels *real, void *data) {
    *w = (Wrapped){.table = {.name = real->name,
                             .threads = real->threads,
                             .embed = pass_embed,
                             .rms_norm = pass_rms_norm,
                             .matmul = pass_matmul,
                             .rope = pass_rope,
                             .store = pass_store,
                             .attention = pass_attention,
                             .swiglu = pass_swiglu,
                             .add = pass_add},
                   .real = real,
                   .data = data};
}

/* ---- Attention ------------------------------------------------------------------ */

/* Copies heads: the one that reads KV head h / group in `real` gets what belongs to a
 * head that reads h % kv_heads; or back again. */
static void tile(const Attention *a, size_t size, const float *from, float *to,
                 bool back) {
    const size_t group = a->heads / a->kv_heads;
    for (size_t t = 0; t < a->n; t++, from += a->heads * size, to += a->heads * size)
        for (size_t h = 0; h < a->heads; h++) {
            size_t place = h % a->kv_heads * group + h / a->kv_heads;
            memcpy(to + (back ? h : place) * size, from + (back ? place : h) * size,
                   size * sizeof *to);
        }
}

void mutant_tiled_heads(const Kernels *kernels, const Attention *a) {
    const size_t q_floats = a->n * a->heads * a->k_size;
    float *q = room(q_floats, sizeof *q), *q_sink = room(q_floats, sizeof *q);
    float *out = room(a->n * a->heads * a->v_size, sizeof *out);
    tile(a, a->k_size, a->q, q, false);
    if (a->q_sink) tile(a, a->k_size, a->q_sink, q_sink, false);
    Attention tiled = *a;
    tiled.q = q;
    tiled.q_sink = a->q_sink ? q_sink : NULL;
    tiled.out = out;
    pass_attention(kernels, &tiled);
    tile(a, a->v_size, out, a->out, true);
    free(q);
    free(q_sink);
    free(out);
}

void mutant_no_scale(const Kernels *kernels, const Attention *a) {
    Attention wrong = *a;
    wrong.scale = 1;
    pass_attention(kernels, &wrong);
}

void mutant_sinks_far(const Kernels *kernels, const Attention *a) {
    Attention wrong = *a;
    if (a->q_sink) wrong.q_sink = a->q;
    pass_attention(kernels, &wrong);
}

/* One query of the call at a time, with a position and an end of its own. */
static void attend_one(const Kernels *kernels, const Attention *a, size_t t,
                       size_t position, size_t end) {
    Rows rows = *a->rows;
    rows.end = end;
    Attention one = *a;
    one.n = 1;
    one.position = &position;
    one.rows = &rows;
    one.q += t * a->heads * a->k_size;
    if (a->q_sink) one.q_sink += t * a->heads * a->k_size;
    one.out += t * a->heads * a->v_size;
    one.scratch = room(a->heads * (end + 1 + a->k_size + a->v_size), 2 * sizeof(float));
    one.probs = a->probs ? room(a->heads * (end + 1), sizeof(float)) : NULL;
    pass_attention(kernels, &one);
    for (size_t h = 0; a->probs && h < a->heads; h++) {
        float *probs = a->probs + (t * a->heads + h) * a->rows->end;
        for (size_t key = 0; key < a->rows->end; key++)
            probs[key] = key < end ? one.probs[h * end + key] : 0;
    }
    free(one.scratch);
    free(one.probs);
}

void mutant_top_left_mask(const Kernels *kernels, const Attention *a) {
    for (size_t t = 0; t < a->n; t++) attend_one(kernels, a, t, t, a->rows->end);
}

void mutant_no_own_row(const Kernels *kernels, const Attention *a) {
    for (size_t t = 0; t < a->n; t++)
        attend_one(kernels, a, t, a->position[t], a->position[t]);
}

void mutant_no_last_row(const Kernels *kernels, const Attention *a) {
    for (size_t t = 0; t < a->n; t++)
        attend_one(kernels, a, t, a->position[t], a->rows->end - 1);
}

void mutant_past_the_end(const Kernels *kernels, const Attention *a) {
    for (size_t t = 0; t < a->n; t++)
        attend_one(kernels, a, t, a->position[t] + (t + 1 == a->n),
                   a->rows->end + (t + 1 == a->n));
}

void mutant_normalize_first(const Kernels *kernels, const Attention *a) {
    const size_t end = a->rows->end, group = a->heads / a->kv_heads;
    Attention asked = *a;
    asked.probs = room(a->n * a->heads * end, sizeof(float));
    float *row = room(a->kv_heads * a->v_size, sizeof *row);
    pass_attention(kernels, &asked);
    memset(a->out, 0, a->n * a->heads * a->v_size * sizeof *a->out);
    for (size_t i = 0; i < a->n * a->heads * end; i++) {
        const size_t key = i % end, head = i / end;
        float weight = asked.probs[i], *out = a->out + head * a->v_size;
        if (weight == 0) continue;
        Span span;
        a->rows->at(a->rows, key, &span);
        a->rule->v->unpack(span.v, span.v_step, 1, a->kv_heads, a->v_size, row);
        const float *v = row + head % a->heads / group * a->v_size;
        for (size_t d = 0; d < a->v_size; d++) out[d] = fmaf(weight, v[d], out[d]);
    }
    if (a->probs) memcpy(a->probs, asked.probs, a->n * a->heads * end * sizeof(float));
    free(asked.probs);
    free(row);
}

void mutant_window_plus_1(const Kernels *kernels, const Attention *a) {
    LayerRule wide = *a->rule;
    if (wide.recent != RULE_ALL) wide.recent++;
    Attention wrong = *a;
    wrong.rule = &wide;
    pass_attention(kernels, &wrong);
}

void mutant_to_block_end(const Kernels *kernels, const Attention *a) {
    const size_t block = *(const size_t *)wrapped(kernels)->data;
    for (size_t t = 0; t < a->n; t++) {
        const bool newest = a->position[t] + 1 == a->rows->end;
        const size_t end = (a->rows->end + block - 1) / block * block;
        attend_one(kernels, a, t, newest ? end - 1 : a->position[t],
                   newest ? end : a->rows->end);
    }
}

/* Keys under other numbers than their positions. */
typedef struct {
    const Rows *real;
    size_t *position; /* by number */
} Renumbered;

static void at_number(const Rows *rows, size_t number, Span *span) {
    const Renumbered *r = rows->owner;
    r->real->at(r->real, r->position[number], span);
    span->first = number;
    span->count = 1;
}

/* Query t as if it stood at number `query`, with `end` numbers in all. */
static void attend_renumbered(const Kernels *kernels, const Attention *a, size_t t,
                              const LayerRule *rule, size_t *position, size_t query,
                              size_t end) {
    const Renumbered numbers = {a->rows, position};
    Rows rows = *a->rows;
    rows.at = at_number;
    rows.owner = &numbers;
    Attention one = *a;
    one.rows = &rows;
    one.rule = rule;
    attend_one(kernels, &one, t, query, end);
}

void mutant_slots(const Kernels *kernels, const Attention *a) {
    const Cache *cache = a->rows->owner;
    const size_t l = a->rows->layer, seq = a->rows->seq, end = a->rows->end;
    const size_t slots = formula_ring_slots(a->rule, cache->capacity, cache->chunk);
    size_t *position = room(slots, sizeof *position);
    for (size_t p = 0; p < end; p++) /* the newest of a slot stays */
        position[cache_slot(cache, l, seq, p) - seq * slots] = p;
    for (size_t t = 0; t < a->n; t++)
        attend_renumbered(kernels, a, t, a->rule, position,
                          cache_slot(cache, l, seq, a->position[t]) - seq * slots,
                          end < slots ? end : slots);
    free(position);
}

void mutant_ranks(const Kernels *kernels, const Attention *a) {
    LayerRule all = *a->rule;
    all.recent = RULE_ALL;
    size_t *position = room(a->rows->end, sizeof *position);
    for (size_t t = 0; t < a->n; t++) {
        size_t seen = 0;
        for (size_t key = 0; key < a->rows->end; key++)
            if (rule_sees(a->rule, a->position[t], key)) position[seen++] = key;
        attend_renumbered(kernels, a, t, &all, position, seen - 1, seen);
    }
    free(position);
}

/* ---- Rotation ------------------------------------------------------------------- */

void mutant_newest_too_far(const Kernels *kernels, const RopeTable *table,
                           const size_t *position, size_t n, size_t heads, size_t size,
                           float *x) {
    size_t last = position[n - 1] + 1;
    pass_rope(kernels, table, position, n - 1, heads, size, x);
    pass_rope(kernels, table, &last, 1, heads, size, x + (n - 1) * heads * size);
}

void mutant_keys_too_far(const Kernels *kernels, const RopeTable *table,
                         const size_t *position, size_t n, size_t heads, size_t size,
                         float *x) {
    size_t off = heads == *(size_t *)wrapped(kernels)->data;
    for (size_t t = 0; t < n; t++) {
        size_t place = position[t] + off;
        pass_rope(kernels, table, &place, 1, heads, size, x + t * heads * size);
    }
}

static void swap_layout(float *head, size_t rot, bool back) {
    float copy[64];
    memcpy(copy, head, rot * sizeof *head);
    for (size_t i = 0; i < rot / 2; i++)
        for (size_t half = 0; half < 2; half++) {
            size_t beside = 2 * i + half, apart = i + half * (rot / 2);
            head[back ? apart : beside] = copy[back ? beside : apart];
        }
}

void mutant_halves(const Kernels *kernels, const RopeTable *table,
                   const size_t *position, size_t n, size_t heads, size_t size,
                   float *x) {
    for (size_t i = 0; i < n * heads; i++) swap_layout(x + i * size, table->rot, false);
    pass_rope(kernels, table, position, n, heads, size, x);
    for (size_t i = 0; i < n * heads; i++) swap_layout(x + i * size, table->rot, true);
}

/* ---- Dot products --------------------------------------------------------------- */

/* The sum of kernels.h, but over `whole` terms in sixteen sums and the rest in one. */
static float odd_dot(const float *a, const float *b, size_t whole, size_t n) {
    float s[16] = {0}, rest = 0;
    for (size_t i = 0; i < whole; i++) s[i % 16] = fmaf(a[i], b[i], s[i % 16]);
    for (size_t i = whole; i < n; i++) rest = fmaf(a[i], b[i], rest);
    for (size_t width = 8; width > 0; width /= 2)
        for (size_t j = 0; j < width; j++) s[j] += s[j + width];
    return s[0] + rest;
}

void mutant_tail_reads_on(const Kernels *kernels, Part part, const Matrix *w,
                          const float *x, size_t n, float *out, float *scratch) {
    (void)kernels;
    (void)part;
    (void)scratch;
    const size_t padded = (w->cols + 15) / 16 * 16;
    float *a = room(padded, sizeof *a), *b = room(padded, sizeof *b);
    for (size_t i = 0; i < padded; i++)
        a[i] = b[i] = 0.125f; /* what happens to stand */
    for (size_t j = 0; j < w->rows; j++)
        for (size_t t = 0; t < n; t++) {
            w->format->unpack(matrix_row(w, j), 0, 1, 1, w->cols, a);
            memcpy(b, x + t * w->cols, w->cols * sizeof *b);
            out[t * w->rows + j] = odd_dot(a, b, padded, padded);
        }
    free(a);
    free(b);
}

void mutant_tail_apart(const Kernels *kernels, Part part, const Matrix *w,
                       const float *x, size_t n, float *out, float *scratch) {
    (void)kernels;
    (void)part;
    for (size_t j = 0; j < w->rows; j++) {
        w->format->unpack(matrix_row(w, j), 0, 1, 1, w->cols, scratch);
        for (size_t t = 0; t < n; t++)
            out[t * w->rows + j] =
                odd_dot(scratch, x + t * w->cols, w->cols / 16 * 16, w->cols);
    }
}

/* ---- Caches --------------------------------------------------------------------- */

static WrappedCache *wrapped_cache(Cache *cache) {
    return (WrappedCache *)(uintptr_t)cache->ops; /* ops is the first member */
}

void wrapped_cache_init(WrappedCache *w, Cache *cache) {
    size_t widest = 0;
    for (size_t l = 0; l < cache->shape->layers; l++) {
        size_t row = formula_row_bytes(&cache->shape->layer[l], &cache->rule->layer[l]);
        if (row > widest) widest = row;
    }
    *w = (WrappedCache){.ops = *cache->ops, .real = cache->ops};
    w->highest = room(cache->shape->layers * cache->sequences, sizeof *w->highest);
    w->scratch = room(widest, 1);
    cache->ops = &w->ops;
}

void wrapped_cache_free(WrappedCache *w) {
    free(w->highest);
    free(w->scratch);
    *w = (WrappedCache){0};
}

bool mutant_crop_keeps_cells(Cache *cache, size_t seq, size_t length, Error *err) {
    (void)cache;
    (void)seq;
    (void)length;
    (void)err;
    return true;
}

void mutant_place_once(Cache *cache, size_t layer, size_t seq, size_t position,
                       void **k, void **v) {
    WrappedCache *w = wrapped_cache(cache);
    size_t *highest = &w->highest[layer * cache->sequences + seq];
    bool again = layer == 0 && position < *highest;
    if (position >= *highest) *highest = position + 1;
    w->real->place(cache, layer, seq, position, k, v);
    if (again) *k = *v = w->scratch;
}
