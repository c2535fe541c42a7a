/* Attention in two passes, a few queries at a time. Keys come in tiles of the sixteen
 * positions 16 b to 16 b + 15, so that a lane of the denominator is a position mod 16, and the
 * scores of a tile are sixteen sums at once. A tile of rows is looked up once, one KV
 * head of it is widened into the first cache, and all queries and heads that share it meet
 * it there; tiles that no query sees are not touched.
 *
 * Threads: many queries are shared out. Of a few, the keys are (scores), then the heads
 * (softmax), then the columns of V (outputs), which works with a single head, too. */
#include "core/base/memory.h"
#include "core/kernels/fast_tile.h"
#include "core/kernels/fast_widen.h"
#include "core/kernels/threads.h"

/* Sixteen dot products with one query; as many at a time as registers are plenty. */
LANES_INLINE Lanes sixteen_dots(const float *q, const float *const row[KEYS],
                                size_t n) {
    enum { TOGETHER = REGISTERS == 1 ? 8 : 4 };
    Lanes sum[KEYS];
    LANES_UNROLL for (size_t j = 0; j < KEYS; j += TOGETHER) {
        size_t i = 0;
        LANES_UNROLL for (size_t k = j; k < j + TOGETHER; k++) sum[k] = lanes_all(0);
        for (; i + 16 <= n; i += 16) {
            const Lanes a = lanes_load(q + i);
            LANES_UNROLL for (size_t k = j; k < j + TOGETHER; k++) sum[k] =
                lanes_fma(a, lanes_load(row[k] + i), sum[k]);
        }
        if (i == n) continue;
        const Lanes a = lanes_load_some(q + i, n - i);
        LANES_UNROLL for (size_t k = j; k < j + TOGETHER; k++) sum[k] =
            lanes_fma_some(a, lanes_load_some(row[k] + i, n - i), sum[k], n - i);
    }
    return lanes_sums(sum);
}

static void score_tile(const Queries *w, const Desk *desk, Tile *tile, size_t base) {
    const Attention *a = w->a;
    const size_t group = a->heads / a->kv_heads, size = a->k_size;
    const Lanes scale = lanes_all(a->scale);
    for (size_t kv = 0; kv < a->kv_heads; kv++) {
        widen_slice(w, desk, tile, base, false, kv * size, size);
        for (size_t t = 0; t < w->count; t++)
            for (size_t h = kv * group; h < (kv + 1) * group; h++) {
                const size_t q = ((w->first + t) * a->heads + h) * size;
                float *score = w->weight + (t * a->heads + h) * w->stride + base;
                lanes_store(score,
                            lanes_mul(sixteen_dots(a->q + q, tile->row, size), scale));
                if (base >= a->rule->sinks) continue;
                const size_t sinks = a->rule->sinks - base; /* of this tile */
                const Lanes sink =
                    lanes_mul(sixteen_dots(a->q_sink + q, tile->row, size), scale);
                if (sinks < KEYS)
                    lanes_store_some(score, sink, sinks);
                else
                    lanes_store(score, sink);
            }
    }
}

static void score_keys(const Queries *w, const Desk *desk, size_t first, size_t end) {
    Tile tile;
    for (size_t base = first; base < end; base += KEYS)
        if (find_rows(w, base, false, &tile)) score_tile(w, desk, &tile, base);
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

static void show_probabilities(const Queries *w, size_t t, size_t h) {
    const Attention *a = w->a;
    const float den = w->den[t * a->heads + h];
    const float *weight = w->weight + (t * a->heads + h) * w->stride;
    float *probs = a->probs + ((w->first + t) * a->heads + h) * a->rows->end;
    for (size_t key = 0; key < a->rows->end; key++)
        probs[key] = rule_sees(a->rule, position_of(w, t), key) ? weight[key] / den : 0;
}

static void weigh_heads(const Queries *w, size_t first, size_t end) {
    const Attention *a = w->a;
    for (size_t t = 0; t < w->count; t++) {
        const Seen s = seen_by(a->rule, position_of(w, t));
        for (size_t h = first; h < end; h++) {
            float *weight = w->weight + (t * a->heads + h) * w->stride, sum[16] = {0};
            float largest = largest_of(weight, s.sinks, -INFINITY);
            largest = largest_of(weight + s.recent, s.end - s.recent, largest);
            FAST(fast_exp)(weight, s.sinks, largest);
            FAST(fast_exp)(weight + s.recent, s.end - s.recent, largest);
            add_weights(weight, 0, s.sinks, sum);
            add_weights(weight, s.recent, s.end, sum);
            w->den[t * a->heads + h] = lanes_sum(lanes_load(sum));
            if (a->probs) show_probabilities(w, t, h);
        }
    }
}

/* out[c] = fma(weight[j], row[j][c], out[c]) for the keys j of the mask in turn, for
 * `wide` vectors of columns; some > 0: the last one has that many. */
LANES_INLINE void add_columns(const float *weight, const float *const row[KEYS],
                              unsigned keys, size_t c, size_t wide, size_t some,
                              float *out) {
    Lanes sum[4];
    LANES_UNROLL for (size_t k = 0; k < wide; k++) sum[k] =
        some ? lanes_load_some(out + c + 16 * k, some) : lanes_load(out + c + 16 * k);
    for (size_t j = 0; j < KEYS; j++) {
        if (!(keys >> j & 1)) continue;
        const Lanes a = lanes_all(weight[j]);
        const float *v = row[j] + c;
        LANES_UNROLL for (size_t k = 0; k < wide; k++) sum[k] = lanes_fma(
            a, some ? lanes_load_some(v + 16 * k, some) : lanes_load(v + 16 * k),
            sum[k]);
    }
    LANES_UNROLL for (size_t k = 0; k < wide; k++) if (some)
        lanes_store_some(out + c + 16 * k, sum[k], some);
    else lanes_store(out + c + 16 * k, sum[k]);
}

static void add_rows(const float *weight, const float *const row[KEYS], unsigned keys,
                     size_t n, float *out) {
    size_t c = 0;
    for (; c + 64 <= n; c += 64) add_columns(weight, row, keys, c, 4, 0, out);
    for (; c + 16 <= n; c += 16) add_columns(weight, row, keys, c, 1, 0, out);
    if (c < n) add_columns(weight, row, keys, c, 1, n - c, out);
}

/* Columns first to first + count - 1 of the rows of V, all of KV head kv. */
static void value_tile(const Queries *w, const Desk *desk, Tile *tile, size_t base,
                       size_t kv, size_t first, size_t count) {
    const Attention *a = w->a;
    const size_t group = a->heads / a->kv_heads, in_head = first - kv * a->v_size;
    widen_slice(w, desk, tile, base, true, first, count);
    for (size_t t = 0; t < w->count; t++) {
        const unsigned seen = seen_in(w, t, base) & tile->there;
        const unsigned masked = a->dense ? tile->there & ~seen : 0;
        for (size_t h = kv * group; h < (kv + 1) * group; h++) {
            const float *weight = w->weight + (t * a->heads + h) * w->stride + base;
            float *out = a->out + ((w->first + t) * a->heads + h) * a->v_size + in_head;
            if (seen) add_rows(weight, tile->row, seen, count, out);
            if (masked) add_rows(weight, tile->row, masked, count, desk->dropped);
        }
    }
}

/* out = out / den in columns first to first + count - 1 of KV head kv; before: out = 0. */
static void set_outputs(const Queries *w, size_t kv, size_t first, size_t count,
                        bool divide) {
    const Attention *a = w->a;
    const size_t group = a->heads / a->kv_heads, in_head = first - kv * a->v_size;
    for (size_t t = 0; t < w->count; t++)
        for (size_t h = kv * group; h < (kv + 1) * group; h++) {
            float *out = a->out + ((w->first + t) * a->heads + h) * a->v_size + in_head;
            const float den = divide ? w->den[t * a->heads + h] : 0;
            for (size_t i = 0; i < count; i++) out[i] = den == 0 ? 0 : out[i] / den;
        }
}

/* The part of columns first to end - 1 that KV head kv has; its count may be 0. */
static Share columns_of(const Attention *a, size_t kv, size_t first, size_t end) {
    const size_t from = kv * a->v_size, to = from + a->v_size;
    const Share share = {first > from ? first : from, end < to ? end : to};
    return share.first < share.end ? share : (Share){from, from};
}

static void value_columns(const Queries *w, const Desk *desk, size_t first,
                          size_t end) {
    const Attention *a = w->a;
    Tile tile;
    for (size_t i = 0; i < a->v_size; i++) desk->dropped[i] = 0;
    for (size_t kv = 0; kv < a->kv_heads; kv++) {
        const Share c = columns_of(a, kv, first, end);
        set_outputs(w, kv, c.first, c.end - c.first, false);
    }
    for (size_t base = 0; base < a->rows->end; base += KEYS) {
        if (!find_rows(w, base, true, &tile)) continue;
        for (size_t kv = 0; kv < a->kv_heads; kv++) {
            const Share c = columns_of(a, kv, first, end);
            if (c.first < c.end)
                value_tile(w, desk, &tile, base, kv, c.first, c.end - c.first);
        }
    }
    for (size_t kv = 0; kv < a->kv_heads; kv++) {
        const Share c = columns_of(a, kv, first, end);
        set_outputs(w, kv, c.first, c.end - c.first, true);
    }
}

/* A call, and the scratch of its threads. */
typedef struct {
    const Attention *a;
    Queries few; /* where threads share one tile of queries */
    size_t each; /* floats of scratch a thread */
} Call;

static Queries queries_of(const Call *call, size_t part, size_t first) {
    const Attention *a = call->a;
    Queries w = {.a = a,
                 .first = first,
                 .count =
                     a->n - first < KERNELS_QUERIES ? a->n - first : KERNELS_QUERIES,
                 .stride = (a->rows->end + KEYS - 1) / KEYS * KEYS,
                 .weight = a->scratch + part * call->each};
    w.den = w.weight + KERNELS_QUERIES * a->heads * w.stride;
    return w;
}

static Desk desk_of(const Call *call, size_t part) {
    const Attention *a = call->a;
    const size_t wide = a->k_size > a->v_size ? a->k_size : a->v_size;
    Desk desk = {.dropped = queries_of(call, part, 0).den + KERNELS_QUERIES * a->heads};
    desk.widened = desk.dropped + wide;
    desk.whole = desk.widened + KEYS * wide;
    return desk;
}

static void share_queries(void *context, size_t part, size_t parts) {
    const Call *call = context;
    const Attention *a = call->a;
    const Desk desk = desk_of(call, part);
    /* Later queries see more: tiles are dealt out like cards. */
    for (size_t first = part * KERNELS_QUERIES; first < a->n;
         first += parts * KERNELS_QUERIES) {
        const Queries w = queries_of(call, part, first);
        score_keys(&w, &desk, 0, a->rows->end);
        weigh_heads(&w, 0, a->heads);
        value_columns(&w, &desk, 0, a->kv_heads * a->v_size);
    }
}

static void share_scores(void *context, size_t part, size_t parts) {
    const Call *call = context;
    const Desk desk = desk_of(call, part);
    const Share keys = threads_share(call->a->rows->end, KEYS, part, parts);
    score_keys(&call->few, &desk, keys.first, keys.end);
}

static void share_heads(void *context, size_t part, size_t parts) {
    const Call *call = context;
    const Share heads = threads_share(call->a->heads, 1, part, parts);
    weigh_heads(&call->few, heads.first, heads.end);
}

static void share_values(void *context, size_t part, size_t parts) {
    const Call *call = context;
    const Attention *a = call->a;
    const Desk desk = desk_of(call, part);
    const Share columns = threads_share(a->kv_heads * a->v_size, 16, part, parts);
    value_columns(&call->few, &desk, columns.first, columns.end);
}

bool FAST(fast_attention_scratch)(const LayerShape *shape, size_t keys,
                                  size_t *floats) {
    const size_t wide = shape->k_size > shape->v_size ? shape->k_size : shape->v_size;
    size_t scores = shape->heads, whole = shape->kv_heads, tile = wide,
           den = shape->heads;
    return keys <= SIZE_MAX - 15 && size_times(&scores, (keys + 15) / 16 * 16) &&
           size_times(&scores, KERNELS_QUERIES) && size_times(&den, KERNELS_QUERIES) &&
           size_times(&whole, wide) && size_times(&tile, KEYS + 1) &&
           !__builtin_add_overflow(scores, den, floats) &&
           !__builtin_add_overflow(*floats, tile, floats) &&
           !__builtin_add_overflow(*floats, whole, floats);
}

void FAST(fast_attention)(const Kernels *kernels, const Attention *a) {
    const LayerShape shape = {a->heads, a->kv_heads, a->k_size, a->v_size, 0, 0};
    const size_t work = a->n * a->heads * a->rows->end * (a->k_size + a->v_size);
    const bool many = a->n >= kernels->threads * KERNELS_QUERIES;
    const size_t threads = threads_worth(kernels->threads, many ? work : work / 3);
    Call call = {.a = a};
    FAST(fast_attention_scratch)(&shape, a->rows->end, &call.each);
    if (threads == 1 || many) {
        threads_run(threads, share_queries, &call);
        return;
    }
    for (size_t first = 0; first < a->n; first += KERNELS_QUERIES) {
        call.few = queries_of(&call, 0, first);
        threads_run(threads, share_scores, &call);
        threads_run(threads, share_heads, &call);
        threads_run(threads, share_values, &call);
    }
}
