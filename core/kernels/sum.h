/* The one order of every sum of the forward pass; kernels.h states it in words.
 *
 * Every multiply-add of the naive kernels goes through madd() here: the counting build
 * puts another sum.h in front of this one, whose madd counts, and compiles naive*.c
 * unchanged. */
#ifndef KVSTEP_KERNELS_SUM_H
#define KVSTEP_KERNELS_SUM_H

#include <math.h>
#include <stddef.h>

enum { LANES = 16 }; /* running sums; term i goes to sum i mod 16 */

/* a * b + c, rounded once. */
static inline float madd(float a, float b, float c) {
    return fmaf(a, b, c);
}

/* The fixed tree that joins the sixteen sums. */
static inline float tree(float s[LANES]) {
    for (size_t width = LANES / 2; width > 0; width /= 2)
        for (size_t j = 0; j < width; j++) s[j] += s[j + width];
    return s[0];
}

/* a, b: [n] */
static inline float dot(const float *a, const float *b, size_t n) {
    float s[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) s[j] = madd(a[i + j], b[i + j], s[j]);
    for (size_t j = 0; i + j < n; j++) s[j] = madd(a[i + j], b[i + j], s[j]);
    return tree(s);
}

#endif
