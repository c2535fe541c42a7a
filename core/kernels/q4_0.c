/* q4_0, byte for byte as in GGUF: blocks of 32 values along the row, each an f16 scale
 * d and 32 codes of 4 bits; 18 bytes. value = f16(d) * (code - 8).
 *
 * d = m / -8 with m the first element of largest magnitude, with its sign; so m itself
 * has code 0 and the other side reaches only 7: its error can be d. id = 1 / d (0 if d
 * is 0 or 1 / d infinite), code = min(15, (int)(x * id + 8.5)). Elements j and j + 16
 * share byte j, the low nibble first. A d that is infinite in f16 is refused. */
#include "core/kernels/format.h"
#include "core/kernels/half.h"

enum { VALUES = 32, BLOCK = 2 + VALUES / 2 };

static size_t row_bytes(size_t heads, size_t size) {
    return format_blocks(heads, size, VALUES, BLOCK);
}

static unsigned char code_of(float x, float id) {
    int code = (int)(x * id + 8.5f);
    return (unsigned char)(code < 15 ? code : 15);
}

static bool pack_block(const float *x, unsigned char *block) {
    const float amax = format_largest(x, VALUES);
    float m = amax; /* NaN stays; of zeros it is +0, whatever their signs, as in GGUF */
    for (size_t i = VALUES; amax > 0 && i-- > 0;)
        if (x[i] == amax || x[i] == -amax) m = x[i];
    const float d = m / -8, id = format_inverse(d);
    const uint16_t scale = half_from(d);
    if (!half_is_finite(scale)) return false;
    memcpy(block, &scale, sizeof scale);
    for (size_t j = 0; j < VALUES / 2; j++)
        block[2 + j] =
            (unsigned char)(code_of(x[j], id) | code_of(x[j + VALUES / 2], id) << 4);
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
            for (size_t j = 0; j < VALUES / 2; j++, tile++) {
                tile[0] = d * (float)((block[2 + j] & 0xF) - 8);
                tile[VALUES / 2] = d * (float)((block[2 + j] >> 4) - 8);
            }
            tile += VALUES / 2;
        }
    }
}

const Format format_q4_0 = {"q4_0", row_bytes, pack, unpack};
