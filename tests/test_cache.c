/* The contiguous cache in particular; what every cache must do is in test_conform.c. */
#include "core/cache/contiguous.h"
#include "core/conform/shadow.h"
#include "core/model/cached.h"
#include "tests/check_main.h"

#include <math.h>
#include <string.h>

static const ConformTarget contiguous = {"contiguous", contiguous_open, 0, false};

static Shadow shadow;
static Memory memory;

static void open_shadow(void) {
    Error err = {0};
    memory = (Memory){0};
    ck_assert_msg(shadow_open(&shadow, &contiguous, 0, &memory, &err), "%s", err.text);
}

static void close_shadow(void) {
    shadow_close(&shadow);
    ck_assert_uint_eq(memory.live, 0);
}

START_TEST(predicted_bytes_are_allocated_bytes) {
    size_t predicted, by_hand = 0;
    for (size_t l = 0; l < shadow.shape.layers; l++)
        by_hand += SHADOW_SEQUENCES * SHADOW_CAPACITY * shadow.shape.layer[l].kv_heads *
                   (shadow.shape.layer[l].k_size + shadow.shape.layer[l].v_size) * 4;
    ck_assert(formula_cache_bytes(&shadow.shape, &shadow.rule, SHADOW_SEQUENCES,
                                  SHADOW_CAPACITY, &predicted));
    ck_assert_uint_eq(predicted, by_hand);
    ck_assert_uint_eq(cache_bytes(shadow.cache).reserved, predicted);
    ck_assert_uint_eq(memory.live, predicted + cache_bytes(shadow.cache).metadata);
}
END_TEST

START_TEST(reserved_bytes_stay_and_live_bytes_grow_by_a_row) {
    Error err = {0};
    const size_t reserved = cache_bytes(shadow.cache).reserved;
    const size_t allocations = memory.allocations;
    size_t row = 0;
    for (size_t l = 0; l < shadow.shape.layers; l++)
        row += formula_row_bytes(&shadow.shape.layer[l], &shadow.rule.layer[l]);
    for (size_t n = 1; n <= SHADOW_CAPACITY; n++) {
        ck_assert(shadow_append(&shadow, (size_t[SHADOW_SEQUENCES]){0, 1}, &err));
        CacheBytes bytes = cache_bytes(shadow.cache);
        ck_assert_uint_eq(bytes.live, n * row);
        ck_assert_uint_eq(bytes.reserved, reserved);
        ck_assert_uint_eq(bytes.wasted, reserved - n * row);
    }
    ck_assert_uint_eq(memory.allocations, allocations);
}
END_TEST

START_TEST(a_window_bounds_what_is_live) {
    Error err = {0};
    for (size_t l = 0; l < shadow.rule.layers; l++) shadow.rule.layer[l].recent = 4;
    ck_assert(shadow_append(&shadow, (size_t[SHADOW_SEQUENCES]){9}, &err));
    size_t live = 0;
    for (size_t l = 0; l < shadow.shape.layers; l++)
        live += 4 * formula_row_bytes(&shadow.shape.layer[l], &shadow.rule.layer[l]);
    ck_assert_uint_eq(cache_bytes(shadow.cache).live, live);
    shadow.rule.layer[1].sinks = 2;
    live += 2 * formula_row_bytes(&shadow.shape.layer[1], &shadow.rule.layer[1]);
    ck_assert_uint_eq(cache_bytes(shadow.cache).live, live);
}
END_TEST

START_TEST(slots_say_where_rows_stand) {
    Error err = {0};
    ck_assert(shadow_append(&shadow, (size_t[SHADOW_SEQUENCES]){2, 3}, &err));
    ck_assert_uint_eq(cache_slot(shadow.cache, 0, 0, 1), 1);
    ck_assert_uint_eq(cache_slot(shadow.cache, 2, 1, 2), SHADOW_CAPACITY + 2);
}
END_TEST

#ifdef KVSTEP_CHECKING
START_TEST(dead_cells_hold_nan) {
    Error err = {0};
    ck_assert(shadow_append(&shadow, (size_t[SHADOW_SEQUENCES]){6}, &err));
    ck_assert(cache_crop(shadow.cache, 0, 4, &err));
    Rows rows = cache_rows(shadow.cache, 1, 0);
    Span span;
    rows.at(&rows, 0, &span);
    for (size_t p = 0; p < 8; p++) {
        const float *k = (const float *)((const char *)span.k + p * span.k_step);
        const float *v = (const float *)((const char *)span.v + p * span.v_step);
        ck_assert_msg(!isnan(k[0]) == (p < 4) && !isnan(v[0]) == (p < 4), "row %zu", p);
    }
    ck_assert(cache_check(shadow.cache, &err));
    ((float *)(uintptr_t)span.v)[5 * span.v_step / sizeof(float)] = 1;
    ck_assert(!cache_check(shadow.cache, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "a row past its 4 tokens was written"));
    shadow.length[0] = 4;
}
END_TEST
#endif

START_TEST(sizes_past_32_bits_are_right_and_past_64_refused) {
    Shape shape = {.dim = 16384, .vocab = 9, .context = 131072, .layers = 126};
    Rule rule;
    size_t bytes;
    Error err = {0};
    shape_all_layers(&shape, &(LayerShape){128, 8, 128, 128, 53248, SHAPE_NO_WINDOW});
    rule_full(&rule, &shape, &format_f32);
    ck_assert(formula_cache_bytes(&shape, &rule, 1, 131072, &bytes));
    ck_assert_uint_eq(bytes, (size_t)126 << 30); /* twice the 63 GiB of two-byte rows */
    ck_assert(!formula_cache_bytes(&shape, &rule, (size_t)1 << 32, 1 << 16, &bytes));
    CacheConfig config = {.shape = &shape,
                          .rule = &rule,
                          .sequences = (size_t)1 << 40,
                          .capacity = (size_t)1 << 40};
    ck_assert_ptr_null(cache_open("contiguous", &config, &memory, &err));
    ck_assert_uint_gt(strlen(err.text), 0);
}
END_TEST

START_TEST(an_unknown_kind_is_refused_with_the_kinds_there_are) {
    Error err = {0};
    CacheConfig config = {
        .shape = &shadow.shape, .rule = &shadow.rule, .sequences = 1, .capacity = 1};
    ck_assert_ptr_null(cache_open("contigous", &config, &memory, &err));
    ck_assert_str_eq(
        err.text,
        "no cache is called 'contigous'; there are: contiguous growing ring paged");
}
END_TEST

START_TEST(a_row_that_is_not_finite_is_refused_naming_step_and_layer) {
    Error err = {0};
    const size_t seq = 0, rows = 1;
    float k[SHADOW_MOST_ROW] = {0}, v[SHADOW_MOST_ROW] = {0};
    ck_assert(shadow_append(&shadow, (size_t[SHADOW_SEQUENCES]){3}, &err));
    ck_assert(cache_reserve(shadow.cache, 1, &seq, &rows, &err));
    v[2] = INFINITY;
    ck_assert(!cache_write(shadow.cache, shadow.kernels, 2, 0, 3, 1, k, v, &err));
    ck_assert_str_eq(err.text, "step 3, layer 2: a value is not finite as f32");
    k[0] = NAN;
    ck_assert(!cache_write(shadow.cache, shadow.kernels, 0, 0, 3, 1, k, v, &err));
    ck_assert_str_eq(err.text, "step 3, layer 0: a key is not finite as f32");
    cache_abandon(shadow.cache);
    ck_assert_msg(shadow_check(&shadow, &err), "%s", err.text);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("cache");
    TCase *tests = tcase_create("contiguous");
    tcase_add_checked_fixture(tests, open_shadow, close_shadow);
    tcase_add_test(tests, predicted_bytes_are_allocated_bytes);
    tcase_add_test(tests, reserved_bytes_stay_and_live_bytes_grow_by_a_row);
    tcase_add_test(tests, a_window_bounds_what_is_live);
    tcase_add_test(tests, slots_say_where_rows_stand);
#ifdef KVSTEP_CHECKING
    tcase_add_test(tests, dead_cells_hold_nan);
#endif
    tcase_add_test(tests, sizes_past_32_bits_are_right_and_past_64_refused);
    tcase_add_test(tests, an_unknown_kind_is_refused_with_the_kinds_there_are);
    tcase_add_test(tests, a_row_that_is_not_finite_is_refused_naming_step_and_layer);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
