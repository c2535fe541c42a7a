/* q8_0, byte for byte as in GGUF: blocks of 32 values along the row, each an f16 scale
 * d and 32 codes of 8 bits; 34 bytes. value = f16(d) * code.
 *
 * d = amax / 127, id = 1 / d (0 if d is 0 or so small that 1 / d is infinite), code =
 * x * id rounded half away from zero. Codes are made with the exact d, values with the
 * rounded one. A d that is infinite in f16 is refused. */
#include "core/kernels/format.h"
#include "core/kernels/half.h"

enum { VALUES = 32, BLOCK = 2 + VALUES };

static size_t row_bytes(size_t heads, size_t size) {
    return format_blocks(heads, size, VALUES, BLOCK);
}

static int8_t code_of(float y) {
    int whole = (int)y; /* toward zero */
    float rest = y - (float)whole;
    if (rest >= 0.5f) whole++;
    if (rest <= -0.5f) whole--;
    return (int8_t)whole;
}

static bool pack_block(const float *x, unsigned char *block) {
    const float amax = format_largest(x, VALUES);
    const float d = amax / 127, id = format_inverse(d);
    const uint16_t scale = half_from(d);
    if (!half_is_finite(scale)) return false; /* NaN values make d NaN */
    memcpy(block, &scale, sizeof scale);
    for (size_t i = 0; i < VALUES; i++)
        block[2 + i] = (unsigned char)code_of(x[i] * id);
    return true;
}

static bool pack(const float *row, size_t heads, size_t size, void *stored) {
    bool finite = true;
    for (size_t b = 0; b < heads * size / VALUES; b++)
        finite &= pack_block(row + b * VALUES, (unsigned char *)stored + b * BLOCK);
    return finite;
}

static void unpack(const void *stored, size_t step, size_t rows, size_t heads,
                   size_t size, float *tile) {
    for (size_t r = 0; r < rows; r++) {
        const unsigned char *block = (const unsigned char *)stored + r * step;
        for (size_t b = 0; b < heads * size / VALUES; b++, block += BLOCK) {
            uint16_t scale;
            memcpy(&scale, block, sizeof scale);
            const float d = half_to(scale);
            for (size_t i = 0; i < VALUES; i++)
                *tile++ = d * (float)(int8_t)block[2 + i];
        }
    }
}

const Format format_q8_0 = {"q8_0", row_bytes, pack, unpack};
