/* q8_0, q4_0 and fp8 byte by byte: against blocks worked out by hand, and against a second
 * writing of the same rules (plain_formats.h) on rows that are hard on them. */
#include "core/kernels/format.h"
#include "tests/check_main.h"
#include "tests/plain_formats.h"

#include <float.h>

enum { BLOCK = PLAIN_BLOCK };

static bool plain_pack(const Format *format, const float *x, unsigned char *to) {
    if (format == &format_fp8) return plain_fp8(x, BLOCK, to);
    return (format == &format_q8_0 ? plain_q8_0 : plain_q4_0)(x, to);
}

static const Format *const scaled[] = {&format_q8_0, &format_q4_0, &format_fp8};

static void demand_plain_bytes(const Format *format, const float *x, const char *what) {
    unsigned char stored[64] = {0}, expected[64] = {0};
    const bool packed = format->pack(x, 1, BLOCK, stored);
    DEMAND(packed == plain_pack(format, x, expected), "%s, %s: %s", format->name, what,
           packed ? "not refused" : "refused");
    if (packed && memcmp(stored, expected, format->row_bytes(1, BLOCK)) != 0)
        ck_abort_msg("%s, %s: other bytes", format->name, what);
}

START_TEST(blocks_worked_out_by_hand) {
    float x[BLOCK] = {127, 126.5f, -126.5f, 0.5f, -0.5f, 0.49f, 1.5f, -2.5f};
    unsigned char q8[34],
        q8_expected[34] = {0x00, 0x3C, 127, 127, 129, 1, 255, 0, 2, 253};
    ck_assert(format_q8_0.pack(x, 1, BLOCK, q8)); /* d = 1 */
    ck_assert_mem_eq(q8, q8_expected, 34);

    /* d = 2; -16 has code 0, +16 has 15; 1 and -1 are halfway and go up: 9 and 8. */
    float y[BLOCK] = {1, -16, 16, -1, 15, [16] = 14, 12.9f, 13, -15, -15.1f};
    unsigned char q4[18], q4_expected[18] = {0x00, 0x40, 0xF9, 0xE0, 0xFF, 0x18, 0x0F};
    memset(q4_expected + 7, 0x88, 11);
    ck_assert(format_q4_0.pack(y, 1, BLOCK, q4));
    ck_assert_mem_eq(q4, q4_expected, 18);

    float z[BLOCK] = {0}; /* m / -8 = -0 */
    ck_assert(format_q4_0.pack(z, 1, BLOCK, q4));
    ck_assert_uint_eq(q4[1], 0x80);
    ck_assert_uint_eq(q4[2], 0x88);
}
END_TEST

START_TEST(corner_rows_are_the_bytes_of_the_plain_rules) {
    const Format *format = scaled[_i];
    float x[BLOCK] = {0};
    demand_plain_bytes(format, x, "zeros");
    static const float sizes[] = {1,        -3.3f,     6.1e-5f,     5.9e-8f,   1e-6f,
                                  7e4f,     -8.3e6f,   8.32e6f,     -5.2e5f,   5.3e5f,
                                  1e-38f,   2e-39f,    1e-43f,      0x1p-149f, FLT_MAX,
                                  -FLT_MAX, 0x1p-128f, 0x1.01p-121f};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t at = 0; at < BLOCK; at++) {
            for (size_t i = 0; i < BLOCK; i++) x[i] = sizes[s];
            demand_plain_bytes(format, x, "constant");
            for (size_t i = 0; i < BLOCK; i++) x[i] = i % 3 ? 0 : sizes[s] / 100;
            x[at] = sizes[s];
            demand_plain_bytes(format, x, "one spike");
            x[(at + 5) % BLOCK] = -sizes[s];
            demand_plain_bytes(format, x, "a pair of spikes");
            for (size_t i = 0; i < BLOCK; i++) x[i] = -0.0f;
            x[at] = sizes[s];
            demand_plain_bytes(format, x, "a spike in -0");
        }
    for (uint64_t seed = 0; seed < 30000; seed++) {
        plain_row(x, BLOCK, seed);
        demand_plain_bytes(format, x, "random");
    }
    for (uint64_t seed = 0; seed < 30000; seed++) { /* any bits */
        for (size_t i = 0; i < BLOCK; i++)
            x[i] = plain_from_bits((uint32_t)random_draw(seed, 8, i) & 0xBFFFFFFF);
        demand_plain_bytes(format, x, "any bits");
    }
}
END_TEST

START_TEST(scales_that_overflow_f16_are_refused_and_those_just_below_are_not) {
    float x[BLOCK] = {0};
    unsigned char stored[36];
    static const float most[] = {65520.0f * 127, 65520.0f * 8};
    for (size_t f = 0; f < 2; f++)
        for (int sign = -1; sign <= 1; sign += 2) {
            x[7] = (float)sign * nextafterf(most[f], 0);
            ck_assert(scaled[f]->pack(x, 1, BLOCK, stored));
            x[7] = (float)sign * most[f];
            ck_assert(!scaled[f]->pack(x, 1, BLOCK, stored));
        }
    x[7] = FLT_MAX;
    ck_assert(format_fp8.pack(x, 1, BLOCK, stored));
}
END_TEST

/* ---- Errors ---------------------------------------------------------------------- */

/* The bound of caches.md B21 on one value, and as much for the rounding of the two
 * float products as 2^-22 of the row's largest. */
static double bound(const Format *format, const float *x, size_t i, double stored_d) {
    double amax = 0, m = 0;
    for (size_t j = 0; j < BLOCK; j++)
        if (fabs((double)x[j]) > amax) m = (double)x[j], amax = fabs(m);
    const double slack = amax * 0x1p-22 + 0x1p-149;
    if (format == &format_q8_0)
        return amax / 127 / 2 + 127 * fabs(amax / 127 - stored_d) + slack;
    const double d = m / -8, off = fabs(d - stored_d);
    if ((double)x[i] * m > 0) return fabs(d) / 2 + 8 * off + slack;
    return fabs(d) + 7 * off + slack;
}

START_TEST(errors_of_blocks_stay_within_their_bounds) {
    const Format *format = scaled[_i];
    double worst = 0, in_steps = 0;
    for (uint64_t seed = 0; seed < 40000; seed++) {
        float x[BLOCK], back[BLOCK];
        unsigned char stored[34];
        plain_row(x, BLOCK, seed);
        if (seed % 5 == 1) x[seed % BLOCK] = -x[(seed / 7) % BLOCK]; /* a pair */
        if (!format->pack(x, 1, BLOCK, stored)) continue;
        format->unpack(stored, 0, 1, 1, BLOCK, back);
        const unsigned scale = stored[0] | (unsigned)stored[1] << 8;
        const double d = plain_small_value(&plain_f16, scale);
        for (size_t i = 0; i < BLOCK; i++) {
            const double error = fabs((double)x[i] - (double)back[i]);
            DEMAND(error <= bound(format, x, i, d), "%s, row %llu: off by %g",
                   format->name, (unsigned long long)seed, error);
            worst = fmax(worst, error / bound(format, x, i, d));
            if (fabs(d) > 0x1p-14) in_steps = fmax(in_steps, error / fabs(d));
        }
    }
    printf("%s: errors up to %.4f of the bound, %.4f of an ordinary step\n",
           format->name, worst, in_steps);
    DEMAND(worst > 0.99, "the bound is too wide: %g", worst);
}
END_TEST

START_TEST(blocks_run_along_the_whole_row_of_a_token) {
    float x[64];
    unsigned char stored[68], one[34];
    plain_row(x, 64, 5);
    for (size_t f = 0; f < 2; f++) { /* 2 x 16 is one block, 4 x 16 are two */
        const size_t block = scaled[f]->row_bytes(1, 32);
        ck_assert_uint_eq(scaled[f]->row_bytes(2, 16), block);
        ck_assert(scaled[f]->pack(x, 4, 16, stored));
        ck_assert(plain_pack(scaled[f], x, one));
        ck_assert_mem_eq(stored, one, block);
        ck_assert(plain_pack(scaled[f], x + 32, one));
        ck_assert_mem_eq(stored + block, one, block);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("blocks");
    TCase *tests = tcase_create("blocks");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, blocks_worked_out_by_hand);
    tcase_add_loop_test(tests, corner_rows_are_the_bytes_of_the_plain_rules, 0, 3);
    tcase_add_test(tests,
                   scales_that_overflow_f16_are_refused_and_those_just_below_are_not);
    tcase_add_loop_test(tests, errors_of_blocks_stay_within_their_bounds, 0, 2);
    tcase_add_test(tests, blocks_run_along_the_whole_row_of_a_token);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
