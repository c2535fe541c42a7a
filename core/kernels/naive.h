/* The naive set: the arithmetic of kernels.h in plain loops, nothing else. It is the
 * oracle and stays plain for ever.
 *
 * The files naive_*.c are compiled once per instruction set, because fmaf without the
 * instruction is a call, 20 times slower. KERNEL_TARGET names the build (base, fma);
 * the bits are the same. */
#ifndef KVSTEP_KERNELS_NAIVE_H
#define KVSTEP_KERNELS_NAIVE_H

#include "core/kernels/kernels.h"

#ifndef KERNEL_TARGET
#define KERNEL_TARGET base
#endif
#define NAIVE_JOIN(name, target)  name##_##target
#define NAIVE_JOIN2(name, target) NAIVE_JOIN(name, target)
#define NAIVE(name)               NAIVE_JOIN2(name, KERNEL_TARGET)

void NAIVE(naive_embed)(const Kernels *, const Matrix *table, const int *token,
                        size_t n, float *out);
void NAIVE(naive_rms_norm)(const Kernels *, const float *x, const float *w, float eps,
                           size_t n, size_t size, float *out);
void NAIVE(naive_matmul)(const Kernels *, Part part, const Matrix *w, const float *x,
                         size_t n, float *out, float *scratch);
void NAIVE(naive_rope)(const Kernels *, const RopeTable *table, const size_t *position,
                       size_t n, size_t heads, size_t size, float *x);
bool NAIVE(naive_store)(const Kernels *, const Format *format, const float *row,
                        size_t heads, size_t size, void *to);
void NAIVE(naive_attention)(const Kernels *, const Attention *);
void NAIVE(naive_swiglu)(const Kernels *, float *gate, const float *up, size_t count);
void NAIVE(naive_add)(const Kernels *, float *x, const float *y, size_t count);

/* Turns one row [heads][size] to a position. */
void NAIVE(naive_turn)(const RopeTable *table, size_t position, size_t heads,
                       size_t size, float *row);

extern const Kernels NAIVE(naive_kernels);

#endif
