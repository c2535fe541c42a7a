#include "core/count/counted.h"

static const Counted *self(const Kernels *kernels) {
    return (const Counted *)kernels; /* table is the first member */
}

/* The embedding rows of distinct tokens; batches are short, so a plain search does. */
static size_t distinct(const int *token, size_t n) {
    size_t count = 0;
    for (size_t t = 0; t < n; t++) {
        size_t earlier = 0;
        while (token[earlier] != token[t]) earlier++;
        count += earlier == t;
    }
    return count;
}

static void embed(const Kernels *kernels, const Matrix *table, const int *token,
                  size_t n, float *out) {
    const Counted *c = self(kernels);
    c->counters->weight_bytes_read +=
        distinct(token, n) * table->format->row_bytes(1, table->cols);
    if (c->real) c->real->embed(c->real, table, token, n, out);
}

static void rms_norm(const Kernels *kernels, const float *x, const float *w, float eps,
                     size_t n, size_t size, float *out) {
    const Counted *c = self(kernels);
    if (n > 0) c->counters->weight_bytes_read += size * sizeof *w;
    c->counters->elementwise += n * size;
    if (c->real) c->real->rms_norm(c->real, x, w, eps, n, size, out);
}

static void matmul(const Kernels *kernels, Part part, const Matrix *w, const float *x,
                   size_t n, float *out, float *scratch) {
    const Counted *c = self(kernels);
    if (n > 0) c->counters->weight_bytes_read += matrix_bytes(w);
    c->counters->flops[part] += 2 * (uint64_t)n * w->rows * w->cols;
    if (c->real) c->real->matmul(c->real, part, w, x, n, out, scratch);
}

static void rope(const Kernels *kernels, const RopeTable *table, const size_t *position,
                 size_t n, size_t heads, size_t size, float *x) {
    const Counted *c = self(kernels);
    c->counters->elementwise += n * heads * table->rot;
    if (c->real) c->real->rope(c->real, table, position, n, heads, size, x);
}

static bool store(const Kernels *kernels, const Format *format, const float *row,
                  size_t heads, size_t size, void *to) {
    const Counted *c = self(kernels);
    if (c->cache) c->counters->kv_bytes_written += format->row_bytes(heads, size);
    return c->real ? c->real->store(c->real, format, row, heads, size, to) : true;
}

/* Counts pair by pair and key by key, as the loops run: the closed forms are
 * formula.c's business, and a test holds the two against each other. */
static void count_attention(Counters *sum, const Attention *a, bool cache) {
    size_t end = a->rows->end, visible = 0, seen = 0;
    for (size_t t = 0; t < a->n; t++) visible += rule_visible(a->rule, a->position[t]);
    for (size_t key = 0; key < end; key++) {
        bool any = false;
        for (size_t t = 0; t < a->n && !any; t++)
            any = rule_sees(a->rule, a->position[t], key);
        seen += any;
    }
    uint64_t pairs = a->dense ? a->n * end : visible;
    sum->flops[PART_SCORES] += 2 * pairs * a->heads * a->k_size;
    sum->flops[PART_VALUES] += 2 * pairs * a->heads * a->v_size;
    sum->elementwise += visible * a->heads;
    if (!a->rule->keys_turned) sum->elementwise += seen * a->kv_heads * a->rope->rot;
    if (cache)
        sum->kv_bytes_read += seen * (a->rule->k->row_bytes(a->kv_heads, a->k_size) +
                                      a->rule->v->row_bytes(a->kv_heads, a->v_size));
}

static void attention(const Kernels *kernels, const Attention *a) {
    const Counted *c = self(kernels);
    count_attention(c->counters, a, c->cache);
    if (c->real) c->real->attention(c->real, a);
}

static void swiglu(const Kernels *kernels, float *gate, const float *up, size_t count) {
    const Counted *c = self(kernels);
    c->counters->elementwise += count;
    if (c->real) c->real->swiglu(c->real, gate, up, count);
}

static void add(const Kernels *kernels, float *x, const float *y, size_t count) {
    const Counted *c = self(kernels);
    c->counters->elementwise += count;
    if (c->real) c->real->add(c->real, x, y, count);
}

void counted_init(Counted *counted, const Kernels *real, Counters *counters,
                  bool cache) {
    *counted = (Counted){.table = {.name = real ? real->name : "count",
                                   .threads = real ? real->threads : 1,
                                   .embed = embed,
                                   .rms_norm = rms_norm,
                                   .matmul = matmul,
                                   .rope = rope,
                                   .store = store,
                                   .attention = attention,
                                   .swiglu = swiglu,
                                   .add = add},
                         .real = real,
                         .counters = counters,
                         .cache = cache};
}
