#include "core/kernels/fast_widen.h"
#include "core/kernels/fast.h"

LANES_INLINE void widen_numbers(Stored as, const void *row, size_t first, size_t count,
                                float *out) {
    const size_t whole = count / 16 * 16, left = count % 16;
    for (size_t i = 0; i < whole; i += 16)
        lanes_store(out + i, widened(as, row, first + i));
    if (left)
        lanes_store_some(out + whole, widened_some(as, row, first + whole, left), left);
}

static void widen_q8(const void *row, size_t first, size_t count, float *out) {
    for (size_t i = 0; i < count; i += 16) {
        const char *block = q8_block(row, first + i);
        lanes_store(out + i, q8_values(block, first + i, q8_scale(block)));
    }
}

/* q4_0: numbers j and j + 16 of a block of 32 share byte j (q4_0.c). */
static void widen_q4(const void *row, size_t first, size_t count, float *out) {
    for (size_t i = 0; i < count; i += 16) {
        const unsigned char *block = (const unsigned char *)row + (first + i) / 32 * 18;
        const int shift = (first + i) % 32 ? 4 : 0;
        uint16_t scale;
        memcpy(&scale, block, sizeof scale);
        const float d = half_to(scale);
        for (size_t j = 0; j < 16; j++)
            out[i + j] = d * (float)((block[2 + j] >> shift & 15) - 8);
    }
}

/* fp8: of one head, whose scale stands in front (fp8.c). The bits of a code, moved up, are a
 * float that is smaller by 2^120: exact, subnormals too. */
static void widen_fp8(const unsigned char *head, size_t first, size_t count,
                      float *out) {
    float scale;
    memcpy(&scale, head, sizeof scale);
    const unsigned char *code = head + sizeof scale + first;
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = (code[i] & 0x7Fu) << 20;
        float value;
        memcpy(&value, &bits, sizeof value);
        value = (code[i] & 0x7Fu) == 0x7Fu ? NAN : value * 0x1p120f;
        out[i] = scale * (code[i] & 0x80u ? -value : value);
    }
}

void FAST(fast_widen)(const Format *format, const void *row, size_t heads, size_t size,
                      size_t first, size_t count, float *out, float *whole) {
    const bool sixteens = first % 16 == 0 && count % 16 == 0;
    if (format == &format_f32) {
        widen_numbers(AS_F32, row, first, count, out);
    } else if (format == &format_f16) {
        widen_numbers(AS_F16, row, first, count, out);
    } else if (format == &format_bf16) {
        widen_numbers(AS_BF16, row, first, count, out);
    } else if (format == &format_q8_0 && sixteens) {
        widen_q8(row, first, count, out);
    } else if (format == &format_q4_0 && sixteens) {
        widen_q4(row, first, count, out);
    } else if (format == &format_fp8) {
        const size_t head = first / size;
        widen_fp8((const unsigned char *)row + head * (sizeof(float) + size),
                  first - head * size, count, out);
    } else {
        format->unpack(row, 0, 1, heads, size, whole);
        memcpy(out, whole + first, count * sizeof *out);
    }
}
