/* Stored numbers as lanes: the formats that the fast set widens in registers. */
#ifndef KVSTEP_KERNELS_FAST_WIDEN_H
#define KVSTEP_KERNELS_FAST_WIDEN_H

#include "core/kernels/format.h"
#include "core/kernels/lanes.h"

/* AS_OTHER: by the format's own unpack alone. */
typedef enum { AS_F32, AS_F16, AS_BF16, AS_Q8_0, AS_OTHER } Stored;

static inline Stored stored_as(const Format *format) {
    return format == &format_f32    ? AS_F32
           : format == &format_f16  ? AS_F16
           : format == &format_bf16 ? AS_BF16
           : format == &format_q8_0 ? AS_Q8_0
                                    : AS_OTHER;
}

/* Numbers i to i + 15 of a stored row; `as` is a constant after inlining. */
LANES_INLINE Lanes widened(Stored as, const void *row, size_t i) {
    return as == AS_F16    ? lanes_f16((const uint16_t *)row + i)
           : as == AS_BF16 ? lanes_bf16((const uint16_t *)row + i)
                           : lanes_load((const float *)row + i);
}

/* q8_0 comes in blocks of an f16 scale and 32 codes (q8_0.c): the scale of the block of
 * number i in every lane, and its codes i to i + 15 times that; i is a multiple of 16. */
LANES_INLINE const char *q8_block(const void *row, size_t i) {
    return (const char *)row + i / 32 * 34;
}

LANES_INLINE Lanes q8_scale(const char *block) {
    uint16_t scale;
    memcpy(&scale, block, sizeof scale);
    return lanes_f16_all(scale);
}

LANES_INLINE Lanes q8_values(const char *block, size_t i, Lanes scale) {
    return lanes_mul(scale, lanes_i8((const int8_t *)block + 2 + i % 32));
}

/* The last n < 16 numbers of a row, from i on; the other lanes 0. Rows of q8_0 have no such
 * rest. */
LANES_INLINE Lanes widened_some(Stored as, const void *row, size_t i, size_t n) {
    uint16_t rest[16] = {0};
    if (as == AS_F32) return lanes_load_some((const float *)row + i, n);
    if (as == AS_Q8_0) return lanes_all(0);
    memcpy(rest, (const uint16_t *)row + i, n * sizeof *rest);
    return widened(as, rest, 0);
}

#endif
