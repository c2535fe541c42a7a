/* `kvstep generate`: what a step without a cache costs, and how much of it was done
 * before. */
#include "chapters/01_generate/command.h"
#include "chapters/01_generate/print.h"
#include "chapters/03_cache/run.h"
#include "core/count/formula.h"
#include "tests/chapter_run.h"
#include "tests/zero_model.h"

#include <jansson.h>

static GenerateResult run(const Options *options, Memory *memory) {
    GenerateResult result;
    Error err = {0};
    ck_assert_msg(generate_run(options, NULL, NULL, &result, memory, &err), "%s",
                  err.text);
    return result;
}

static char *report(const GenerateResult *result, const Options *options) {
    Capture capture;
    Error err = {0};
    capture_begin(&capture);
    ck_assert_msg(generate_report(result, options, capture.stream, &err) == STATUS_FINE,
                  "%s", err.text);
    capture_end(&capture);
    return capture.text;
}

enum { OPTIONS = 5 };

static Options options_of(size_t i) {
    switch (i) {
    case 0:
        return TYPED(&generate_command, "--tokens", "20");
    case 1:
        return TYPED(&generate_command, "--tokens", "9", "--scores", "dense",
                     "--prompt", "once upon");
    case 2:
        return TYPED(&generate_command, "--model", TINY, "--temperature", "0.8",
                     "--top-p", "0.9", "--seed", "7", "--prompt", "abc", "--tokens",
                     "20");
    case 3:
        return TYPED(&generate_command, "--tokens", "7", "--logits", "all", "--prompt",
                     "xy");
    default:
        return TYPED(&generate_command, "--tokens", "12", "--model",
                     "random:dim=48,layers=3,heads=6,kv_heads=3,hidden=31,window=5");
    }
}

START_TEST(every_old_row_has_the_bits_of_the_step_before) {
    Memory memory = {0};
    const Options options = options_of((size_t)_i);
    GenerateResult r = run(&options, &memory);
    const size_t layers = r.model.weights.shape.layers;
    ck_assert_uint_eq(r.steps, options.tokens);
    for (size_t i = 0; i < r.steps; i++) {
        const GenerateStep *s = &r.step[i];
        ck_assert_uint_eq(s->context, r.prompt_tokens + i);
        ck_assert_uint_eq(s->step, s->context - 1);
        ck_assert_uint_eq(s->rows, layers * s->context);
        ck_assert_uint_eq(s->same, i == 0 ? 0 : layers * (s->context - 1));
        ck_assert_uint_eq(s->tokens_same, i == 0 ? 0 : s->context - 1);
    }
    generate_result_close(&r);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(a_new_row_is_new_even_if_it_looks_like_memory_never_written) {
    Memory memory = {0};
    ZeroModel zero;
    zero_model_make(&zero);
    const Options options = TYPED(&generate_command, "--model", zero.model,
                                  "--tokenizer", zero.tokenizer, "--tokens", "4");
    GenerateResult r = run(&options, &memory);
    for (size_t i = 0; i < r.steps; i++) ck_assert_uint_eq(r.step[i].same, i);
    ck_assert_uint_eq(r.steps, 4);
    generate_result_close(&r);
    zero_model_remove(&zero);
}
END_TEST

/* What rows behind `first` of n cost by the formula. */
static uint64_t cost(const GenerateResult *r, const Options *o, size_t first,
                     size_t n) {
    Rule rule;
    Counters sum = {0};
    rule_full(&rule, &r->model.weights.shape, &format_f32);
    FormulaRows rows = {.first = first,
                        .n = n - first,
                        .logits = o->logits_all ? n - first : 1,
                        .dense = o->dense};
    formula_rows(&r->model.weights.shape, &rule, &rows, &sum);
    return counters_flops(&sum);
}

START_TEST(done_before_is_the_step_without_what_its_new_row_costs) {
    Memory memory = {0};
    const Options options = options_of((size_t)_i);
    GenerateResult r = run(&options, &memory);
    uint64_t before = 0, total = 0;
    for (size_t i = 0; i < r.steps; i++) {
        const GenerateStep *s = &r.step[i];
        const uint64_t flops = counters_flops(&s->counters);
        ck_assert_uint_eq(flops, cost(&r, &options, 0, s->context));
        const size_t old = i == 0 ? 0 : s->context - 1;
        ck_assert_uint_eq(s->done_before, flops - cost(&r, &options, old, s->context));
        ck_assert((s->done_before > 0) == (i > 0));
        before += s->done_before;
        total += flops;
    }
    ck_assert_uint_eq(r.done_before, before);
    ck_assert_uint_eq(counters_flops(&r.total), total);
    generate_result_close(&r);
}
END_TEST

START_TEST(the_logits_are_those_of_the_cache_command) {
    Memory memory = {0};
    const Options options = options_of((size_t)_i);
    GenerateResult r = run(&options, &memory);
    CacheResult cache;
    Options same = options;
    same.cache = "contiguous";
    ck_assert(cache_run(&same, NULL, NULL, &cache, &memory, NULL));
    ck_assert_uint_eq(strlen(r.digest), 16);
    ck_assert_str_eq(r.digest, cache.digest);
    ck_assert_uint_eq(r.steps, cache.steps);
    for (size_t i = 0; i < r.steps; i++) {
        ck_assert_int_eq(r.step[i].token, cache.step[i].token);
        ck_assert(memcmp(&r.step[i].counters, &cache.step[i].recompute.counters,
                         sizeof(Counters)) == 0);
    }
    cache_result_close(&cache);
    generate_result_close(&r);
}
END_TEST

START_TEST(dense_scores_cost_what_was_said_beside_causal_and_change_no_bit) {
    Memory memory = {0};
    const Options causal = TYPED(&generate_command, "--tokens", "20");
    const Options dense =
        TYPED(&generate_command, "--tokens", "20", "--scores", "dense");
    GenerateResult a = run(&causal, &memory), b = run(&dense, &memory);
    ck_assert_str_eq(a.digest, b.digest);
    ck_assert_uint_eq(counters_flops(&a.total), counters_flops(&a.causal));
    ck_assert_uint_eq(counters_flops(&b.total), counters_flops(&a.dense));
    ck_assert_uint_eq(counters_flops(&a.dense), counters_flops(&b.dense));
    ck_assert_uint_eq(counters_flops(&a.causal), counters_flops(&b.causal));
    ck_assert_uint_gt(counters_flops(&b.total), counters_flops(&a.total));
    for (size_t i = 0; i < a.steps; i++) {
        const uint64_t n = a.step[i].context;
        ck_assert_uint_eq(a.step[i].pairs_dense, n * n);
        ck_assert_uint_eq(a.step[i].pairs_causal, n * (n + 1) / 2);
        ck_assert_int_eq(a.step[i].token, b.step[i].token);
    }
    generate_result_close(&a);
    generate_result_close(&b);
}
END_TEST

/* Prices of any size, for the table's width. */
static void make_dear(GenerateResult *r, uint64_t times) {
    for (size_t i = 0; i < r->steps; i++)
        for (int part = 0; part < PARTS; part++) {
            r->step[i].counters.flops[part] *= times;
            r->total.flops[part] *= times;
        }
}

START_TEST(the_table_fits_80_columns_and_about_20_rows) {
    const uint64_t times[] = {1, 1000, (uint64_t)1 << 20};
    Memory memory = {0};
    Options options = TYPED(&generate_command, "--tokens", "100");
    GenerateResult r = run(&options, &memory);
    make_dear(&r, times[_i]);
    char *text = report(&r, &options);
    demand_80_columns(text);
    ck_assert(strstr(text, _i == 0 ? "kFLOPs" : _i == 1 ? "MFLOPs" : "GFLOPs") != NULL);
    ck_assert(strstr(text, "(20 of 100 steps shown; --json has them all)") != NULL);
    free(text);
    generate_result_close(&r);
}
END_TEST

START_TEST(the_report_says_in_words_what_went_into_old_rows) {
    Memory memory = {0};
    Options options = TYPED(&generate_command, "--seed", "1"); /* as without options */
    GenerateResult r = run(&options, &memory);
    char *text = report(&r, &options);
    ck_assert(strstr(text, "of 402,522,112 FLOPs, 387,760,128 (96%) went into rows "
                           "that had the\nsame bits one step earlier; digest "));
    ck_assert(strstr(text, "rows, last step: 128 made (64 tokens in 2 layers); 126 had "
                           "the same bits before\n"));
    ck_assert(strstr(text, "N^2 = 4,096 dense, N(N+1)/2 = 2,080 causal\n"));
    ck_assert(strstr(text, "\nread: ") && strstr(text, "  next: kvstep attention  "));
    free(text);
    options.quiet = true;
    text = report(&r, &options);
    ck_assert(strncmp(text, "of 402,522,112 FLOPs, ", 22) == 0);
    ck_assert_uint_eq(demand_80_columns(text), 2);
    free(text);
    options.digest = true;
    text = report(&r, &options);
    ck_assert_uint_eq(strlen(text), 17);
    ck_assert(strncmp(text, r.digest, 16) == 0);
    free(text);
    generate_result_close(&r);
}
END_TEST

static json_int_t integer(const json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "%s", key);
    return json_integer_value(value);
}

START_TEST(json_has_every_step_and_its_sums_are_those_of_the_totals) {
    Memory memory = {0};
    const Options options =
        TYPED(&generate_command, "--tokens", "40", "--json", "--digest", "--quiet");
    GenerateResult r = run(&options, &memory);
    char *text = report(&r, &options);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *step;
    ck_assert_str_eq(json_string_value(json_object_get(root, "command")), "generate");
    ck_assert_str_eq(json_string_value(json_object_get(root, "digest")), r.digest);
    ck_assert_int_eq(integer(root, "prompt_tokens"), 1);
    json_int_t total = 0, before = 0;
    size_t i;
    json_t *steps = json_object_get(root, "steps");
    ck_assert_uint_eq(json_array_size(steps), 40);
    json_array_foreach(steps, i, step) {
        const json_t *flops = json_object_get(step, "flops");
        json_int_t sum = 0;
        for (int part = 0; part < PARTS; part++)
            sum += integer(flops, part_name((Part)part));
        ck_assert_int_eq(integer(flops, "total"), sum);
        ck_assert_int_eq(integer(step, "context"), (json_int_t)i + 1);
        ck_assert_int_eq(integer(step, "step"), (json_int_t)i);
        ck_assert_int_eq(integer(step, "token"), r.step[i].token);
        ck_assert_int_eq(integer(step, "rows_same"), (json_int_t)(2 * i));
        ck_assert_int_eq(integer(step, "tokens_same"), (json_int_t)i);
        ck_assert_int_eq(integer(step, "pairs_dense"), (json_int_t)((i + 1) * (i + 1)));
        ck_assert(json_is_string(json_object_get(step, "text")));
        total += sum;
        before += integer(step, "done_before");
    }
    const json_t *totals = json_object_get(root, "totals");
    ck_assert_int_eq(integer(json_object_get(totals, "flops"), "total"), total);
    ck_assert_int_eq(integer(totals, "done_before"), before);
    for (i = 0; i < 2; i++)
        integer(
            json_object_get(json_object_get(totals, i ? "dense" : "causal"), "flops"),
            "total");
    json_decref(root);
    free(text);
    generate_result_close(&r);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

static bool attempt(const Options *options, Memory *memory, Error *err) {
    GenerateResult result;
    if (!generate_run(options, NULL, NULL, &result, memory, err)) return false;
    Capture capture;
    capture_begin(&capture);
    const int status = generate_report(&result, options, capture.stream, err);
    capture_end(&capture);
    free(capture.text);
    generate_result_close(&result);
    return status == STATUS_FINE;
}

START_TEST(every_allocation_may_fail) {
    const Options options = TYPED(&generate_command, "--model", TINY, "--prompt", "any",
                                  "--tokens", "3", "--logits", "all");
    demand_no_leaks(&options, attempt);
}
END_TEST

static void count_steps(const GenerateResult *result, const GenerateStep *step,
                        void *data) {
    size_t *seen = data;
    ck_assert_uint_eq(++*seen, result->steps);
    ck_assert_ptr_eq(step, &result->step[result->steps - 1]);
    ck_assert_uint_eq(step->text.length, 1);
}

START_TEST(each_step_is_shown_as_it_comes) {
    Memory memory = {0};
    const Options options = TYPED(&generate_command, "--model", TINY, "--tokens", "5");
    GenerateResult result;
    size_t seen = 0;
    ck_assert(generate_run(&options, count_steps, &seen, &result, &memory, NULL));
    ck_assert_uint_eq(seen, 5);
    generate_result_close(&result);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

int main(void) {
    TCase *generate = tcase_create("generate");
    tcase_add_loop_test(generate, every_old_row_has_the_bits_of_the_step_before, 0,
                        OPTIONS);
    tcase_add_loop_test(
        generate, done_before_is_the_step_without_what_its_new_row_costs, 0, OPTIONS);
    tcase_add_loop_test(generate, the_logits_are_those_of_the_cache_command, 0,
                        OPTIONS);
    tcase_add_test(generate,
                   a_new_row_is_new_even_if_it_looks_like_memory_never_written);
    tcase_add_test(generate,
                   dense_scores_cost_what_was_said_beside_causal_and_change_no_bit);
    tcase_add_loop_test(generate, the_table_fits_80_columns_and_about_20_rows, 0, 3);
    tcase_add_test(generate, the_report_says_in_words_what_went_into_old_rows);
    tcase_add_test(generate, json_has_every_step_and_its_sums_are_those_of_the_totals);
    tcase_add_test(generate, every_allocation_may_fail);
    tcase_add_test(generate, each_step_is_shown_as_it_comes);
    Suite *suite = suite_create("generate");
    suite_add_tcase(suite, generate);
    return check_run(suite);
}
