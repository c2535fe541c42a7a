/* What `kvstep cache` shows, from results made by hand. */
#include "chapters/03_cache/command.h"
#include "chapters/03_cache/print.h"
#include "chapters/common/text.h"
#include "tests/capture.h"
#include "tests/check_main.h"

#include <jansson.h>
#include <string.h>

/* A result as if `steps` tokens had been drawn after a prompt of four: made by hand, so
 * that it may also be one that never happens. */
static CacheResult make_result(size_t steps, uint64_t flops, Memory *memory) {
    CacheResult r = {.memory = memory, .prompt_tokens = 4, .steps = steps};
    ck_assert(model_open(&r.model, MODEL_DEFAULT, NULL, memory, NULL));
    r.step = memory_new(memory, steps, sizeof *r.step, NULL);
    for (size_t i = 0; i < steps; i++) {
        CacheStep *s = &r.step[i];
        *s = (CacheStep){.step = 3 + i, .context = 4 + i, .rows = i == 0 ? 4 : 1};
        s->token = 65;
        s->text = (Piece){"\xe2", 1};
        s->recompute.counters.flops[PART_MLP] = flops * s->context;
        s->cached.counters.flops[PART_MLP] = flops * s->rows;
        s->cached.counters.kv_bytes_read = 7;
        s->recompute.seconds = s->cached.seconds = 0.25;
        s->cache_bytes = 256 * s->context;
        counters_add(&r.recompute.counters, &s->recompute.counters);
        counters_add(&r.cached.counters, &s->cached.counters);
    }
    r.full = true;
    r.kind = "contiguous";
    r.predicted = r.bytes.reserved = 262144;
    r.bytes.live = 256 * (3 + steps);
    r.bytes.wasted = r.bytes.reserved - r.bytes.live;
    strcpy(r.digest, "0123456789abcdef");
    return r;
}

/* What the program prints and its exit status; free the text. */
static char *report(const CacheResult *result, const Options *options, int status) {
    Capture capture;
    Error err = {0};
    capture_begin(&capture);
    ck_assert_int_eq(cache_report(result, options, capture.stream, &err), status);
    capture_end(&capture);
    return capture.text;
}

START_TEST(the_table_fits_80_columns_and_about_20_rows) {
    const uint64_t sizes[] = {1000, 50000000, (uint64_t)1 << 50};
    for (size_t i = 0; i < 3; i++) {
        Memory memory = {0};
        CacheResult result = make_result(300, sizes[i], &memory);
        Capture capture;
        capture_begin(&capture);
        ck_assert(cache_print_table(&result, capture.stream, NULL));
        char *text = (char *)capture_end(&capture);
        ck_assert(strstr(text, "(20 of 300 steps shown"));
        ck_assert(strstr(text, i == 0 ? " FLOPs " : i == 1 ? "kFLOPs " : "GFLOPs "));
        size_t rows = 0;
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
            ck_assert_msg(text_width(line) <= 80, "%s", line);
            rows +=
                strncmp(line, "prefill ", 8) == 0 || strncmp(line, "decode ", 7) == 0;
        }
        ck_assert_uint_eq(rows, 20);
        free(capture.text);
        cache_result_close(&result);
        ck_assert_uint_eq(memory.live, 0);
    }
}
END_TEST

START_TEST(the_report_says_the_totals_in_words) {
    Memory memory = {0};
    CacheResult result = make_result(61, 1000, &memory);
    char *text = report(&result, &(Options){0}, STATUS_FINE);
    ck_assert(strstr(text, "rows worked through: 2,074 without, 64 with; last step: 64 "
                           "rows against 1\n"));
    ck_assert(
        strstr(text, "FLOPs in all: 2,074,000 without, 64,000 with: ratio 32.4\n"));
    ck_assert(strstr(text, "(contiguous): 262,144 predicted, 262,144 reserved\n"
                           "of these 16,384 live, 245,760 wasted; beside them 0 of "));
    ck_assert(strstr(text, "same bits: all 61 steps, digest 0123456789abcdef\n"));
    ck_assert(strstr(text, "\nread: "));
    free(text);
    text = report(&result, &(Options){.quiet = true}, STATUS_FINE);
    ck_assert_str_eq(text, "same bits: all 61 steps, digest 0123456789abcdef\n");
    free(text);
    text = report(&result, &(Options){.digest = true, .quiet = true}, STATUS_FINE);
    ck_assert_str_eq(text, "0123456789abcdef\n");
    free(text);
    cache_result_close(&result);
}
END_TEST

START_TEST(another_rule_is_said_with_the_step_where_the_full_model_parts) {
    Memory memory = {0};
    CacheResult result = make_result(61, 1000, &memory);
    result.full = false;
    strcpy(result.words, "a window of 16");
    result.full_differs = 16;
    char *text = report(&result, &(Options){.quiet = true}, STATUS_FINE);
    ck_assert(strstr(text, "\nthat is: as recomputing with a window of 16;\n"
                           "the full model differs from step 16 on\n"));
    free(text);
    result.full_differs = FULL_MODEL_SAME;
    result.full_compared = 16;
    text = report(&result, &(Options){.quiet = true}, STATUS_FINE);
    ck_assert(strstr(text, "agrees for the 16 steps that its context of 512 allows\n"));
    free(text);
    result.full_compared = 61;
    text = report(&result, &(Options){.quiet = true}, STATUS_FINE);
    ck_assert(strstr(text, "so far the full model agrees\n"));
    free(text);
    cache_result_close(&result);
}
END_TEST

START_TEST(a_difference_is_said_where_it_began_and_is_exit_status_1) {
    Memory memory = {0};
    CacheResult result = make_result(9, 1000, &memory);
    result.difference = (CacheDifference){
        .differs = true, .in_rows = true, .step = 11, .layer = 1, .position = 7};
    char *text = report(&result, &(Options){.quiet = true}, STATUS_FAILED);
    ck_assert_str_eq(text,
                     "bits differ: first at step 11, layer 1, position 7, in a row "
                     "of K or V\n");
    free(text);
    text = report(&result, &(Options){0}, STATUS_FAILED);
    ck_assert(!strstr(text, "same bits") &&
              strstr(text, "bits differ: first at step 11"));
    free(text);
    text = report(&result, &(Options){.json = true}, STATUS_FAILED);
    json_t *root = json_loads(text, 0, NULL);
    json_t *where = json_object_get(root, "difference");
    ck_assert(json_is_false(json_object_get(root, "same_bits")));
    ck_assert_int_eq(json_integer_value(json_object_get(where, "step")), 11);
    ck_assert_int_eq(json_integer_value(json_object_get(where, "layer")), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(where, "position")), 7);
    json_decref(root);
    free(text);
    cache_result_close(&result);
}
END_TEST

static json_int_t integer(const json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "%s", key);
    return json_integer_value(value);
}

static void demand_bill(const json_t *step, const char *engine, json_int_t total) {
    const json_t *bill = json_object_get(step, engine);
    const json_t *flops = json_object_get(bill, "flops");
    json_int_t sum = 0;
    for (int part = 0; part < PARTS; part++)
        sum += integer(flops, part_name((Part)part));
    ck_assert_int_eq(sum, total);
    ck_assert_int_eq(integer(flops, "total"), total);
    integer(bill, "elementwise");
    integer(bill, "kv_bytes_written");
    integer(bill, "weight_bytes_read");
    ck_assert(json_real_value(json_object_get(bill, "seconds")) == 0.25);
}

START_TEST(json_has_every_step_with_the_fields_of_the_contract) {
    Memory memory = {0};
    CacheResult result = make_result(300, (uint64_t)1 << 40, &memory);
    char *text = report(&result, &(Options){.json = true, .quiet = true}, STATUS_FINE);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(root, "command")), "cache");
    ck_assert_str_eq(json_string_value(json_object_get(root, "digest")),
                     "0123456789abcdef");
    ck_assert(json_is_true(json_object_get(root, "same_bits")));
    ck_assert_ptr_eq(json_object_get(root, "difference"), NULL);
    ck_assert_int_eq(integer(root, "prompt_tokens"), 4);
    const json_t *model = json_object_get(root, "model");
    ck_assert_int_eq(integer(model, "dim"), 64);
    ck_assert_int_eq(integer(model, "kv_heads"), 2);
    ck_assert_int_eq(integer(model, "parameters"),
                     (json_int_t)weights_parameters(&result.model.weights.shape));
    const json_t *steps = json_object_get(root, "steps"), *step;
    ck_assert_uint_eq(json_array_size(steps), 300);
    size_t i;
    json_array_foreach(steps, i, step) {
        const json_int_t n = integer(step, "context"), flops = (json_int_t)1 << 40;
        ck_assert_int_eq(integer(step, "step"), n - 1);
        ck_assert_int_eq(integer(step, "token"), 65);
        ck_assert_str_eq(json_string_value(json_object_get(step, "text")),
                         "\xef\xbf\xbd");
        ck_assert_str_eq(json_string_value(json_object_get(step, "bytes")), "e2");
        demand_bill(step, "recompute", n * flops);
        demand_bill(step, "cached", (i == 0 ? 4 : 1) * flops);
        const json_t *cached = json_object_get(step, "cached");
        ck_assert_int_eq(integer(cached, "cache_bytes"), 256 * n);
        ck_assert_int_eq(integer(cached, "kv_bytes_read"), 7);
    }
    const json_t *totals = json_object_get(root, "totals");
    ck_assert_int_eq(integer(json_object_get(totals, "cached"), "rows"), 303);
    ck_assert_int_eq(integer(json_object_get(totals, "cache_bytes"), "predicted"),
                     262144);
    json_decref(root);
    free(text);
    cache_result_close(&result);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

int main(void) {
    TCase *cache = tcase_create("shown");
    tcase_add_test(cache, the_table_fits_80_columns_and_about_20_rows);
    tcase_add_test(cache, the_report_says_the_totals_in_words);
    tcase_add_test(cache,
                   another_rule_is_said_with_the_step_where_the_full_model_parts);
    tcase_add_test(cache, a_difference_is_said_where_it_began_and_is_exit_status_1);
    tcase_add_test(cache, json_has_every_step_with_the_fields_of_the_contract);
    Suite *suite = suite_create("cache command");
    suite_add_tcase(suite, cache);
    return check_run(suite);
}
