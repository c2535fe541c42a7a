/* f32: a row as it is computed, 4 bytes a value, little-endian as the machine. Nothing
 * is rounded; only values that are not finite are refused. */
#include "core/kernels/format.h"

static size_t row_bytes(size_t heads, size_t size) {
    return format_blocks(heads, size, 1, sizeof(float));
}

static bool pack(const float *row, size_t heads, size_t size, void *stored) {
    float *to = stored;
    bool finite = true;
    for (size_t i = 0; i < heads * size; i++) {
        finite &= row[i] - row[i] == 0; /* inf and NaN give NaN here */
        to[i] = row[i];
    }
    return finite;
}

static void unpack(const void *stored, size_t step, size_t rows, size_t heads,
                   size_t size, float *tile) {
    for (size_t r = 0; r < rows; r++) {
        const float *row = (const float *)((const char *)stored + r * step);
        for (size_t i = 0; i < heads * size; i++) tile[r * heads * size + i] = row[i];
    }
}

const Format format_f32 = {"f32", row_bytes, pack, unpack};
