#include "core/kernels/format.h"

#include <string.h>

static const Format *const formats[] = {&format_f32,  &format_f16,  &format_bf16,
                                        &format_q8_0, &format_q4_0, &format_fp8};

const Format *format_find(const char *name) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i]->name, name) == 0) return formats[i];
    return NULL;
}

size_t matrix_bytes(const Matrix *matrix) {
    return matrix->rows * matrix->format->row_bytes(1, matrix->cols);
}

const void *matrix_row(const Matrix *matrix, size_t r) {
    return (const char *)matrix->data + r * matrix->format->row_bytes(1, matrix->cols);
}

size_t format_blocks(size_t heads, size_t size, size_t values, size_t bytes) {
    size_t count;
    if (__builtin_mul_overflow(heads, size, &count) || count % values != 0) return 0;
    return __builtin_mul_overflow(count / values, bytes, &count) ? 0 : count;
}

float format_largest(const float *x, size_t n) {
    float largest = 0;
    for (size_t i = 0; i < n; i++) {
        float magnitude = x[i] < 0 ? -x[i] : x[i];
        if (!(magnitude <= largest)) largest = magnitude;
        if (magnitude != magnitude) return magnitude;
    }
    return largest;
}

float format_inverse(float d) {
    float inverse = 1.0f / d;
    return inverse - inverse == 0 ? inverse : 0;
}
