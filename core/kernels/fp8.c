/* fp8 (e4m3fn: 4 bits of exponent, 3 of mantissa, no infinity, largest 448), with a
 * scale in f32 per token and KV head: each head is 4 bytes of scale and then one byte a
 * value.
 *
 * scale = amax / 448 of the head, 0 for a head of zeros; code = x / scale to nearest
 * even, saturating at 448; value = scale * decoded. A value that is not finite is
 * refused. */
#include "core/kernels/format.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { SCALE = 4, LARGEST_CODE = 0x7E };

static size_t row_bytes(size_t heads, size_t size) {
    size_t head;
    if (__builtin_add_overflow(size, (size_t)SCALE, &head)) return 0;
    return format_blocks(heads, head, 1, 1);
}

static unsigned char encode(float y) {
    uint32_t bits;
    memcpy(&bits, &y, sizeof bits);
    const unsigned char sign = (unsigned char)(bits >> 24 & 0x80u);
    bits &= 0x7FFFFFFFu;
    if (bits >= 0x43E00000u) return sign | LARGEST_CODE; /* 448 */
    if (bits < 0x3C800000u) {                            /* 2^-6: in units of 2^-9 */
        float units;
        memcpy(&units, &bits, sizeof units);
        units = units * 0x1p9f + 0x1p23f; /* adding 2^23 rounds to even */
        memcpy(&bits, &units, sizeof bits);
        return (unsigned char)(sign | (bits & 0xFu));
    }
    bits += 0x7FFFFu + (bits >> 20 & 1u);
    return (unsigned char)(sign | ((bits >> 20) - (120u << 3)));
}

static float decode(unsigned char code) {
    const uint32_t exponent = code >> 3 & 0xFu, mantissa = code & 7u;
    float value = (float)mantissa * 0x1p-9f;
    if (exponent > 0) {
        uint32_t bits = (exponent + 120u) << 23 | mantissa << 20;
        memcpy(&value, &bits, sizeof value);
    }
    if ((code & 0x7Fu) == 0x7Fu) value = NAN;
    return code & 0x80u ? -value : value;
}

static bool pack(const float *row, size_t heads, size_t size, void *stored) {
    unsigned char *to = stored;
    bool finite = true;
    for (size_t h = 0; h < heads; h++, row += size, to += SCALE + size) {
        const float amax = format_largest(row, size), scale = amax / 448;
        finite &= scale - scale == 0;
        memcpy(to, &scale, sizeof scale);
        for (size_t i = 0; i < size; i++)
            to[SCALE + i] = scale == 0 ? 0 : encode(row[i] / scale);
    }
    return finite;
}

static void unpack(const void *stored, size_t step, size_t rows, size_t heads,
                   size_t size, float *tile) {
    for (size_t r = 0; r < rows; r++) {
        const unsigned char *head = (const unsigned char *)stored + r * step;
        for (size_t h = 0; h < heads; h++, head += SCALE + size) {
            float scale;
            memcpy(&scale, head, sizeof scale);
            for (size_t i = 0; i < size; i++) *tile++ = scale * decode(head[SCALE + i]);
        }
    }
}

const Format format_fp8 = {"fp8", row_bytes, pack, unpack};
