/* Attention in two passes, a few queries at a time. Keys come in tiles of the sixteen
 * positions 16 b to 16 b + 15, so that a lane of the denominator is a position mod 16. A
 * tile of rows is found (or widened) once and then met by every query and head of the
 * tile of queries; rows that none of them sees are not touched. */
#include "core/kernels/fast.h"
#include "core/kernels/lanes.h"

enum { KEYS = 16 };

/* A tile of queries at work; the arrays are cut from Attention.scratch. */
typedef struct {
    const Attention *a;
    size_t first, count; /* queries of the call */
    size_t stride;       /* keys in whole tiles */
    float *weight;       /* [count][heads][stride]: scores, then exp(score - m) */
    float *widened;      /* [KEYS][kv_heads][k_size or v_size] */
    float *den;          /* [count][heads] */
    float *dropped;      /* [v_size]: what masked pairs produce when dense */
} Work;

static size_t position_of(const Work *w, size_t t) {
    return w->a->position[w->first + t];
}

static bool is_needed(const Work *w, size_t key) {
    if (w->a->dense) return true;
    for (size_t t = 0; t < w->count; t++)
        if (rule_sees(w->a->rule, position_of(w, t), key)) return true;
    return false;
}

/* Points row[j] at the widened row of key base + j, NULL where no query needs it. */
static bool find_rows(const Work *w, size_t base, bool values, const float *row[KEYS]) {
    const Attention *a = w->a;
    const Format *format = values ? a->rule->v : a->rule->k;
    const size_t size = values ? a->v_size : a->k_size, wide = a->kv_heads * size;
    const bool turn = !values && !a->rule->keys_turned;
    bool any = false;
    Span span = {0};
    for (size_t j = 0; j < KEYS; j++) {
        const size_t key = base + j;
        row[j] = NULL;
        if (key >= a->rows->end || !is_needed(w, key)) continue;
        if (key < span.first || key - span.first >= span.count)
            a->rows->at(a->rows, key, &span);
        const size_t r = key - span.first;
        const void *stored = values ? (const char *)span.v + r * span.v_step
                                    : (const char *)span.k + r * span.k_step;
        any = true;
        row[j] = stored;
        if (format == &format_f32 && !turn) continue;
        float *tile = w->widened + j * wide;
        format->unpack(stored, 0, 1, a->kv_heads, size, tile);
        if (turn) FAST(fast_turn)(a->rope, key, a->kv_heads, size, tile);
        row[j] = tile;
    }
    return any;
}

LANES_INLINE float dot_lanes(const float *a, const float *b, size_t n) {
    Lanes sum = lanes_all(0);
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        sum = lanes_fma(lanes_load(a + i), lanes_load(b + i), sum);
    if (i < n)
        sum = lanes_fma_some(lanes_load_some(a + i, n - i),
                             lanes_load_some(b + i, n - i), sum, n - i);
    return lanes_sum(sum);
}

/* Four keys against one query share each load of it. */
LANES_INLINE void four_dots(const float *q, const float *const *k, size_t offset,
                            size_t n, float scale, float *score) {
    Lanes sum[4];
    for (size_t j = 0; j < 4; j++) sum[j] = lanes_all(0);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        Lanes a = lanes_load(q + i);
        for (size_t j = 0; j < 4; j++)
            sum[j] = lanes_fma(a, lanes_load(k[j] + offset + i), sum[j]);
    }
    const size_t left = n - i;
    for (size_t j = 0; left > 0 && j < 4; j++)
        sum[j] = lanes_fma_some(lanes_load_some(q + i, left),
                                lanes_load_some(k[j] + offset + i, left), sum[j], left);
    for (size_t j = 0; j < 4; j++) score[j] = lanes_sum(sum[j]) * scale;
}

/* Keys base to base + n - 1 of this tile that a query computes: all it sees, which is one
 * run or two, or all rows when dense. */
static bool computes(const Work *w, size_t t, size_t key) {
    return w->a->dense || rule_sees(w->a->rule, position_of(w, t), key);
}

static void score_tile(const Work *w, size_t base, const float *const row[KEYS]) {
    const Attention *a = w->a;
    const size_t group = a->heads / a->kv_heads, size = a->k_size;
    for (size_t t = 0; t < w->count; t++) {
        const size_t at = (w->first + t) * a->heads * size;
        bool mine[KEYS];
        for (size_t j = 0; j < KEYS; j++) mine[j] = row[j] && computes(w, t, base + j);
        for (size_t h = 0; h < a->heads; h++) {
            float *score = w->weight + (t * a->heads + h) * w->stride + base;
            const size_t offset = h / group * size;
            for (size_t j = 0; j < KEYS; j += 4) {
                const bool sink = base + j < a->rule->sinks;
                const float *q = (sink ? a->q_sink : a->q) + at + h * size;
                const bool alike = sink == (base + j + 3 < a->rule->sinks);
                if (alike && mine[j] && mine[j + 1] && mine[j + 2] && mine[j + 3]) {
                    four_dots(q, row + j, offset, size, a->scale, score + j);
                    continue;
                }
                for (size_t i = j; i < j + 4; i++)
                    if (mine[i])
                        score[i] =
                            dot_lanes((base + i < a->rule->sinks ? a->q_sink : a->q) +
                                          at + h * size,
                                      row[i] + offset, size) *
                            a->scale;
            }
        }
    }
}

/* What a query sees: keys 0 to sinks - 1 and from `recent` on, up to itself. */
typedef struct {
    size_t sinks, recent, end;
} Seen;

static Seen seen_by(const LayerRule *rule, size_t position) {
    const size_t end = position + 1;
    const size_t recent = end > rule->recent ? end - rule->recent : 0;
    const size_t sinks = rule->sinks < end ? rule->sinks : end;
    return (Seen){recent > sinks ? sinks : 0, recent > sinks ? recent : 0, end};
}

/* Sixteen comparisons side by side; the largest does not depend on their order. */
static float largest_of(const float *x, size_t n, float largest) {
    float most[16];
    size_t i = 0;
    for (size_t j = 0; j < 16; j++) most[j] = largest;
    for (; i + 16 <= n; i += 16)
        for (size_t j = 0; j < 16; j++)
            most[j] = x[i + j] > most[j] ? x[i + j] : most[j];
    for (size_t j = 0; i + j < n; j++)
        most[j] = x[i + j] > most[j] ? x[i + j] : most[j];
    for (size_t j = 0; j < 16; j++) largest = most[j] > largest ? most[j] : largest;
    return largest;
}

/* weight[key] for keys first to end - 1, added by position mod 16. */
static void add_weights(const float *weight, size_t first, size_t end, float sum[16]) {
    size_t key = first;
    for (; key < end && key % 16 != 0; key++) sum[key % 16] += weight[key];
    for (; key + 16 <= end; key += 16)
        for (size_t j = 0; j < 16; j++) sum[j] += weight[key + j];
    for (; key < end; key++) sum[key % 16] += weight[key];
}

static void weigh(const Work *w) {
    const Attention *a = w->a;
    for (size_t t = 0; t < w->count; t++) {
        const Seen s = seen_by(a->rule, position_of(w, t));
        for (size_t h = 0; h < a->heads; h++) {
            float *weight = w->weight + (t * a->heads + h) * w->stride, sum[16] = {0};
            float largest = largest_of(weight, s.sinks, -INFINITY);
            largest = largest_of(weight + s.recent, s.end - s.recent, largest);
            FAST(fast_exp)(weight, s.sinks, largest);
            FAST(fast_exp)(weight + s.recent, s.end - s.recent, largest);
            add_weights(weight, 0, s.sinks, sum);
            add_weights(weight, s.recent, s.end, sum);
            w->den[t * a->heads + h] = lanes_sum(lanes_load(sum));
        }
    }
}

/* out[c] = fma(weight[j], v_j[c], out[c]) for the keys of a tile in turn. */
LANES_INLINE void add_rows(const float *weight, const float *const *row,
                           const bool *visible, size_t offset, size_t n, float *out) {
    size_t c = 0;
    for (; c + 16 <= n; c += 16) {
        Lanes sum = lanes_load(out + c);
        for (size_t j = 0; j < KEYS; j++)
            if (visible[j])
                sum = lanes_fma(lanes_all(weight[j]), lanes_load(row[j] + offset + c),
                                sum);
        lanes_store(out + c, sum);
    }
    if (c == n) return;
    Lanes sum = lanes_load_some(out + c, n - c);
    for (size_t j = 0; j < KEYS; j++)
        if (visible[j])
            sum = lanes_fma(lanes_all(weight[j]),
                            lanes_load_some(row[j] + offset + c, n - c), sum);
    lanes_store_some(out + c, sum, n - c);
}

static void value_tile(const Work *w, size_t base, const float *const row[KEYS]) {
    const Attention *a = w->a;
    const size_t group = a->heads / a->kv_heads, size = a->v_size;
    for (size_t t = 0; t < w->count; t++) {
        bool visible[KEYS], masked[KEYS], any = false;
        for (size_t j = 0; j < KEYS; j++) {
            visible[j] = row[j] && rule_sees(a->rule, position_of(w, t), base + j);
            masked[j] = a->dense && row[j] && !visible[j];
            any |= masked[j];
        }
        float *out = a->out + (w->first + t) * a->heads * size;
        for (size_t h = 0; h < a->heads; h++) {
            const float *weight = w->weight + (t * a->heads + h) * w->stride + base;
            add_rows(weight, row, visible, h / group * size, size, out + h * size);
            if (any) add_rows(weight, row, masked, h / group * size, size, w->dropped);
        }
    }
}

static void finish(const Work *w) {
    const Attention *a = w->a;
    for (size_t t = 0; t < w->count; t++)
        for (size_t h = 0; h < a->heads; h++) {
            const float den = w->den[t * a->heads + h];
            const size_t at = (w->first + t) * a->heads + h;
            float *out = a->out + at * a->v_size;
            for (size_t i = 0; i < a->v_size; i++) out[i] = den == 0 ? 0 : out[i] / den;
            if (!a->probs) continue;
            const float *weight = w->weight + (t * a->heads + h) * w->stride;
            for (size_t key = 0; key < a->rows->end; key++)
                a->probs[at * a->rows->end + key] =
                    rule_sees(a->rule, position_of(w, t), key) ? weight[key] / den : 0;
        }
}

static void run_queries(const Work *w) {
    const Attention *a = w->a;
    const size_t outs = w->count * a->heads * a->v_size;
    float *out = a->out + w->first * a->heads * a->v_size;
    const float *row[KEYS];
    for (size_t base = 0; base < a->rows->end; base += KEYS)
        if (find_rows(w, base, false, row)) score_tile(w, base, row);
    weigh(w);
    for (size_t i = 0; i < outs; i++) out[i] = 0;
    for (size_t base = 0; base < a->rows->end; base += KEYS)
        if (find_rows(w, base, true, row)) value_tile(w, base, row);
    finish(w);
}

void FAST(fast_attention)(const Kernels *kernels, const Attention *a) {
    (void)kernels;
    const size_t wide = a->k_size > a->v_size ? a->k_size : a->v_size;
    Work w = {.a = a,
              .stride = (a->rows->end + KEYS - 1) / KEYS * KEYS,
              .weight = a->scratch};
    w.widened = w.weight + KERNELS_QUERIES * a->heads * w.stride;
    w.den = w.widened + KEYS * a->kv_heads * wide;
    w.dropped = w.den + KERNELS_QUERIES * a->heads;
    for (size_t i = 0; i < a->v_size; i++) w.dropped[i] = 0;
    for (; w.first < a->n; w.first += w.count) {
        w.count = a->n - w.first < KERNELS_QUERIES ? a->n - w.first : KERNELS_QUERIES;
        run_queries(&w);
    }
}
