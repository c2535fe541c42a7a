/* What is counted equals the closed formulas to the last unit, for every step; the
 * numbers that the project prints about real models; and the trace that tells of it. */
#include "core/base/file.h"
#include "tests/prices.h"
#include "tests/traced.h"

/* ---- Counters and formulas ------------------------------------------------------ */

typedef struct {
    Counters counters[ENGINES]; /* of the step under way */
    size_t steps;
    const char *what;
} Bills;

static void demand_equal(const Counters *got, const Counters *formula,
                         const char *what) {
    for (Part part = 0; part < PARTS; part++)
        ck_assert_msg(got->flops[part] == formula->flops[part], "%s: %s", what,
                      part_name(part));
    ck_assert_msg(got->elementwise == formula->elementwise, "%s: elementwise", what);
    ck_assert_msg(got->weight_bytes_read == formula->weight_bytes_read, "%s: weights",
                  what);
    ck_assert_msg(got->kv_bytes_read == formula->kv_bytes_read, "%s: kv read", what);
    ck_assert_msg(got->kv_bytes_written == formula->kv_bytes_written, "%s: kv written",
                  what);
    ck_assert(memcmp(got, formula, sizeof *got) == 0); /* a counter not named above */
}

static size_t distinct_tokens(const Batch *batch) {
    bool met[TRIAL_VOCAB] = {false};
    size_t count = 0;
    for (size_t t = 0; t < batch->n; t++) {
        count += !met[batch->token[t]];
        met[batch->token[t]] = true;
    }
    return count;
}

/* One batch: its runs, and the weights once. */
static Counters formula_of(const TrialRun *run, int engine) {
    const Shape *shape = &run->weights->shape;
    const Batch *batch = &run->batch[engine];
    Counters sum = {0};
    for (size_t first = 0, n; first < batch->n; first += n) {
        n = batch_run(batch, first);
        FormulaRows rows = {.first = batch->pos[first],
                            .n = n,
                            .cache = engine == CACHED,
                            .dense = run->trial->dense};
        for (size_t t = first; t < first + n; t++) rows.logits += batch->want_logits[t];
        formula_rows(shape, run->rule[engine], &rows, &sum);
    }
    formula_weights(shape, &format_f32, distinct_tokens(batch), batch_logits(batch) > 0,
                    &sum);
    return sum;
}

static void check_bills(TrialRun *run, void *data) {
    Bills *bills = data;
    for (int e = 0; e < ENGINES; e++) {
        Counters formula = formula_of(run, e);
        demand_equal(&bills->counters[e], &formula, bills->what);
        ck_assert_uint_gt(counters_flops(&formula), 0);
        bills->counters[e] = (Counters){0};
    }
    ck_assert_uint_eq(formula_of(run, RECOMPUTE).kv_bytes_read, 0);
    bills->steps++;
}

/* Counts one whole trial, each step; chunk 0: random chunks, drafts, ragged batches. */
static size_t count_trial(const Trial *trial, size_t chunk) {
    Bills bills = {.what = trial->spec};
    Counted counted[ENGINES];
    const Kernels *naive = kernels_select("naive", NULL);
    counted_init(&counted[RECOMPUTE], naive, &bills.counters[RECOMPUTE], false);
    counted_init(&counted[CACHED], naive, &bills.counters[CACHED], true);
    TrialChange change = {.kernels = {&counted[0].table, &counted[1].table},
                          .chunk = chunk,
                          .stepped = check_bills,
                          .data = &bills};
    Verdict v = trial_run(trial, &change);
    ck_assert_msg(v.ran && v.same_bits, "counting changed the run: %s", v.error);
    return bills.steps;
}

START_TEST(counters_equal_the_formulas_in_every_step_of_both_engines) {
    size_t steps = 0, dense = 0;
    for (size_t i = 0; i < TRIALS; i++) {
        Trial trial;
        trial_open(&trial, i);
        trial.dense = false;
        steps += count_trial(&trial, 0) + count_trial(&trial, 1 + i % 7);
        if (trial_may_be_dense(&trial)) {
            trial.dense = true;
            dense += count_trial(&trial, 0) + count_trial(&trial, 3);
        }
        trial_close(&trial);
    }
    ck_assert_uint_gt(steps, 400);
    ck_assert_uint_gt(dense, 100);
}
END_TEST

/* The pairs of the formulas against the rule, asked pair by pair. */
START_TEST(pairs_and_rows_of_the_formulas_are_those_of_the_rule) {
    static const size_t sinks[] = {0, 1, 3},
                        recent[] = {1, 2, 5, RULE_ALL - 1, RULE_ALL};
    for (size_t i = 0; i < 15; i++)
        for (size_t first = 0; first < 9; first++)
            for (size_t n = 1; n < 9; n++) {
                LayerRule rule = {sinks[i % 3], recent[i / 3], &format_f32, &format_f32,
                                  true};
                size_t pairs = 0, seen = 0;
                for (size_t key = 0; key < first + n; key++) {
                    bool any = false;
                    for (size_t p = first; p < first + n; p++) {
                        pairs += rule_sees(&rule, p, key);
                        any |= rule_sees(&rule, p, key);
                    }
                    seen += any;
                }
                ck_assert_uint_eq(formula_pairs(&rule, first, n, false), pairs);
                ck_assert_uint_eq(formula_pairs(&rule, first, n, true),
                                  n * (first + n));
                ck_assert_uint_eq(formula_rows_seen(&rule, first, n), seen);
            }
}
END_TEST

/* ---- Without kernels, and real models ------------------------------------------- */

START_TEST(a_table_without_kernels_prices_a_model_that_nobody_holds) {
    static Weights w;
    static LayerWeights layers[32];
    static Rule rule;
    llama2_7b_model(&w, layers);
    rule_full(&rule, &w.shape, &half);
    Counters counted = price_steps(&w, &rule, 3), formula = {0};
    for (size_t p = 0; p < 3; p++) {
        Counters step = formula_step(&w, &rule, p, 1, true);
        counters_add(&formula, &step);
    }
    demand_equal(&counted, &formula, "Llama-2-7B");
}
END_TEST

/* spec/caches.md B39: the published numbers of this shape. */
START_TEST(llama_2_7b_costs_what_is_published) {
    static Weights w;
    static LayerWeights layers[32];
    static Rule rule;
    llama2_7b_model(&w, layers);
    rule_full(&rule, &w.shape, &half);
    Counters at_512 = formula_step(&w, &rule, 511, 1, true);
    Counters at_1024 = formula_step(&w, &rule, 1023, 1, true);
    ck_assert_uint_eq(linear_flops(&at_512), 12952010752u); /* 12.95 GFLOP */
    ck_assert_uint_eq(attention_flops(&at_512), 268435456u);
    ck_assert_uint_eq(attention_flops(&at_1024), 536870912u);
    ck_assert_uint_eq(at_512.flops[PART_LOGITS], 2u * 4096 * 32000);
    double share_512 = 268435456.0 / (268435456.0 + 12952010752.0);
    double share_1024 = 536870912.0 / (536870912.0 + 12952010752.0);
    ck_assert_double_eq_tol(100 * share_512, 2.03, 0.005);
    ck_assert_double_eq_tol(100 * share_1024, 3.98, 0.005);

    Counters equal = formula_step(&w, &rule, 24704 - 1, 1, true);
    ck_assert_uint_eq(attention_flops(&equal), linear_flops(&equal));
    Counters whole = formula_step(&w, &rule, 0, 49407, false);
    ck_assert_uint_eq(attention_flops(&whole), linear_flops(&whole));
}
END_TEST

/* 512 tokens from nothing: 255.6 times, and 250.6 times with the logits. */
START_TEST(a_cache_saves_llama_2_7b_what_is_published) {
    static Weights w;
    static LayerWeights layers[32];
    static Rule rule;
    llama2_7b_model(&w, layers);
    rule_full(&rule, &w.shape, &half);
    Counters without = {0}, with = {0};
    for (size_t n = 1; n <= 512; n++) {
        Counters all = formula_step(&w, &rule, 0, n, false);
        Counters one = formula_step(&w, &rule, n - 1, 1, true);
        counters_add(&without, &all);
        counters_add(&with, &one);
    }
    double apart = (double)(linear_flops(&without) + attention_flops(&without)) /
                   (double)(linear_flops(&with) + attention_flops(&with));
    double both = (double)counters_flops(&without) / (double)counters_flops(&with);
    ck_assert_double_eq_tol(apart, 255.6, 0.05);
    ck_assert_double_eq_tol(both, 250.6, 0.05);
}
END_TEST

/* spec/caches.md B1, at two bytes a value. */
START_TEST(caches_of_real_models_need_the_published_bytes) {
    static Weights w;
    static LayerWeights layers[126];
    static Rule rule;
    size_t bytes;
    llama2_7b_model(&w, layers);
    rule_full(&rule, &w.shape, &half);
    ck_assert(formula_cache_bytes(&w.shape, &rule, 1, 1, &bytes));
    ck_assert_uint_eq(bytes, 512 << 10);
    ck_assert(formula_cache_bytes(&w.shape, &rule, 1, 2048, &bytes));
    ck_assert_uint_eq(bytes, (size_t)1 << 30);

    const LayerShape llama3_405b = {128, 8, 128, 128, 53248, SHAPE_NO_WINDOW};
    wide_model(&w, layers, 126, 16384, &llama3_405b, 128256);
    rule_full(&rule, &w.shape, &half);
    ck_assert(formula_cache_bytes(&w.shape, &rule, 1, 131072, &bytes));
    ck_assert_uint_eq(bytes, (size_t)63 << 30); /* more than 32 bits hold */
    ck_assert(!formula_cache_bytes(&w.shape, &rule, SIZE_MAX / 3, 131072, &bytes));
}
END_TEST

/* The issue's own example: <s> alone and 256 tokens make 256 rows a layer. */
START_TEST(the_default_model_holds_131072_live_bytes_after_256_tokens) {
    Memory memory = {0};
    Error err = {0};
    static Weights w;
    static Rule rule;
    ck_assert(weights_random(
        &w, "dim=64,layers=2,heads=4,kv_heads=2,hidden=172,vocab=256,ctx=512", &memory,
        &err));
    rule_full(&rule, &w.shape, &format_f32);
    Counters counted = price_steps(&w, &rule, 256), formula = {0};
    for (size_t p = 0; p < 256; p++) {
        Counters step = formula_step(&w, &rule, p, 1, true);
        counters_add(&formula, &step);
    }
    demand_equal(&counted, &formula, "256 tokens");
    ck_assert_uint_eq(formula_live_bytes(&w.shape, &rule, 256), 131072);
    ck_assert_uint_eq(formula_live_bytes(&w.shape, &rule, 256),
                      2 * 2 * 256 * 2 * 16 * 4);
    ck_assert_uint_eq(counted.kv_bytes_written, 131072);
    /* Row p is read by itself and all later queries: 256 x 257 / 2 rows. */
    ck_assert_uint_eq(counted.kv_bytes_read, 131072u / 256 * (256 * 257 / 2));
    weights_close(&w);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(live_bytes_end_with_the_window_or_the_sinks) {
    Trial trial;
    trial_open_spec(&trial, 0, "dim=8,layers=1,heads=2,hidden=4,vocab=9,ctx=32");
    const Shape *shape = &trial.weights.shape;
    rule_full(&trial.rule, shape, &format_f32);
    const size_t row =
        (size_t)formula_row_bytes(&shape->layer[0], &trial.rule.layer[0]);
    ck_assert_uint_eq(formula_live_bytes(shape, &trial.rule, 0), 0);
    ck_assert_uint_eq(formula_live_bytes(shape, &trial.rule, 30), 30 * row);
    trial.rule.layer[0].recent = 5;
    ck_assert_uint_eq(formula_live_bytes(shape, &trial.rule, 3), 3 * row);
    ck_assert_uint_eq(formula_live_bytes(shape, &trial.rule, 30), 5 * row);
    trial.rule.layer[0].sinks = 2;
    ck_assert_uint_eq(formula_live_bytes(shape, &trial.rule, 30), 7 * row);
    trial_close(&trial);
}
END_TEST

/* ---- The trace ------------------------------------------------------------------ */

/* KVSTEP_WRITE_GOLDEN=1 writes the file anew: only when the format has a new version.
 */
static bool write_golden(const char *text, const char *path) {
    FILE *file = getenv("KVSTEP_WRITE_GOLDEN") ? fopen(path, "w") : NULL;
    if (!file) return false;
    bool written = fputs(text, file) >= 0;
    return fclose(file) == 0 && written;
}

static void demand_golden(const char *text, const char *path) {
    if (write_golden(text, path)) return;
    Memory memory = {0};
    Error err = {0};
    Bytes golden;
    ck_assert_msg(file_read(path, &golden, &memory, &err), "%s", err.text);
    const char *line = text, *stored = (const char *)golden.data;
    size_t left = golden.size;
    for (size_t number = 1; *line; number++) {
        size_t length = strcspn(line, "\n") + 1;
        ck_assert_msg(length <= left && memcmp(line, stored, length) == 0,
                      "%s, line %zu: now it is %.*s", path, number, (int)length, line);
        line += length;
        stored += length;
        left -= length;
    }
    ck_assert_msg(left == 0, "%s holds %zu bytes more", path, left);
    memory_free(&memory, golden.data);
    ck_assert_uint_eq(memory.live, 0);
}

START_TEST(the_trace_is_the_stored_one_in_both_spellings) {
    ck_assert(trace_wants_json("a.jsonl") && trace_wants_json("dir.txt/a.json"));
    ck_assert(!trace_wants_json("a.txt") && !trace_wants_json("json"));
    char *text = write_trace(false), *json = write_trace(true);
    demand_golden(text, "tests/golden/trace.txt");
    demand_golden(json, "tests/golden/trace.jsonl");
    free(text);
    free(json);
}
END_TEST

#ifdef HAVE_JANSSON
START_TEST(both_spellings_of_the_trace_carry_the_same_records) {
    char *text = write_trace(false), *json = write_trace(true), *again = NULL;
    size_t size, records = 0;
    FILE *out = open_memstream(&again, &size);
    for (char *line = strtok(json, "\n"); line; line = strtok(NULL, "\n")) {
        json_error_t why;
        json_t *record = json_loads(line, JSON_REJECT_DUPLICATES, &why);
        ck_assert_msg(record != NULL, "%s: %s", why.text, line);
        put_record(out, record);
        json_decref(record);
        records++;
    }
    fclose(out);
    ck_assert_str_eq(text, again);
    /* trace, model; rows of 2 + 1 passes in 2 layers; 7 queries of 2 heads; 2 steps */
    ck_assert_uint_eq(records, 2 + 3 * 2 + 7 * 2 * 2 + 2);
    free(text);
    free(json);
    free(again);
}
END_TEST
#endif

int main(void) {
    Suite *suite = suite_create("count");
    TCase *tests = tcase_create("count");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, counters_equal_the_formulas_in_every_step_of_both_engines);
    tcase_add_test(tests, pairs_and_rows_of_the_formulas_are_those_of_the_rule);
    tcase_add_test(tests, a_table_without_kernels_prices_a_model_that_nobody_holds);
    tcase_add_test(tests, llama_2_7b_costs_what_is_published);
    tcase_add_test(tests, a_cache_saves_llama_2_7b_what_is_published);
    tcase_add_test(tests, caches_of_real_models_need_the_published_bytes);
    tcase_add_test(tests, the_default_model_holds_131072_live_bytes_after_256_tokens);
    tcase_add_test(tests, live_bytes_end_with_the_window_or_the_sinks);
    tcase_add_test(tests, the_trace_is_the_stored_one_in_both_spellings);
#ifdef HAVE_JANSSON
    tcase_add_test(tests, both_spellings_of_the_trace_carry_the_same_records);
#endif
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
