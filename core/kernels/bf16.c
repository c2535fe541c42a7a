/* bf16: the upper half of a float, 2 bytes a value, rounded to nearest even. A value
 * that would become infinite is refused. */
#include "core/kernels/format.h"

#include <stdint.h>
#include <string.h>

static size_t row_bytes(size_t heads, size_t size) {
    return format_blocks(heads, size, 1, sizeof(uint16_t));
}

static uint16_t from_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

static bool pack(const float *row, size_t heads, size_t size, void *stored) {
    uint16_t *to = stored;
    bool finite = true;
    for (size_t i = 0; i < heads * size; i++) {
        to[i] = from_float(row[i]);
        finite &= (to[i] & 0x7F80u) != 0x7F80u;
    }
    return finite;
}

static void unpack(const void *stored, size_t step, size_t rows, size_t heads,
                   size_t size, float *tile) {
    for (size_t r = 0; r < rows; r++) {
        const uint16_t *row = (const uint16_t *)((const char *)stored + r * step);
        for (size_t i = 0; i < heads * size; i++) {
            uint32_t bits = (uint32_t)row[i] << 16;
            memcpy(&tile[r * heads * size + i], &bits, sizeof bits);
        }
    }
}

const Format format_bf16 = {"bf16", row_bytes, pack, unpack};
