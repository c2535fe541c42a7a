/* f16 (IEEE binary16) by bits: the scale of every block format, and a row format of its
 * own. Rounded to nearest, ties to even; subnormals kept. */
#ifndef KVSTEP_KERNELS_HALF_H
#define KVSTEP_KERNELS_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HALF_INFINITY 0x7C00u

/* Too large a value gives infinity, NaN a NaN. */
static inline uint16_t half_from(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return (uint16_t)(sign | 0x7E00u);
    if (magnitude >= 0x477FF000u) return (uint16_t)(sign | HALF_INFINITY); /* 65520 */
    if (magnitude < 0x38800000u) {                                         /* 2^-14 */
        /* In units of 2^-24, the smallest subnormal; adding 2^23 rounds to even. */
        float units;
        memcpy(&units, &magnitude, sizeof units);
        units = units * 0x1p24f + 0x1p23f;
        memcpy(&bits, &units, sizeof bits);
        return (uint16_t)(sign | (bits & 0x7FFu));
    }
    uint32_t rounded = magnitude + 0xFFFu + (magnitude >> 13 & 1u);
    return (uint16_t)(sign | ((rounded >> 13) - (112u << 10)));
}

/* Every f16 is a float: exact. */
static inline float half_to(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, magnitude = half & 0x7FFFu;
    uint32_t bits;
    float value;
    if (magnitude >= HALF_INFINITY) {
        bits = 0x7F800000u | (magnitude & 0x3FFu) << 13;
    } else if (magnitude >= 0x400u) {
        bits = (magnitude << 13) + (112u << 23);
    } else {
        value = (float)magnitude * 0x1p-24f;
        memcpy(&bits, &value, sizeof bits);
    }
    bits |= sign;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A bf16 is the upper half of a float: exact. */
static inline float bf16_to(uint16_t half) {
    const uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline bool half_is_finite(uint16_t half) {
    return (half & 0x7FFFu) < HALF_INFINITY;
}

#endif
