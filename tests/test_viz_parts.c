/* The arithmetic under the pictures: marks of axes, numbers as words, labels pushed
 * apart, colors that can be read. */
#include "tests/check_main.h"
#include "viz/color.h"
#include "viz/number.h"
#include "viz/rect.h"
#include "viz/spread.h"
#include "viz/ticks.h"

#include <math.h>
#include <string.h>

/* The labels of all marks, divided by spaces. */
static const char *labels(double low, double high, bool log, VizUnit unit,
                          size_t most) {
    static char text[2000];
    VizTicks ticks;
    viz_ticks(low, high, log, false, unit, most, &ticks);
    text[0] = 0;
    for (size_t i = 0; i < ticks.count; i++) {
        if (!ticks.tick[i].label[0]) continue;
        if (text[0]) strcat(text, "|");
        strcat(text, ticks.tick[i].label);
    }
    return text;
}

START_TEST(linear_marks_go_by_1_2_and_5) {
    ck_assert_str_eq(labels(0, 10, false, VIZ_COUNT, 5), "0|2|4|6|8|10");
    ck_assert_str_eq(labels(0, 64, false, VIZ_COUNT, 7), "0|10|20|30|40|50|60|70");
    ck_assert_str_eq(labels(0, 0.9, false, VIZ_COUNT, 5), "0|0.2|0.4|0.6|0.8|1.0");
    ck_assert_str_eq(labels(0, 47e6, false, VIZ_COUNT, 5), "0|10M|20M|30M|40M|50M");
    ck_assert_str_eq(labels(-3, 3, false, VIZ_COUNT, 4), "\xE2\x88\x92"
                                                         "4|\xE2\x88\x92"
                                                         "2|0|2|4");
    ck_assert_str_eq(labels(0, 16.0 * (1 << 30), false, VIZ_BYTES, 4),
                     "0|4 GiB|8 GiB|12 GiB|16 GiB");
}
END_TEST

START_TEST(logarithmic_marks_go_by_decades) {
    ck_assert_str_eq(labels(1, 1e6, true, VIZ_COUNT, 8), "1|10|100|1k|10k|100k|1M");
    ck_assert_str_eq(labels(1, 100, true, VIZ_COUNT, 8), "1|2|5|10|20|50|100");
    ck_assert_str_eq(labels(1, 1e12, true, VIZ_COUNT, 4), "1|1k|1M|1G|1T");
    ck_assert_str_eq(labels(0.001, 10, true, VIZ_COUNT, 5), "0.001|0.01|0.1|1|10");
    ck_assert_str_eq(labels(1024, 65536, true, VIZ_BYTES, 3),
                     "1 KiB|4 KiB|16 KiB|64 KiB");
}
END_TEST

START_TEST(marks_survive_every_range) {
    static const double ends[] = {0,    1,   -1,    1e-320, 1e308, -1e308, 5e-324,
                                  1e-9, 1e9, 123.4, 1e15,   0.1,   7,      1 + 1e-15};
    enum { COUNT = sizeof ends / sizeof *ends };
    for (size_t i = 0; i < COUNT * COUNT * 4; i++) {
        double low = ends[i % COUNT], high = ends[i / COUNT % COUNT];
        bool log = i / COUNT / COUNT % 2;
        VizUnit unit = i / COUNT / COUNT / 2 ? VIZ_BYTES : VIZ_COUNT;
        if (log && (low <= 0 || high <= 0)) continue;
        VizTicks ticks;
        viz_ticks(low, high, log, false, unit, 6, &ticks);
        ck_assert_msg(ticks.low < ticks.high, "%g to %g", low, high);
        ck_assert(isfinite(ticks.low) && isfinite(ticks.high));
        for (size_t t = 1; t < ticks.count; t++)
            ck_assert_msg(ticks.tick[t - 1].at < ticks.tick[t].at, "%g to %g", low,
                          high);
    }
}
END_TEST

START_TEST(trimmed_marks_stay_inside) {
    VizTicks ticks;
    viz_ticks(1, 64, false, true, VIZ_COUNT, 8, &ticks);
    viz_ticks_trim(&ticks, 1, 64);
    ck_assert_double_eq(ticks.low, 1);
    ck_assert_double_eq(ticks.high, 64);
    ck_assert_double_eq(ticks.tick[0].at, 10);
    ck_assert_double_eq(viz_ticks_place(&ticks, 64), 1);
    viz_ticks_trim(&ticks, 11, 19); /* would leave no mark */
    ck_assert_double_eq(ticks.high, 64);
}
END_TEST

START_TEST(numbers_have_three_digits_that_count) {
    static const struct {
        double value;
        VizUnit unit;
        const char *text;
    } pairs[] = {
        {0, VIZ_COUNT, "0"},
        {7, VIZ_COUNT, "7"},
        {2048, VIZ_COUNT, "2048"},
        {12345, VIZ_COUNT, "12.3k"},
        {999999, VIZ_COUNT, "1M"},
        {1.5e9, VIZ_COUNT, "1.5G"},
        {0.25, VIZ_COUNT, "0.25"},
        {0.0001, VIZ_COUNT, "1.0e-04"},
        {940, VIZ_BYTES, "940 B"},
        {1536, VIZ_BYTES, "1.5 KiB"},
        {1048575, VIZ_BYTES, "1 MiB"},
        {24.0 * (1 << 30), VIZ_BYTES, "24 GiB"},
        {1e30, VIZ_COUNT, "1.0e+30"},
        {NAN, VIZ_COUNT, "NaN"},
        {-42, VIZ_COUNT,
         "\xE2\x88\x92"
         "42"},
    };
    char text[VIZ_NUMBER_ROOM];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        ck_assert_str_eq(viz_number(pairs[i].value, pairs[i].unit, text),
                         pairs[i].text);
}
END_TEST

START_TEST(exact_numbers_come_back) {
    char text[VIZ_NUMBER_ROOM];
    for (size_t i = 1; i < 5000; i++) {
        double value = sin((double)i) * pow(10, (double)(i % 40) - 20);
        ck_assert_double_eq(strtod(viz_number_exact(value, text), NULL), value);
    }
    ck_assert_str_eq(viz_number_exact(9007199254740992.0, text), "9007199254740992");
    ck_assert_str_eq(viz_number_exact(0.1, text), "0.1");
    ck_assert_str_eq(viz_number_exact(-0.0, text), "0");
}
END_TEST

START_TEST(cells_show_no_negative_nothing) {
    char text[VIZ_NUMBER_ROOM];
    ck_assert_str_eq(viz_cell(-0.001, 2, text), "0.00");
    ck_assert_str_eq(viz_cell(-0.006, 2, text), "\xE2\x88\x92"
                                                "0.01");
    ck_assert_str_eq(viz_cell(INFINITY, 2, text), "inf");
    ck_assert_int_eq(viz_cell_digits((double[]){1, NAN, 3}, 3), 0);
    ck_assert_int_eq(viz_cell_digits((double[]){1, 2.5, 3}, 3), 2);
}
END_TEST

START_TEST(labels_are_pushed_apart_no_further_than_needed) {
    double at[] = {50, 50, 51};
    viz_spread(at, 3, 10, 0, 100);
    ck_assert_double_eq_tol(at[0], 50.333 - 10, 0.01);
    ck_assert_double_eq_tol(at[1], 50.333, 0.01);
    ck_assert_double_eq_tol(at[2], 50.333 + 10, 0.01);
    double edge[] = {99, 98, 5};
    viz_spread(edge, 3, 10, 0, 100);
    ck_assert_double_eq(edge[0], 100);
    ck_assert_double_eq(edge[1], 90);
    ck_assert_double_eq(edge[2], 5);
    double low[] = {1, 2, 3};
    viz_spread(low, 3, 10, 0, 100);
    ck_assert_double_eq(low[0], 0);
    ck_assert_double_eq(low[2], 20);
    ck_assert_uint_eq(viz_spread_fit(20, 10, 0, 100), 11);
    ck_assert_uint_eq(viz_spread_fit(1000, 1, 0, 5000), VIZ_SPREAD_MOST);
}
END_TEST

static double contrast(VizRgb a, VizRgb b) {
    double l[2];
    const VizRgb both[] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        double c[] = {both[i].r, both[i].g, both[i].b};
        for (size_t k = 0; k < 3; k++)
            c[k] = c[k] <= 0.04045 ? c[k] / 12.92 : pow((c[k] + 0.055) / 1.055, 2.4);
        l[i] = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2] + 0.05;
    }
    return l[0] > l[1] ? l[0] / l[1] : l[1] / l[0];
}

START_TEST(words_can_be_read_on_every_ground) {
    VizScale scale = {-1, 1, VIZ_RAMP_SIGNED};
    for (int i = -100; i <= 100; i++) {
        VizRgb ground = viz_scale_rgb(&scale, i / 100.0);
        ck_assert_double_ge(contrast(ground, viz_ink_on(ground)), 4.0);
    }
    for (int color = VIZ_AUTO; color <= VIZ_WHITE; color++)
        ck_assert_double_ge(
            contrast(viz_word_rgb(viz_rgb((VizColor)color)), viz_rgb(VIZ_WHITE)), 4.5);
}
END_TEST

START_TEST(ramps_go_from_light_to_dark_and_zero_is_nearly_white) {
    VizScale scale = {0, 1, VIZ_RAMP_BLUE};
    double before = 0;
    for (int i = 0; i <= 50; i++) {
        double now = contrast(viz_scale_rgb(&scale, i / 50.0), viz_rgb(VIZ_WHITE));
        ck_assert_double_ge(now, before);
        before = now;
    }
    ck_assert_double_lt(contrast(viz_scale_rgb(&scale, 0), viz_rgb(VIZ_WHITE)), 1.06);
    VizRgb beyond = viz_scale_rgb(&scale, 7), end = viz_scale_rgb(&scale, 1);
    ck_assert_mem_eq(&beyond, &end, sizeof end);
}
END_TEST

START_TEST(rectangles_divide_without_rest) {
    VizRect whole = {10, 20, 100, 50}, rest = whole;
    VizRect left = viz_cut_left(&rest, 30), bottom = viz_cut_bottom(&rest, 80);
    ck_assert_double_eq(left.w, 30);
    ck_assert_double_eq(rest.x, 40);
    ck_assert_double_eq(bottom.h, 50);
    ck_assert_double_eq(rest.h, 0);
    VizRect cell = viz_grid(whole, 2, 3, 5, 5);
    ck_assert_double_eq(cell.x + cell.w, 110);
    ck_assert_double_eq(cell.y + cell.h, 70);
    ck_assert_double_eq(viz_inset(whole, 40).h, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("viz parts");
    TCase *parts = tcase_create("parts");
    tcase_set_timeout(parts, 10);
    tcase_add_test(parts, linear_marks_go_by_1_2_and_5);
    tcase_add_test(parts, logarithmic_marks_go_by_decades);
    tcase_add_test(parts, marks_survive_every_range);
    tcase_add_test(parts, trimmed_marks_stay_inside);
    tcase_add_test(parts, numbers_have_three_digits_that_count);
    tcase_add_test(parts, exact_numbers_come_back);
    tcase_add_test(parts, cells_show_no_negative_nothing);
    tcase_add_test(parts, labels_are_pushed_apart_no_further_than_needed);
    tcase_add_test(parts, words_can_be_read_on_every_ground);
    tcase_add_test(parts, ramps_go_from_light_to_dark_and_zero_is_nearly_white);
    tcase_add_test(parts, rectangles_divide_without_rest);
    suite_add_tcase(suite, parts);
    return check_run(suite);
}
