/* The kernels that work on each row, or each element, by itself. */
#include "core/kernels/exp.h"
#include "core/kernels/naive.h"
#include "core/kernels/sum.h"

void NAIVE(naive_embed)(const Kernels *kernels, const Matrix *table, const int *token,
                        size_t n, float *out) {
    (void)kernels;
    for (size_t t = 0; t < n; t++)
        table->format->unpack(matrix_row(table, (size_t)token[t]), 0, 1, 1, table->cols,
                              out + t * table->cols);
}

void NAIVE(naive_rms_norm)(const Kernels *kernels, const float *x, const float *w,
                           float eps, size_t n, size_t size, float *out) {
    (void)kernels;
    for (size_t t = 0; t < n; t++, x += size, out += size) {
        float r = 1.0f / sqrtf(dot(x, x, size) / (float)size + eps);
        for (size_t i = 0; i < size; i++) out[i] = (x[i] * r) * w[i];
    }
}

void NAIVE(naive_turn)(const RopeTable *table, size_t position, size_t heads,
                       size_t size, float *row) {
    const float *cos = table->cos + position * (table->rot / 2);
    const float *sin = table->sin + position * (table->rot / 2);
    for (size_t h = 0; h < heads; h++, row += size)
        for (size_t i = 0; i < table->rot / 2; i++) {
            float a = row[2 * i], b = row[2 * i + 1], c = cos[i], s = sin[i];
            row[2 * i] = fmaf(a, c, -(b * s));
            row[2 * i + 1] = fmaf(b, c, a * s);
        }
}

void NAIVE(naive_rope)(const Kernels *kernels, const RopeTable *table,
                       const size_t *position, size_t n, size_t heads, size_t size,
                       float *x) {
    (void)kernels;
    for (size_t t = 0; t < n; t++)
        NAIVE(naive_turn)(table, position[t], heads, size, x + t * heads * size);
}

bool NAIVE(naive_store)(const Kernels *kernels, const Format *format, const float *row,
                        size_t heads, size_t size, void *to) {
    (void)kernels;
    return format->pack(row, heads, size, to);
}

void NAIVE(naive_swiglu)(const Kernels *kernels, float *gate, const float *up,
                         size_t count) {
    (void)kernels;
    for (size_t i = 0; i < count; i++)
        gate[i] = (gate[i] / (1.0f + exp_f32(-gate[i]))) * up[i];
}

void NAIVE(naive_add)(const Kernels *kernels, float *x, const float *y, size_t count) {
    (void)kernels;
    for (size_t i = 0; i < count; i++) x[i] = x[i] + y[i];
}

const Kernels NAIVE(naive_kernels) = {
    .name = "naive",
    .threads = 1,
    .embed = NAIVE(naive_embed),
    .rms_norm = NAIVE(naive_rms_norm),
    .matmul = NAIVE(naive_matmul),
    .rope = NAIVE(naive_rope),
    .store = NAIVE(naive_store),
    .attention = NAIVE(naive_attention),
    .swiglu = NAIVE(naive_swiglu),
    .add = NAIVE(naive_add),
};
