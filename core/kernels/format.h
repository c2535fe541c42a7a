/* Number formats: how one row of numbers is stored, and how it is read again.
 *
 * A row is [heads][size] values of one token (K or V of a layer), or with heads = 1 one
 * row of a weight matrix. Storing rounds once, as spec'd in the format's own file;
 * whoever reads a row reads the stored form, so the rounding is part of the rule, not
 * an error of an engine. */
#ifndef KVSTEP_KERNELS_FORMAT_H
#define KVSTEP_KERNELS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *name;
    /* Bytes of a stored row; 0: this shape cannot be stored (or overflows size_t). */
    size_t (*row_bytes)(size_t heads, size_t size);
    /* row [heads][size] -> stored; false: a value or scale is not finite in the format.
     */
    bool (*pack)(const float *row, size_t heads, size_t size, void *stored);
    /* rows stored `step` bytes apart -> tile [rows][heads][size]; rows is 1 to 16. */
    void (*unpack)(const void *stored, size_t step, size_t rows, size_t heads,
                   size_t size, float *tile);
} Format;

extern const Format format_f32, format_f16, format_bf16, format_q8_0, format_q4_0,
    format_fp8;

/* The format of that name, or NULL. */
const Format *format_find(const char *name);

/* For the formats: bytes of heads x size values in blocks of `values` values and
 * `bytes` bytes; 0 if the blocks do not fit or on overflow. */
size_t format_blocks(size_t heads, size_t size, size_t values, size_t bytes);

/* The largest magnitude of n values; NaN if one of them is. */
float format_largest(const float *x, size_t n);

/* 1 / d; 0 where that is not finite: a block of zeros, or one whose f16 scale is 0. */
float format_inverse(float d);

/* A weight matrix [rows][cols], row after row, each in `format`. */
typedef struct {
    const void *data;
    const Format *format;
    size_t rows, cols;
} Matrix;

/* Bytes of the whole matrix. The caller has checked that they fit into size_t. */
size_t matrix_bytes(const Matrix *matrix);

/* Where row r begins. */
const void *matrix_row(const Matrix *matrix, size_t r);

#endif
