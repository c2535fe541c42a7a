/* What fast attention looks at: a tile of queries, and sixteen rows of K or V at a time. */
#ifndef KVSTEP_KERNELS_FAST_TILE_H
#define KVSTEP_KERNELS_FAST_TILE_H

#include "core/kernels/fast.h"

enum { KEYS = 16, VISIBLE = 0xFFFF };

/* A tile of queries at work; the arrays are cut from Attention.scratch. */
typedef struct {
    const Attention *a;
    size_t first, count; /* queries of the call */
    size_t stride;       /* keys in whole tiles */
    float *weight;       /* [count][heads][stride]: scores, then exp(score - m) */
    float *den;          /* [count][heads] */
} Queries;

/* What one thread needs to look at a tile of keys. */
typedef struct {
    float *widened; /* [KEYS][k_size or v_size] */
    float *whole;   /* [kv_heads][k_size or v_size] */
    float *dropped; /* [v_size]: what masked pairs produce when dense */
} Desk;

/* Sixteen rows of K or V; rows that nobody may read are NULL. */
typedef struct {
    const void *stored[KEYS];
    const float *row[KEYS]; /* one head's slice, widened; never NULL */
    unsigned there;         /* bit j: stored[j] is not NULL */
} Tile;

static inline size_t position_of(const Queries *w, size_t t) {
    return w->a->position[w->first + t];
}

/* Bit j: query t sees key base + j. */
static inline unsigned seen_in(const Queries *w, size_t t, size_t base) {
    const LayerRule *rule = w->a->rule;
    const size_t p = position_of(w, t);
    if (p >= base + KEYS - 1 && p - base < rule->recent) return VISIBLE;
    unsigned seen = 0;
    for (size_t j = 0; j < KEYS; j++)
        seen |= (unsigned)rule_sees(rule, p, base + j) << j;
    return seen;
}

/* Looks the rows up that some query needs; false: there are none. */
static inline bool find_rows(const Queries *w, size_t base, bool values, Tile *tile) {
    const Attention *a = w->a;
    const size_t left = a->rows->end - base;
    tile->there = 0;
    for (size_t t = 0; t < w->count && tile->there != VISIBLE; t++)
        tile->there |= a->dense ? VISIBLE : seen_in(w, t, base);
    if (left < KEYS) tile->there &= (1u << left) - 1u;
    Span span = {0};
    for (size_t j = 0; j < KEYS; j++) {
        const size_t key = base + j;
        tile->stored[j] = NULL;
        if (!(tile->there >> j & 1)) continue;
        if (key < span.first || key - span.first >= span.count)
            a->rows->at(a->rows, key, &span);
        const size_t r = key - span.first;
        tile->stored[j] = values ? (const char *)span.v + r * span.v_step
                                 : (const char *)span.k + r * span.k_step;
    }
    return tile->there;
}

/* Points tile->row at numbers first to first + count - 1 of the rows, all of one head; rows
 * that are not there get another one's, whose results nobody uses. */
static inline void widen_slice(const Queries *w, const Desk *desk, Tile *tile,
                               size_t base, bool values, size_t first, size_t count) {
    const Attention *a = w->a;
    const Format *format = values ? a->rule->v : a->rule->k;
    const size_t size = values ? a->v_size : a->k_size;
    const bool turn = !values && !a->rule->keys_turned;
    const float *any = NULL;
    for (size_t j = 0; j < KEYS; j++) {
        const void *stored = tile->stored[j];
        float *to = desk->widened + j * size;
        if (!stored) continue;
        if (format == &format_f32 && !turn) {
            tile->row[j] = (const float *)stored + first;
        } else {
            FAST(fast_widen)
            (format, stored, a->kv_heads, size, first, count, to, desk->whole);
            if (turn) FAST(fast_turn)(a->rope, base + j, 1, size, to);
            tile->row[j] = to;
        }
        any = tile->row[j];
    }
    for (size_t j = 0; j < KEYS; j++)
        if (!tile->stored[j]) tile->row[j] = any;
}

#endif
