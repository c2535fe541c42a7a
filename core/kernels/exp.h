/* exp(x) in float32 with the same bits on every machine. Final: changing one bit of it
 * changes every digest.
 *
 * x < -87.33654 gives +0, x > 88.72283 gives +inf, NaN gives NaN; between them at most
 * 2 ulp (0.94 measured; tests/test_exp.c walks over all floats in the long tier).
 * x = n ln 2 + r with n = x log2(e) rounded to nearest by adding and subtracting
 * 1.5 x 2^23, and |r| <= ln 2 / 2 by two fmas with ln 2 split into a part whose low
 * bits are zero and the rest (Cody and Waite). exp(r) is a polynomial of degree 7 by
 * Horner's rule; degree 6 would miss 2 ulp. Last, times 2^n in two exact factors, since
 * 2^n alone leaves the float range at both ends. */
#ifndef KVSTEP_KERNELS_EXP_H
#define KVSTEP_KERNELS_EXP_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* 2^n for -126 <= n <= 127, from its bits. */
static inline float exp_power_of_two(int n) {
    uint32_t bits = (uint32_t)(n + 127) << 23;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Where the result is a normal number or just below the largest one: no branch, so that
 * compilers take many at once. */
static inline float exp_in_range(float x) {
    const float magic = 0x1.8p23f;
    float n = fmaf(x, 0x1.715476p+0f, magic) - magic;
    float r = fmaf(n, -0x1.62e4p-1f, x);
    r = fmaf(n, -0x1.7f7d1cp-20f, r);
    float p = 0x1.a01a02p-13f;
    p = fmaf(p, r, 0x1.6c16c2p-10f);
    p = fmaf(p, r, 0x1.111112p-7f);
    p = fmaf(p, r, 0x1.555556p-5f);
    p = fmaf(p, r, 0x1.555556p-3f);
    p = fmaf(p, r, 0.5f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    int whole = (int)n, half = whole / 2;
    return p * exp_power_of_two(half) * exp_power_of_two(whole - half);
}

static inline float exp_f32(float x) {
    if (x != x) return x;
    if (x < -87.33654f) return 0.0f;
    if (x > 88.72283f) return INFINITY;
    return exp_in_range(x);
}

#endif
