#include "core/count/formula.h"
#include "core/base/memory.h"

/* 1 + 2 + ... + n */
static uint64_t triangle(uint64_t n) {
    return n % 2 ? (n + 1) / 2 * n : n / 2 * (n + 1);
}

/* sum of min(p + 1, most) over 0 <= p < end */
static uint64_t sum_visible(uint64_t most, uint64_t end) {
    return end <= most ? triangle(end) : triangle(most) + (end - most) * most;
}

uint64_t formula_pairs(const LayerRule *rule, size_t first, size_t n, bool dense) {
    if (dense) return (uint64_t)n * (first + n);
    size_t most;
    if (__builtin_add_overflow(rule->sinks, rule->recent, &most)) most = RULE_ALL;
    return sum_visible(most, first + n) - sum_visible(most, first);
}

uint64_t formula_rows_seen(const LayerRule *rule, size_t first, size_t n) {
    size_t end = first + n;
    size_t low = first < rule->recent ? 0 : first - rule->recent + 1;
    return low <= rule->sinks ? end : rule->sinks + (end - low);
}

uint64_t formula_row_bytes(const LayerShape *shape, const LayerRule *rule) {
    return rule->k->row_bytes(shape->kv_heads, shape->k_size) +
           rule->v->row_bytes(shape->kv_heads, shape->v_size);
}

static void layer_rows(const Shape *s, const LayerShape *l, const LayerRule *rule,
                       const FormulaRows *rows, Counters *sum) {
    uint64_t d = s->dim, n = rows->n;
    uint64_t q = l->heads * l->k_size, out = l->heads * l->v_size;
    uint64_t kv = l->kv_heads * l->k_size + l->kv_heads * l->v_size;
    uint64_t pairs = formula_pairs(rule, rows->first, rows->n, rows->dense);
    uint64_t visible = formula_pairs(rule, rows->first, rows->n, false);
    uint64_t seen = formula_rows_seen(rule, rows->first, rows->n);
    sum->flops[PART_QKV] += 2 * n * (q + kv) * d;
    sum->flops[PART_OUTPUT] += 2 * n * out * d;
    sum->flops[PART_MLP] += 2 * n * 3 * d * l->hidden;
    sum->flops[PART_SCORES] += 2 * pairs * q;
    sum->flops[PART_VALUES] += 2 * pairs * out;

    uint64_t queries_turned = rule->sinks ? 2 * l->heads : l->heads;
    uint64_t keys_turned = l->kv_heads * (rule->keys_turned ? n : seen);
    sum->elementwise += n * (2 * d + l->hidden + 2 * d) + visible * l->heads +
                        s->rot * (n * queries_turned + keys_turned);
    if (rows->cache) {
        sum->kv_bytes_written += n * formula_row_bytes(l, rule);
        sum->kv_bytes_read += seen * formula_row_bytes(l, rule);
    }
}

void formula_rows(const Shape *shape, const Rule *rule, const FormulaRows *rows,
                  Counters *sum) {
    for (size_t l = 0; l < shape->layers; l++)
        layer_rows(shape, &shape->layer[l], &rule->layer[l], rows, sum);
    sum->flops[PART_LOGITS] += 2 * (uint64_t)rows->logits * shape->dim * shape->vocab;
    sum->elementwise += rows->logits * shape->dim;
}

void formula_weights(const Shape *shape, const Format *format, size_t distinct,
                     bool logits, Counters *sum) {
    uint64_t dim_row = format->row_bytes(1, shape->dim),
             norm = shape->dim * sizeof(float);
    uint64_t bytes = distinct * dim_row;
    for (size_t i = 0; i < shape->layers; i++) {
        const LayerShape *l = &shape->layer[i];
        uint64_t from_dim = l->heads * l->k_size + l->kv_heads * l->k_size +
                            l->kv_heads * l->v_size + 2 * l->hidden;
        bytes += from_dim * dim_row + 2 * norm +
                 shape->dim * (format->row_bytes(1, l->heads * l->v_size) +
                               format->row_bytes(1, l->hidden));
    }
    if (logits) bytes += shape->vocab * dim_row + norm;
    sum->weight_bytes_read += bytes;
}

bool formula_cache_bytes(const Shape *shape, const Rule *rule, size_t sequences,
                         size_t rows, size_t *bytes) {
    *bytes = 0;
    for (size_t l = 0; l < shape->layers; l++) {
        size_t layer = (size_t)formula_row_bytes(&shape->layer[l], &rule->layer[l]);
        if (!size_times(&layer, sequences) || !size_times(&layer, rows) ||
            __builtin_add_overflow(*bytes, layer, bytes))
            return false;
    }
    return true;
}

size_t formula_grown_rows(Growth growth, size_t held, size_t needed, size_t capacity) {
    size_t rows = needed;
    if (growth == GROWTH_DOUBLE && held > 0 && needed < 2 * held) rows = 2 * held;
    if (growth == GROWTH_256) rows = (needed + 255) / 256 * 256;
    return rows < capacity ? rows : capacity;
}

size_t formula_ring_slots(const LayerRule *rule, size_t capacity, size_t chunk) {
    size_t slots;
    if (__builtin_add_overflow(rule->sinks, rule->recent, &slots) ||
        __builtin_add_overflow(slots, chunk, &slots))
        return capacity;
    return slots - 1 < capacity ? slots - 1 : capacity;
}

bool formula_ring_bytes(const Shape *shape, const Rule *rule, size_t sequences,
                        size_t capacity, size_t chunk, size_t *bytes) {
    *bytes = 0;
    for (size_t l = 0; l < shape->layers; l++) {
        size_t layer = (size_t)formula_row_bytes(&shape->layer[l], &rule->layer[l]);
        if (!size_times(&layer, sequences) ||
            !size_times(&layer, formula_ring_slots(&rule->layer[l], capacity, chunk)) ||
            __builtin_add_overflow(*bytes, layer, bytes))
            return false;
    }
    return true;
}

bool formula_paged_blocks(size_t sequences, size_t capacity, size_t block_size,
                          size_t *blocks) {
    *blocks = capacity / block_size + (capacity % block_size != 0);
    return size_times(blocks, sequences);
}

bool formula_paged_bytes(const Shape *shape, const Rule *rule, size_t blocks,
                         size_t block_size, size_t *bytes) {
    return formula_cache_bytes(shape, rule, blocks, block_size, bytes);
}

uint64_t formula_live_bytes(const Shape *shape, const Rule *rule, size_t length) {
    uint64_t bytes = 0;
    for (size_t l = 0; length > 0 && l < shape->layers; l++)
        bytes += rule_visible(&rule->layer[l], length - 1) *
                 formula_row_bytes(&shape->layer[l], &rule->layer[l]);
    return bytes;
}
