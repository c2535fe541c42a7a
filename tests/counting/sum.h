/* core/kernels/sum.h once more, but madd() counts. The counting build puts this file in
 * front (-include) when it compiles naive_*.c, and its guard keeps the other one out:
 * not a letter of the kernels is changed. */
#ifndef KVSTEP_KERNELS_SUM_H
#define KVSTEP_KERNELS_SUM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { LANES = 16 };

extern uint64_t counting_madds; /* tsan.c */

static inline float madd(float a, float b, float c) {
    counting_madds++;
    return fmaf(a, b, c);
}

static inline float tree(float s[LANES]) {
    for (size_t width = LANES / 2; width > 0; width /= 2)
        for (size_t j = 0; j < width; j++) s[j] += s[j + width];
    return s[0];
}

static inline float dot(const float *a, const float *b, size_t n) {
    float s[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) s[j] = madd(a[i + j], b[i + j], s[j]);
    for (size_t j = 0; i + j < n; j++) s[j] = madd(a[i + j], b[i + j], s[j]);
    return tree(s);
}

#endif
