/* f16: 2 bytes a value, rounded to nearest even, subnormals kept. A value that would
 * become infinite (65520 and more) is refused. */
#include "core/kernels/format.h"
#include "core/kernels/half.h"

static size_t row_bytes(size_t heads, size_t size) {
    return format_blocks(heads, size, 1, sizeof(uint16_t));
}

static bool pack(const float *row, size_t heads, size_t size, void *stored) {
    uint16_t *to = stored;
    bool finite = true;
    for (size_t i = 0; i < heads * size; i++) {
        to[i] = half_from(row[i]);
        finite &= half_is_finite(to[i]);
    }
    return finite;
}

static void unpack(const void *stored, size_t step, size_t rows, size_t heads,
                   size_t size, float *tile) {
    for (size_t r = 0; r < rows; r++) {
        const uint16_t *row = (const uint16_t *)((const char *)stored + r * step);
        for (size_t i = 0; i < heads * size; i++)
            tile[r * heads * size + i] = half_to(row[i]);
    }
}

const Format format_f16 = {"f16", row_bytes, pack, unpack};
