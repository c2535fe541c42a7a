/* The fast set: the arithmetic of kernels.h through lanes.h, sixteen values at a time and
 * several results at once. The bits are those of the naive set, which the tests compare
 * kernel by kernel; speed comes from vectors, register tiles and reading each weight and
 * each row of the cache once, not from another order.
 *
 * The files fast_*.c are compiled once per instruction set; KERNEL_TARGET names it. */
#ifndef KVSTEP_KERNELS_FAST_H
#define KVSTEP_KERNELS_FAST_H

#include "core/kernels/kernels.h"

#ifndef KERNEL_TARGET
#define KERNEL_TARGET base
#endif
#define FAST_JOIN(name, target)  name##_##target
#define FAST_JOIN2(name, target) FAST_JOIN(name, target)
#define FAST(name)               FAST_JOIN2(name, KERNEL_TARGET)

void FAST(fast_embed)(const Kernels *, const Matrix *table, const int *token, size_t n,
                      float *out);
void FAST(fast_rms_norm)(const Kernels *, const float *x, const float *w, float eps,
                         size_t n, size_t size, float *out);
void FAST(fast_matmul)(const Kernels *, Part part, const Matrix *w, const float *x,
                       size_t n, float *out, float *scratch);
/* Floats of scratch for one thread; false: they overflow. */
bool FAST(fast_matmul_scratch)(size_t cols, size_t *floats);
bool FAST(fast_attention_scratch)(const LayerShape *shape, size_t keys, size_t *floats);

void FAST(fast_rope)(const Kernels *, const RopeTable *table, const size_t *position,
                     size_t n, size_t heads, size_t size, float *x);
bool FAST(fast_store)(const Kernels *, const Format *format, const float *row,
                      size_t heads, size_t size, void *to);
void FAST(fast_attention)(const Kernels *, const Attention *);
void FAST(fast_swiglu)(const Kernels *, float *gate, const float *up, size_t count);
void FAST(fast_add)(const Kernels *, float *x, const float *y, size_t count);

/* Turns one row [heads][size] to a position. */
void FAST(fast_turn)(const RopeTable *table, size_t position, size_t heads, size_t size,
                     float *row);

/* Numbers first to first + count - 1, all of one head, of a stored row [heads][size] -> out
 * [count]; whole [heads][size] is scratch. */
void FAST(fast_widen)(const Format *format, const void *row, size_t heads, size_t size,
                      size_t first, size_t count, float *out, float *whole);

/* x [n] becomes exp(x - largest) with the bits of exp_f32. */
void FAST(fast_exp)(float *x, size_t n, float largest);

extern const Kernels FAST(fast_kernels);

#endif
