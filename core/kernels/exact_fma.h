/* fmaf where the machine has no such instruction and libm's is a slow call: the product of two
 * floats is exact in double; the sum is rounded to odd there (one that is not exact ends in
 * a 1 bit), so that rounding once more, to float, is right (Boldo and Melquiond, 2008). No
 * branch, so that compilers take several at a time. */
#ifndef KVSTEP_KERNELS_EXACT_FMA_H
#define KVSTEP_KERNELS_EXACT_FMA_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float exact_fma(float a, float b, float c) {
    const double x = (double)a * (double)b, y = (double)c;
    double sum = x + y;
    const double z = sum - x, rest = (x - (sum - z)) + (y - z); /* what sum lacks */
    uint64_t bits, sign;
    memcpy(&bits, &sum, sizeof bits);
    memcpy(&sign, &rest, sizeof sign);
    const uint64_t inexact = (rest < 0) | (rest > 0);    /* infinities: NaN, 0 */
    const uint64_t away = 1 - ((bits ^ sign) >> 63) * 2; /* 1, or -1 toward zero */
    bits += away & (0 - (inexact & ~bits & 1));          /* only an even one moves */
    memcpy(&sum, &bits, sizeof sum);
    return (float)sum;
}

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define fma_f32 fmaf
#else
#define fma_f32 exact_fma
#endif

#endif
