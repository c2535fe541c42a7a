/* The number formats once more, from their description (arithmetic.md, "Number
 * formats"), in the slowest plain way: small floats in double by scaling and rounding
 * whole numbers, blocks value by value. Of core it uses the draws. */
#ifndef KVSTEP_TESTS_PLAIN_FORMATS_H
#define KVSTEP_TESTS_PLAIN_FORMATS_H

#include "core/base/random.h"
#include "tests/check_main.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PLAIN_BLOCK = 32 };

/* A small float: sign, exponent, mantissa. least: exponent of the smallest subnormal.
 */
typedef struct {
    int mantissa, least;
    unsigned sign;  /* the sign's bit */
    double largest; /* finite value */
} PlainSmall;

static const PlainSmall plain_f16 = {10, -24, 0x8000, 65504},
                        plain_bf16 = {7, -133, 0x8000, 0x1.FEp127},
                        plain_e4m3 = {3, -9, 0x80, 448};

/* What a finite code means. */
static inline double plain_small_value(const PlainSmall *f, unsigned code) {
    const int exponent = (int)((code & (f->sign - 1)) >> f->mantissa);
    const int mantissa = (int)(code & ((1u << f->mantissa) - 1));
    double value = exponent == 0
                       ? ldexp(mantissa, f->least)
                       : ldexp((1 << f->mantissa) + mantissa, f->least + exponent - 1);
    return code & f->sign ? -value : value;
}

/* The nearest code, of two the even one; past the largest: a code that is not finite. */
static inline unsigned plain_small_code(const PlainSmall *f, double value) {
    int exponent;
    frexp(value, &exponent); /* |value| is 2^(exponent - 1) or more */
    int unit = exponent - 1 - f->mantissa;
    if (value == 0 || unit < f->least) unit = f->least;
    const double scaled = ldexp(fabs(value), -unit), below = floor(scaled);
    double whole = below;
    if (scaled - below > 0.5 || (scaled - below == 0.5 && fmod(below, 2) == 1))
        whole = below + 1;
    /* Codes count on from one exponent to the next. */
    const double first = (double)(unit - f->least) * (1 << f->mantissa);
    const double code = fmin(first + whole, f->sign - 1);
    return (signbit(value) ? f->sign : 0) | (unsigned)code;
}

/* false: not finite as f16. */
static inline bool plain_scale(float d, unsigned char *to) {
    if (!isfinite(d)) return false;
    const unsigned code = plain_small_code(&plain_f16, (double)d);
    to[0] = (unsigned char)(code & 0xFF);
    to[1] = (unsigned char)(code >> 8);
    return (code & 0x7FFF) < 0x7C00;
}

static inline float plain_inverse(float d) {
    return d == 0 || isinf(1.0f / d) ? 0.0f : 1.0f / d;
}

static inline bool plain_q8_0(const float *x, unsigned char *block) {
    float amax = 0;
    for (int i = 0; i < PLAIN_BLOCK; i++) {
        if (!isfinite(x[i])) return false;
        amax = fmaxf(amax, fabsf(x[i]));
    }
    const float d = amax / 127.0f, id = plain_inverse(d);
    for (int i = 0; i < PLAIN_BLOCK; i++) {
        const float y = x[i] * id;
        int t = (int)truncf(y);
        if (fabsf(y - truncf(y)) >= 0.5f) t += y < 0 ? -1 : 1;
        block[2 + i] = (unsigned char)(t & 0xFF);
    }
    return plain_scale(d, block);
}

static inline bool plain_q4_0(const float *x, unsigned char *block) {
    float m = x[0];
    for (int i = 0; i < PLAIN_BLOCK; i++) {
        if (!isfinite(x[i])) return false;
        if (fabsf(x[i]) > fabsf(m)) m = x[i];
    }
    const float d = m / -8.0f, id = plain_inverse(d);
    memset(block + 2, 0, PLAIN_BLOCK / 2);
    for (int i = 0; i < PLAIN_BLOCK; i++) {
        int code = (int)(x[i] * id + 8.5f);
        if (code > 15) code = 15;
        block[2 + i % 16] =
            (unsigned char)(block[2 + i % 16] + (i < 16 ? 1 : 16) * code);
    }
    return plain_scale(d, block);
}

/* One head: its scale, then its codes. */
static inline bool plain_fp8(const float *x, size_t size, unsigned char *head) {
    float amax = 0;
    for (size_t i = 0; i < size; i++) {
        if (!isfinite(x[i])) return false;
        amax = fmaxf(amax, fabsf(x[i]));
    }
    const float scale = amax / 448.0f;
    memcpy(head, &scale, 4);
    for (size_t i = 0; i < size; i++) {
        unsigned code =
            scale > 0 ? plain_small_code(&plain_e4m3, (double)(x[i] / scale)) : 0;
        if ((code & 0x7F) > 0x7E) code = (code & 0x80) | 0x7E;
        head[4 + i] = (unsigned char)code;
    }
    return true;
}

/* ck_assert writes to a file whenever it holds, too: too slow for millions. */
#define DEMAND(holds, ...)                                                             \
    do {                                                                               \
        if (!(holds)) ck_abort_msg(__VA_ARGS__);                                       \
    } while (0)

/* ---- Rows to try ----------------------------------------------------------------- */

static inline float plain_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rows of every size of numbers: some with a few large ones, zeros, tiny ones. */
static inline void plain_row(float *x, size_t n, uint64_t seed) {
    const int exponent = (int)(random_draw(seed, 1, 0) % 40) - 25;
    const uint64_t kind = random_draw(seed, 1, 1) % 4;
    for (size_t i = 0; i < n; i++) {
        x[i] = ldexpf(2 * random_unit(random_draw(seed, 2, i)) - 1, exponent);
        if (kind == 1 && random_draw(seed, 3, i) % 8 == 0) x[i] *= 64;
        if (kind == 2 && random_draw(seed, 3, i) % 2 == 0) x[i] = 0;
        if (kind == 3) x[i] = ldexpf(roundf(ldexpf(x[i], 5 - exponent)), exponent);
    }
}

#endif
