/* The kernels that work on each row, or each element, by itself. Loops of independent
 * elements are left to the compiler, which keeps their operations and their rounding. */
#include "core/kernels/exp.h"
#include "core/kernels/fast.h"
#include "core/kernels/lanes.h"

void FAST(fast_embed)(const Kernels *kernels, const Matrix *table, const int *token,
                      size_t n, float *out) {
    (void)kernels;
    for (size_t t = 0; t < n; t++)
        table->format->unpack(matrix_row(table, (size_t)token[t]), 0, 1, 1, table->cols,
                              out + t * table->cols);
}

static float square_sum(const float *x, size_t size) {
    Lanes sum = lanes_all(0);
    size_t i = 0;
    for (; i + 16 <= size; i += 16) {
        Lanes a = lanes_load(x + i);
        sum = lanes_fma(a, a, sum);
    }
    Lanes a = lanes_load_some(x + i, size - i);
    return lanes_sum(lanes_fma_some(a, a, sum, size - i));
}

void FAST(fast_rms_norm)(const Kernels *kernels, const float *x, const float *w,
                         float eps, size_t n, size_t size, float *out) {
    (void)kernels;
    for (size_t t = 0; t < n; t++, x += size, out += size) {
        const float r = 1.0f / sqrtf(square_sum(x, size) / (float)size + eps);
        for (size_t i = 0; i < size; i++) out[i] = (x[i] * r) * w[i];
    }
}

void FAST(fast_turn)(const RopeTable *table, size_t position, size_t heads, size_t size,
                     float *row) {
    const float *cos = table->cos + position * (table->rot / 2);
    const float *sin = table->sin + position * (table->rot / 2);
    for (size_t h = 0; h < heads; h++, row += size)
        for (size_t i = 0; i < table->rot / 2; i++) {
            float a = row[2 * i], b = row[2 * i + 1], c = cos[i], s = sin[i];
            row[2 * i] = fmaf(a, c, -(b * s));
            row[2 * i + 1] = fmaf(b, c, a * s);
        }
}

void FAST(fast_rope)(const Kernels *kernels, const RopeTable *table,
                     const size_t *position, size_t n, size_t heads, size_t size,
                     float *x) {
    (void)kernels;
    for (size_t t = 0; t < n; t++)
        FAST(fast_turn)(table, position[t], heads, size, x + t * heads * size);
}

bool FAST(fast_store)(const Kernels *kernels, const Format *format, const float *row,
                      size_t heads, size_t size, void *to) {
    (void)kernels;
    return format->pack(row, heads, size, to);
}

/* exp_f32 with selections for branches, so that a compiler can take sixteen at a time. */
LANES_INLINE float exp_of(float x) {
    const bool below = x<-87.33654f, above = x> 88.72283f;
    const float y = exp_in_range(below || above || x != x ? 0.0f : x);
    return below ? 0.0f : above ? INFINITY : x != x ? x : y;
}

void FAST(fast_exp)(float *x, size_t n, float largest) {
    for (size_t i = 0; i < n; i++) x[i] = exp_of(x[i] - largest);
}

void FAST(fast_swiglu)(const Kernels *kernels, float *gate, const float *up,
                       size_t count) {
    (void)kernels;
    for (size_t i = 0; i < count; i++)
        gate[i] = (gate[i] / (1.0f + exp_of(-gate[i]))) * up[i];
}

void FAST(fast_add)(const Kernels *kernels, float *x, const float *y, size_t count) {
    (void)kernels;
    for (size_t i = 0; i < count; i++) x[i] = x[i] + y[i];
}

const Kernels FAST(fast_kernels) = {
    .name = "fast",
    .threads = 1,
    .embed = FAST(fast_embed),
    .rms_norm = FAST(fast_rms_norm),
    .matmul = FAST(fast_matmul),
    .rope = FAST(fast_rope),
    .store = FAST(fast_store),
    .attention = FAST(fast_attention),
    .swiglu = FAST(fast_swiglu),
    .add = FAST(fast_add),
};
