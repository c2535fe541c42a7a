#include "core/kernels/format.h"

#include <string.h>

static const Format *const formats[] = {&format_f32};

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
