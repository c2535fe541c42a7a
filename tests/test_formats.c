/* The number formats: every code of the small floats and every border between two codes,
 * and what holds for rows of every format. Blocks are in test_blocks.c. */
#include "core/base/random.h"
#include "core/kernels/format.h"
#include "tests/check_main.h"
#include "tests/plain_formats.h"

#include <float.h>
#include <sys/mman.h>
#include <unistd.h>

static const Format *const formats[] = {&format_f32,  &format_f16,  &format_bf16,
                                        &format_q8_0, &format_q4_0, &format_fp8};
enum { FORMATS = sizeof formats / sizeof *formats, BLOCK = PLAIN_BLOCK };

/* ---- f16 and bf16 ---------------------------------------------------------------- */

static const struct {
    const Format *format;
    const PlainSmall *plain;
    unsigned infinity;
} halves[] = {{&format_f16, &plain_f16, 0x7C00}, {&format_bf16, &plain_bf16, 0x7F80}};

static float half_value(int which, uint16_t code) {
    float value;
    halves[which].format->unpack(&code, 0, 1, 1, 1, &value);
    return value;
}

/* 0xFFFF if refused. */
static unsigned half_code(int which, float value) {
    uint16_t code;
    return halves[which].format->pack(&value, 1, 1, &code) ? code : 0xFFFF;
}

START_TEST(all_codes_of_16_bits_go_round_and_mean_what_they_should) {
    for (unsigned code = 0; code < 0x10000; code++) {
        const float value = half_value(_i, (uint16_t)code);
        if ((code & 0x7FFF) < halves[_i].infinity) {
            DEMAND((double)value == plain_small_value(halves[_i].plain, code) &&
                       !signbit(value) == (code < 0x8000),
                   "%04x is %g", code, (double)value);
            DEMAND(half_code(_i, value) == code, "%04x comes back as %04x", code,
                   half_code(_i, value));
        } else {
            const bool infinite = (code & 0x7FFF) == halves[_i].infinity;
            DEMAND(infinite ? isinf(value) : isnan(value), "%04x", code);
            ck_assert_uint_eq(half_code(_i, value), 0xFFFF);
        }
    }
}
END_TEST

START_TEST(halfway_between_two_codes_of_16_bits_the_even_one_is_taken) {
    for (unsigned code = 0; code + 1 < halves[_i].infinity; code++)
        for (int sign = 1; sign >= -1; sign -= 2) {
            const unsigned bit = sign < 0 ? 0x8000 : 0;
            const float middle =
                (float)sign * (float)((plain_small_value(halves[_i].plain, code) +
                                       plain_small_value(halves[_i].plain, code + 1)) /
                                      2);
            const unsigned even = code % 2 ? code + 1 : code;
            DEMAND(half_code(_i, middle) == (bit | even) &&
                       half_code(_i, nextafterf(middle, 0)) == (bit | code) &&
                       half_code(_i, nextafterf(middle, (float)sign * INFINITY)) ==
                           (bit | (code + 1)),
                   "after code %04x", bit | code);
        }
}
END_TEST

START_TEST(halfway_past_the_largest_code_of_16_bits_a_value_is_refused) {
    const float largest = (float)halves[_i].plain->largest;
    const float step = largest - half_value(_i, (uint16_t)(halves[_i].infinity - 2));
    const float refused = largest + step / 2;
    ck_assert_uint_eq(half_code(_i, nextafterf(refused, 0)), halves[_i].infinity - 1);
    ck_assert_uint_eq(half_code(_i, refused), 0xFFFF);
    ck_assert_uint_eq(half_code(_i, -refused), 0xFFFF);
    ck_assert_uint_eq(half_code(_i, FLT_MAX), 0xFFFF);
}
END_TEST

START_TEST(any_float_goes_to_the_nearest_code_of_16_bits) {
    for (uint64_t i = 0; i < 200000; i++) {
        const float value = plain_from_bits((uint32_t)random_draw(3, 0, i));
        unsigned expected = 0xFFFF;
        if (isfinite(value))
            expected = plain_small_code(halves[_i].plain, (double)value);
        if ((expected & 0x7FFF) >= halves[_i].infinity) expected = 0xFFFF;
        DEMAND(half_code(_i, value) == expected, "%a: %04x, not %04x", (double)value,
               half_code(_i, value), expected);
    }
}
END_TEST

/* ---- fp8 ------------------------------------------------------------------------- */

/* The code of a value beside a 448, so that the scale is 1. */
static unsigned fp8_code(float value) {
    const float row[2] = {448, value};
    unsigned char stored[6];
    float scale;
    ck_assert(format_fp8.pack(row, 1, 2, stored));
    memcpy(&scale, stored, 4);
    ck_assert(scale == 1 && stored[4] == 0x7E);
    return stored[5];
}

static float fp8_value(unsigned code) {
    unsigned char stored[5] = {0, 0, 0x80, 0x3F, (unsigned char)code}; /* scale 1 */
    float value;
    format_fp8.unpack(stored, 0, 1, 1, 1, &value);
    return value;
}

START_TEST(all_256_codes_of_fp8_go_round_in_rising_order_and_two_are_nan) {
    for (unsigned code = 0; code < 256; code++) {
        const float value = fp8_value(code);
        DEMAND(isnan(value) == ((code & 0x7F) == 0x7F), "%02x", code);
        if (isnan(value)) continue;
        ck_assert(value == (float)plain_small_value(&plain_e4m3, code));
        ck_assert(!signbit(value) == (code < 0x80));
        ck_assert_uint_eq(fp8_code(value), code);
        if (code % 0x80) ck_assert(fabsf(value) > fabsf(fp8_value(code - 1)));
    }
    ck_assert(fp8_value(0x7E) == 448 && fp8_value(0x01) == 0x1p-9f);
}
END_TEST

START_TEST(halfway_between_two_codes_of_fp8_the_even_one_is_taken) {
    for (unsigned code = 0; code < 0x7E; code++) {
        const float middle = (fp8_value(code) + fp8_value(code + 1)) / 2;
        ck_assert_uint_eq(fp8_code(middle), code % 2 ? code + 1 : code);
        ck_assert_uint_eq(fp8_code(-middle), 0x80 | (code % 2 ? code + 1 : code));
        ck_assert_uint_eq(fp8_code(nextafterf(middle, 0)), code);
        ck_assert_uint_eq(fp8_code(nextafterf(middle, 500)), code + 1);
    }
}
END_TEST

START_TEST(each_head_of_fp8_has_its_own_scale_in_front) {
    const float row[6] = {0.5f, -7, 1, 0, -0.0f, 0};
    const float first = 7.0f / 448;
    unsigned char stored[14];
    ck_assert_uint_eq(format_fp8.row_bytes(2, 3), 14);
    ck_assert(format_fp8.pack(row, 2, 3, stored));
    ck_assert_mem_eq(stored, &first, 4);
    ck_assert_mem_eq(stored + 4, ((unsigned char[]){0x60, 0xFE, 0x68}), 3); /* 32, 64 */
    ck_assert_mem_eq(stored + 7, ((unsigned char[7]){0}), 7);
}
END_TEST

/* x / scale may pass 448 by rounding, and by more where the scale is a subnormal. */
START_TEST(fp8_saturates_where_rounding_passes_448_and_nowhere_stores_nan) {
    size_t over = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        const uint32_t exponent =
            i % 2 ? 0 : (uint32_t)random_draw(9, 1, i) % 255 << 23;
        const float x =
            plain_from_bits(exponent | ((uint32_t)random_draw(9, 0, i) & 0x7FFFFF));
        const float scale = x / 448;
        unsigned char stored[5], expected[5];
        ck_assert(format_fp8.pack(&x, 1, 1, stored));
        ck_assert(plain_fp8(&x, 1, expected));
        ck_assert_mem_eq(stored, expected, 5);
        ck_assert_uint_eq(stored[4], scale == 0          ? 0
                                     : stored[4] >= 0x7B ? stored[4]
                                                         : 99);
        over += scale > 0 && x / scale > 448;
    }
    ck_assert_uint_gt(over, 1000);
}
END_TEST

START_TEST(errors_of_fp8_stay_within_half_a_step) {
    double worst = 0;
    for (uint64_t seed = 0; seed < 40000; seed++) {
        float x[BLOCK], back[BLOCK], scale;
        unsigned char stored[36];
        plain_row(x, BLOCK, seed);
        ck_assert(format_fp8.pack(x, 1, BLOCK, stored));
        format_fp8.unpack(stored, 0, 1, 1, BLOCK, back);
        memcpy(&scale, stored, 4);
        for (size_t i = 0; i < BLOCK; i++) { /* half of 1/8 relative; 2^-10 scales */
            const double half =
                fmax(fabs((double)x[i]) / 16, (double)scale * 0x1p-10) * (1 + 1e-6);
            const double error = fabs((double)x[i] - (double)back[i]);
            DEMAND(error <= half, "%a: off by %g", (double)x[i], error);
            if (half > 0) worst = fmax(worst, error / half);
        }
    }
    ck_assert(worst > 0.9);
}
END_TEST

/* ---- Rows of every format --------------------------------------------------------- */

START_TEST(what_is_not_finite_is_refused_wherever_it_stands) {
    const Format *format = formats[_i];
    unsigned char stored[4 * 3 * BLOCK];
    for (size_t at = 0; at < 3 * BLOCK; at++) {
        float x[3 * BLOCK];
        plain_row(x, 3 * BLOCK, 4 * at); /* small enough for all */
        for (size_t i = 0; i < 3 * BLOCK; i++) x[i] = fmaxf(fminf(x[i], 1), -1);
        ck_assert(format->pack(x, 3, BLOCK, stored));
        static const float bad[] = {NAN, INFINITY, -INFINITY};
        for (size_t b = 0; b < 4; b++) {
            x[at] = b < 3 ? bad[b] : -NAN;
            DEMAND(!format->pack(x, 3, BLOCK, stored), "%s: %g at %zu", format->name,
                   (double)x[at], at);
        }
    }
}
END_TEST

START_TEST(what_was_read_is_stored_again_as_it_was) {
    const Format *format = formats[_i];
    for (uint64_t seed = 0; seed < 20000; seed++) {
        float x[BLOCK], once[BLOCK], twice[BLOCK];
        unsigned char stored[4 * BLOCK], again[4 * BLOCK];
        plain_row(x, BLOCK, seed);
        if (!format->pack(x, 1, BLOCK, stored)) continue;
        format->unpack(stored, 0, 1, 1, BLOCK, once);
        ck_assert(format->pack(once, 1, BLOCK, again));
        format->unpack(again, 0, 1, 1, BLOCK, twice);
        for (size_t i = 0; i < BLOCK;
             i++) /* a vanished scale leaves zeros of any sign */
            DEMAND(once[i] == twice[i], "%s, row %llu: %a became %a", format->name,
                   (unsigned long long)seed, (double)once[i], (double)twice[i]);
    }
}
END_TEST

START_TEST(bytes_of_rows_are_those_of_the_formats) {
    static const size_t bytes[FORMATS] = {256, 128, 128, 68, 36, 72}; /* of 2 x 32 */
    for (size_t f = 0; f < FORMATS; f++) {
        ck_assert_uint_eq(formats[f]->row_bytes(2, 32), bytes[f]);
        ck_assert_uint_eq(formats[f]->row_bytes(SIZE_MAX / 2, 64), 0);
        ck_assert_ptr_eq(format_find(formats[f]->name), formats[f]);
    }
    ck_assert_ptr_null(format_find("q8"));
    for (size_t heads = 1; heads <= 8; heads++)
        for (size_t size = 1; size <= 130; size++) {
            const size_t n = heads * size, f16 = format_f16.row_bytes(heads, size);
            ck_assert_uint_eq(f16, 2 * n);
            const size_t q8 = format_q8_0.row_bytes(heads, size);
            const size_t q4 = format_q4_0.row_bytes(heads, size);
            ck_assert_uint_eq(64 * q8, n % 32 ? 0 : 34 * f16);
            ck_assert_uint_eq(64 * q4, n % 32 ? 0 : 18 * f16);
            ck_assert_uint_eq(format_fp8.row_bytes(heads, size), n + 4 * heads);
        }
}
END_TEST

/* `bytes` bytes that end where no page is. */
static void *at_the_edge(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes / page + 1) * page;
    char *start = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(start != MAP_FAILED && mprotect(start + room, page, PROT_NONE) == 0);
    return start + room - bytes;
}

START_TEST(tiles_of_1_to_16_rows_any_step_apart_and_nothing_past_a_row) {
    const Format *format = formats[_i];
    enum { HEADS = 3, SIZE = 32, N = HEADS * SIZE };
    const size_t bytes = format->row_bytes(HEADS, SIZE);
    float *x = at_the_edge(N * sizeof *x);
    for (size_t rows = 1; rows <= 16; rows++)
        for (size_t gap = 0; gap <= 24; gap += 12) {
            const size_t step = bytes + gap, all = (rows - 1) * step + bytes;
            unsigned char *stored = at_the_edge(all);
            float *tile = at_the_edge(rows * N * sizeof *tile), row[N];
            memset(stored, 0xFF, all);
            for (size_t r = 0; r < rows; r++) {
                plain_row(x, N, 4 * r);
                ck_assert(format->pack(x, HEADS, SIZE, stored + r * step));
            }
            format->unpack(stored, step, rows, HEADS, SIZE, tile);
            for (size_t r = 0; r < rows; r++) {
                format->unpack(stored + r * step, 0, 1, HEADS, SIZE, row);
                ck_assert_mem_eq(tile + r * N, row, sizeof row);
                for (size_t i = bytes; r + 1 < rows && i < step; i++)
                    DEMAND(stored[r * step + i] == 0xFF, "written between rows");
            }
        }
}
END_TEST

/* The same bytes from every compiler: a hash (FNV-1a) of 200 stored rows. */
START_TEST(stored_rows_are_the_same_bytes_everywhere) {
    static const uint64_t expected[FORMATS] = {0x3D10F04DBB5978A5, 0xD60E36A952015C95,
                                               0x9214B9BD3AF3A971, 0x8E4056CD9020868D,
                                               0xB05994B1CAE15AE6, 0x6435DDD0A5AC1485};
    uint64_t hash = 0xCBF29CE484222325;
    for (uint64_t seed = 0; seed < 200; seed++) {
        float x[2 * BLOCK];
        unsigned char stored[sizeof x];
        plain_row(x, 2 * BLOCK, seed);
        if (!formats[_i]->pack(x, 2, BLOCK, stored)) continue; /* too large for f16 */
        for (size_t b = 0; b < formats[_i]->row_bytes(2, BLOCK); b++)
            hash = (hash ^ stored[b]) * 0x100000001B3;
    }
    DEMAND(hash == expected[_i], "%s: 0x%016llX", formats[_i]->name,
           (unsigned long long)hash);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("formats");
    TCase *tests = tcase_create("formats");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, all_codes_of_16_bits_go_round_and_mean_what_they_should,
                        0, 2);
    tcase_add_loop_test(
        tests, halfway_between_two_codes_of_16_bits_the_even_one_is_taken, 0, 2);
    tcase_add_loop_test(
        tests, halfway_past_the_largest_code_of_16_bits_a_value_is_refused, 0, 2);
    tcase_add_loop_test(tests, any_float_goes_to_the_nearest_code_of_16_bits, 0, 2);
    tcase_add_test(tests,
                   all_256_codes_of_fp8_go_round_in_rising_order_and_two_are_nan);
    tcase_add_test(tests, halfway_between_two_codes_of_fp8_the_even_one_is_taken);
    tcase_add_test(tests, each_head_of_fp8_has_its_own_scale_in_front);
    tcase_add_test(tests,
                   fp8_saturates_where_rounding_passes_448_and_nowhere_stores_nan);
    tcase_add_test(tests, errors_of_fp8_stay_within_half_a_step);
    tcase_add_loop_test(tests, what_is_not_finite_is_refused_wherever_it_stands, 0,
                        FORMATS);
    tcase_add_loop_test(tests, what_was_read_is_stored_again_as_it_was, 0, FORMATS);
    tcase_add_test(tests, bytes_of_rows_are_those_of_the_formats);
    tcase_add_loop_test(
        tests, tiles_of_1_to_16_rows_any_step_apart_and_nothing_past_a_row, 0, FORMATS);
    tcase_add_loop_test(tests, stored_rows_are_the_same_bytes_everywhere, 0, FORMATS);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
