/* exp in float32 against exp in double: at most 2 ulp. Every 997th float in the short
 * run, all of them with LONG=1 (about two minutes). */
#include "core/kernels/exp.h"
#include "tests/check_main.h"

#include <stdbool.h>

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* In units of the distance between floats at the right value. */
static double error_in_ulp(float x) {
    double right = exp((double)x), got = (double)exp_f32(x);
    int exponent;
    frexp(right, &exponent);
    int last = exponent - 24 < -149 ? -149 : exponent - 24;
    return fabs(ldexp(got - right, -last));
}

/* All floats of one sign from 0 to `end`, every step-th. */
static double worst_up_to(float end, uint32_t step, bool progress, float *where) {
    const uint32_t first = bits_of(end < 0 ? -0.0f : 0.0f), last = bits_of(end);
    double worst = 0;
    for (uint32_t b = first, tenth = 0; b <= last; b += step) {
        double error = error_in_ulp(float_of(b));
        if (error > worst) {
            worst = error;
            *where = float_of(b);
        }
        if (progress && (b - first) / ((last - first) / 10 + 1) != tenth) {
            tenth++;
            printf("exp: %u0%% of %s floats\n", tenth,
                   end < 0 ? "negative" : "positive");
            fflush(stdout);
        }
    }
    return worst;
}

START_TEST(exp_is_within_two_ulp_of_the_right_value) {
    const bool all = getenv("LONG") != NULL;
    const uint32_t step = all ? 1 : 997;
    float below = 0, above = 0;
    double low = worst_up_to(-87.33654f, step, all, &below);
    double high = worst_up_to(88.72283f, step, all, &above);
    printf("exp: %s, at most %.3f ulp (at %.9g) below 0 and %.3f ulp (at %.9g) above\n",
           all ? "all floats" : "every 997th float", low, (double)below, high,
           (double)above);
    ck_assert_msg(low <= 2 && high <= 2, "%g and %g ulp", low, high);
    ck_assert_msg(low > 0.5 && high > 0.5, "an exp that never errs was not measured");
}
END_TEST

START_TEST(exp_ends_where_its_header_says) {
    ck_assert(exp_f32(0.0f) == 1.0f && exp_f32(-0.0f) == 1.0f);
    ck_assert(exp_f32(0x1p-149f) == 1.0f && exp_f32(-0x1p-149f) == 1.0f);
    ck_assert(exp_f32(nextafterf(-87.33654f, -INFINITY)) == 0.0f);
    ck_assert(exp_f32(-87.33654f) > 0.0f);
    ck_assert(exp_f32(88.72283f) < INFINITY);
    ck_assert(exp_f32(nextafterf(88.72283f, INFINITY)) == INFINITY);
    ck_assert(bits_of(exp_f32(-INFINITY)) == 0); /* +0, not -0 */
    ck_assert(bits_of(exp_f32(-1e30f)) == 0);
    ck_assert(exp_f32(INFINITY) == INFINITY && exp_f32(1e30f) == INFINITY);
    ck_assert(isnan(exp_f32(NAN)) && isnan(exp_f32(-NAN)));
}
END_TEST

/* Written down from the first issue on: a change of one of these changes every digest.
 */
START_TEST(exp_keeps_its_bits) {
    static const struct {
        float x;
        uint32_t bits;
    } fixed[] = {{1.0f, 0x402df854},        {-1.0f, 0x3ebc5ab2},
                 {0.5f, 0x3fd3094c},        {-0.693147182f, 0x3f000000},
                 {10.0f, 0x46ac14ef},       {-10.0f, 0x383e6bce},
                 {87.5f, 0x7e96bab3},       {-87.3365402f, 0x00800026},
                 {88.7228317f, 0x7f7fff84}, {-20.25f, 0x30dc9ef1},
                 {3.14159274f, 0x41b92024}, {-0.00100000005f, 0x3f7fbe7f}};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        ck_assert_msg(bits_of(exp_f32(fixed[i].x)) == fixed[i].bits,
                      "exp(%.9g) is 0x%08x", (double)fixed[i].x,
                      (unsigned)bits_of(exp_f32(fixed[i].x)));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("exp");
    TCase *tests = tcase_create("exp");
    tcase_set_timeout(tests, 3600);
    tcase_add_test(tests, exp_is_within_two_ulp_of_the_right_value);
    tcase_add_test(tests, exp_ends_where_its_header_says);
    tcase_add_test(tests, exp_keeps_its_bits);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
