/* Each known way of being wrong turns a check red, and which one. The checks are those
 * that hold the project itself to account: the run of a trial (test_meaning.c) and the
 * bits of single kernels (test_kernels.c). What both engines share changes both sides
 * of a memcmp: the second opinion, or the written arithmetic, must see it. */
#include "tests/plain.h"
#include "tests/runs.h"

/* The trial of most tests; and the naive set, of which a test replaces one kernel. */
static Trial trial;
static const Kernels *naive;
static Wrapped wrong;

/* Two KV heads of two query heads each: where tiling and grouping differ. */
static void open_trial(void) {
    trial_open_spec(&trial, 4,
                    "dim=21,layers=2,heads=4,kv_heads=2,head=6,hidden=19,vocab=32,"
                    "ctx=32,tied=0,seed=5");
    trial_bend_norms(&trial);
    rule_full(&trial.rule, &trial.weights.shape, &format_f32);
    trial_draw_tokens(&trial, 2, 12);
    naive = kernels_select("naive", NULL);
    wrapped_init(&wrong, naive, NULL);
}

static void close_trial(void) {
    trial_close(&trial);
}

static Verdict run(const TrialChange *change) {
    Verdict v = trial_run(&trial, change);
    ck_assert_msg(v.ran, "%s", v.error);
    return v;
}

/* A check that is red for the original, too, would prove nothing. */
static void demand_original_green(size_t chunk) {
    TrialChange change = {.chunk = chunk};
    Verdict v = run(&change);
    ck_assert(v.same_bits && v.same_rows && v.same_sight && v.same_meaning);
}

/* Both engines use the mutant: they agree to the bit, and are wrong. `chunk` 0 or the
 * size of the chunks for which they still agree. */
static void demand_opinion_sees(size_t chunk) {
    demand_original_green(chunk);
    TrialChange change = {.kernels = {&wrong.table, &wrong.table}, .chunk = chunk};
    Verdict v = run(&change);
    ck_assert_msg(v.same_bits && v.same_rows, "the engines do not share this fault");
    ck_assert_msg(!v.same_meaning, "the second opinion is blind: %g", v.deviation);
    ck_assert_msg(v.deviation > 100 * SECOND_OPINION_BOUND, "hardly seen: %g",
                  v.deviation);
}

/* The cached engine alone uses the mutant. */
static void demand_memcmp_sees(size_t chunk) {
    demand_original_green(chunk);
    TrialChange change = {.kernels = {NULL, &wrong.table}, .chunk = chunk};
    Verdict v = run(&change);
    ck_assert_msg(!v.same_bits, "memcmp is blind");
    ck_assert_msg(!v.same_meaning, "the second opinion is blind: %g", v.deviation);
}

START_TEST(tiled_heads_are_seen_by_the_second_opinion_though_both_engines_share_them) {
    wrong.table.attention = mutant_tiled_heads;
    demand_opinion_sees(0);
    demand_memcmp_sees(0);
}
END_TEST

/* Why trials need both: with one KV head, or one query head for each, tiling is right.
 */
START_TEST(tiled_heads_cannot_be_seen_without_groups_or_with_one_kv_head) {
    static const char *const blind[] = {
        "dim=20,layers=2,heads=4,kv_heads=4,head=6,hidden=19,vocab=32,ctx=32",
        "dim=20,layers=2,heads=4,kv_heads=1,head=6,hidden=19,vocab=32,ctx=32"};
    for (size_t i = 0; i < 2; i++) {
        trial_close(&trial);
        trial_open_spec(&trial, 0, blind[i]);
        rule_full(&trial.rule, &trial.weights.shape, &format_f32);
        trial_draw_tokens(&trial, 2, 12);
        wrong.table.attention = mutant_tiled_heads;
        TrialChange change = {.kernels = {NULL, &wrong.table}};
        Verdict v = run(&change);
        ck_assert(v.same_bits && v.same_meaning);
    }
}
END_TEST

START_TEST(keys_one_position_too_far_are_seen_by_the_second_opinion) {
    wrong.table.rope = mutant_keys_too_far;
    wrong.data = &trial.weights.shape.layer[0].kv_heads;
    demand_opinion_sees(0);
}
END_TEST

START_TEST(a_newest_token_one_position_too_far_is_seen_by_memcmp) {
    wrong.table.rope = mutant_newest_too_far;
    demand_memcmp_sees(1);
    demand_memcmp_sees(0);
}
END_TEST

START_TEST(pairs_in_halves_are_seen_by_the_second_opinion) {
    wrong.table.rope = mutant_halves;
    demand_opinion_sees(0);
}
END_TEST

START_TEST(scores_without_their_scale_are_seen_by_the_second_opinion) {
    wrong.table.attention = mutant_no_scale;
    demand_opinion_sees(0);
}
END_TEST

START_TEST(sink_keys_met_from_the_query_s_own_position_are_seen_by_the_second_opinion) {
    for (size_t l = 0; l < trial.rule.layers; l++) {
        trial.rule.layer[l].sinks = 2;
        trial.rule.layer[l].recent = 4;
    }
    wrong.table.attention = mutant_sinks_far;
    demand_opinion_sees(0);
}
END_TEST

START_TEST(queries_without_their_own_row_are_seen_by_the_second_opinion) {
    wrong.table.attention = mutant_no_own_row;
    demand_opinion_sees(0);
}
END_TEST

START_TEST(a_missing_last_row_is_seen_by_memcmp_and_by_what_was_seen) {
    wrong.table.attention = mutant_no_last_row;
    demand_memcmp_sees(1);
    demand_memcmp_sees(0);
    TrialChange change = {.kernels = {NULL, &wrong.table}};
    ck_assert(!run(&change).same_sight);
}
END_TEST

/* Only where the whole prompt is one step: in the next step recomputing sees that row. */
START_TEST(
    a_missing_last_row_is_seen_by_the_second_opinion_where_both_engines_share_it) {
    wrong.table.attention = mutant_no_last_row;
    demand_opinion_sees(TRIAL_LENGTH);
}
END_TEST

START_TEST(a_top_left_mask_is_seen_by_memcmp_as_soon_as_a_chunk_follows_another) {
    wrong.table.attention = mutant_top_left_mask;
    demand_memcmp_sees(4);
    demand_memcmp_sees(1);
    /* The first chunk alone is right: whoever tests whole prompts only is blind. */
    TrialChange change = {.kernels = {NULL, &wrong.table}, .chunk = TRIAL_LENGTH};
    ck_assert(run(&change).same_bits);
}
END_TEST

static void demand_rule_seen(const Rule *other) {
    demand_original_green(0);
    TrialChange one = {.rule = {NULL, other}}, both = {.rule = {other, other}};
    Verdict v = run(&one);
    ck_assert(!v.same_bits && !v.same_sight && !v.same_meaning);
    v = run(&both);
    ck_assert_msg(v.same_bits && v.same_rows, "the engines do not share this fault");
    ck_assert(!v.same_sight && v.deviation > 100 * SECOND_OPINION_BOUND);
}

START_TEST(one_key_too_many_in_a_window_is_seen_by_the_second_opinion) {
    for (size_t l = 0; l < trial.rule.layers; l++) trial.rule.layer[l].recent = 3 + l;
    static Rule other;
    for (size_t off = 0; off < 2; off++) {
        other = trial.rule;
        other.layer[1].recent += off ? 1 : -(size_t)1; /* W - 1 and W + 1 for W */
        demand_rule_seen(&other);
    }
}
END_TEST

START_TEST(one_sink_too_few_is_seen_by_the_second_opinion) {
    for (size_t l = 0; l < trial.rule.layers; l++) {
        trial.rule.layer[l].sinks = 2;
        trial.rule.layer[l].recent = 3;
    }
    static Rule other;
    other = trial.rule;
    other.layer[0].sinks = 1;
    demand_rule_seen(&other);
}
END_TEST

START_TEST(gate_and_up_exchanged_are_seen_by_the_second_opinion) {
    demand_original_green(0);
    LayerWeights layer[TRIAL_LAYERS];
    static Weights patched;
    patched = trial.weights;
    patched.layer = layer;
    for (size_t l = 0; l < patched.shape.layers; l++) {
        layer[l] = trial.weights.layer[l];
        layer[l].gate = trial.weights.layer[l].up;
        layer[l].up = trial.weights.layer[l].gate;
    }
    TrialChange change = {.weights = &patched};
    Verdict v = run(&change);
    ck_assert(v.same_bits && v.same_rows && v.same_sight);
    ck_assert(v.deviation > 100 * SECOND_OPINION_BOUND);
}
END_TEST

/* ---- Rounding alone: no meaning is lost, only the bits -------------------------- */

static bool all_matmuls_agree(const Kernels *kernels) {
    bool agree = true;
    for (size_t cols = 1; cols <= 40; cols++)
        agree &= plain_matmul_agrees(kernels, cols);
    return agree;
}

static bool all_attentions_agree(const Kernels *kernels) {
    bool agree = true;
    for (size_t index = 0; index < 16; index++) {
        PlainCase *c = plain_case(index);
        agree &= plain_attention_agrees(kernels, c);
        plain_case_free(c);
    }
    return agree;
}

/* Both engines share it and the second opinion rounds otherwise anyway. */
static void demand_others_blind(void) {
    TrialChange change = {.kernels = {&wrong.table, &wrong.table}};
    Verdict v = run(&change);
    ck_assert(v.same_bits && v.same_rows && v.same_sight && v.same_meaning);
}

START_TEST(a_tail_summed_apart_is_seen_by_the_written_arithmetic) {
    wrong.table.matmul = mutant_tail_apart;
    ck_assert(all_matmuls_agree(naive));
    ck_assert(!all_matmuls_agree(&wrong.table));
    demand_others_blind();
}
END_TEST

START_TEST(a_tail_that_reads_past_the_row_is_seen_by_everyone_who_asks_for_a_tail) {
    wrong.table.matmul = mutant_tail_reads_on;
    ck_assert(!all_matmuls_agree(&wrong.table));
    ck_assert(plain_matmul_agrees(&wrong.table, 32)); /* no tail, no fault */
    demand_opinion_sees(0);
}
END_TEST

START_TEST(normalization_before_the_weighted_sum_is_seen_by_the_written_arithmetic) {
    wrong.table.attention = mutant_normalize_first;
    ck_assert(all_attentions_agree(naive));
    ck_assert(!all_attentions_agree(&wrong.table));
    demand_others_blind();
    demand_original_green(0);
    TrialChange change = {.kernels = {NULL, &wrong.table}};
    ck_assert_msg(!run(&change).same_bits, "memcmp is blind");
}
END_TEST

/* ---- Caches --------------------------------------------------------------------- */

/* A cache without poison: dead cells hold zeros, or what they held before. By itself
 * this is no fault; it is what a fault needs to stay quiet. */
typedef struct {
    WrappedCache cache;
    bool place_once;
} Quiet;

static void clear_rows(const TrialRun *run, size_t layer, size_t seq) {
    Rows rows = cache_rows(run->cache, layer, seq);
    Span span;
    rows.end = TRIAL_LENGTH;
    rows.at(&rows, 0, &span);
    memset((void *)(uintptr_t)span.k, 0, span.count * span.k_step);
    memset((void *)(uintptr_t)span.v, 0, span.count * span.v_step);
}

static void make_quiet(TrialRun *run_of_trial, void *data) {
    Quiet *quiet = data;
    wrapped_cache_init(&quiet->cache, run_of_trial->cache);
    quiet->cache.ops.crop = mutant_crop_keeps_cells;
    if (quiet->place_once) quiet->cache.ops.place = mutant_place_once;
    for (size_t l = 0; l < run_of_trial->trial->rule.layers; l++)
        for (size_t s = 0; s < TRIAL_SEQUENCES; s++) clear_rows(run_of_trial, l, s);
}

static Verdict run_quiet(Quiet *quiet, const Kernels *kernels) {
    TrialChange change = {
        .kernels = {NULL, kernels}, .opened = make_quiet, .data = quiet};
    Verdict v = run(&change);
    wrapped_cache_free(&quiet->cache);
    return v;
}

START_TEST(a_stale_row_is_seen_by_memcmp) {
    Quiet quiet = {.place_once = false};
    Verdict v = run_quiet(&quiet, NULL);
    ck_assert(v.same_bits && v.same_rows && v.same_meaning);
    ck_assert_uint_gt(v.drafts, 0); /* something was cropped and written again */
    quiet.place_once = true;
    v = run_quiet(&quiet, NULL);
    ck_assert(!v.same_bits && !v.same_rows && !v.same_meaning);
}
END_TEST

START_TEST(a_read_past_the_length_is_stopped_by_poison_and_seen_by_memcmp_without_it) {
    demand_original_green(0);
    for (size_t s = 0; s < trial.sequences; s++) trial.length[s] = 12; /* room behind */
    wrong.table.attention = mutant_past_the_end;
#ifdef KVSTEP_CHECKING
    TrialChange change = {.kernels = {NULL, &wrong.table}};
    Verdict stopped = trial_run(&trial, &change);
    ck_assert_msg(!stopped.ran && strstr(stopped.error, "not finite"), "%s",
                  stopped.error);
#endif
    Quiet quiet = {.place_once = false};
    Verdict v = run_quiet(&quiet, &wrong.table);
    ck_assert(!v.same_bits && !v.same_meaning);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("mutants");
    TCase *tests = tcase_create("mutants");
    tcase_set_timeout(tests, 60);
    const TTest *const all[] = {
        tiled_heads_are_seen_by_the_second_opinion_though_both_engines_share_them,
        tiled_heads_cannot_be_seen_without_groups_or_with_one_kv_head,
        keys_one_position_too_far_are_seen_by_the_second_opinion,
        a_newest_token_one_position_too_far_is_seen_by_memcmp,
        pairs_in_halves_are_seen_by_the_second_opinion,
        scores_without_their_scale_are_seen_by_the_second_opinion,
        sink_keys_met_from_the_query_s_own_position_are_seen_by_the_second_opinion,
        queries_without_their_own_row_are_seen_by_the_second_opinion,
        a_missing_last_row_is_seen_by_memcmp_and_by_what_was_seen,
        a_missing_last_row_is_seen_by_the_second_opinion_where_both_engines_share_it,
        a_top_left_mask_is_seen_by_memcmp_as_soon_as_a_chunk_follows_another,
        one_key_too_many_in_a_window_is_seen_by_the_second_opinion,
        one_sink_too_few_is_seen_by_the_second_opinion,
        gate_and_up_exchanged_are_seen_by_the_second_opinion,
        a_tail_summed_apart_is_seen_by_the_written_arithmetic,
        a_tail_that_reads_past_the_row_is_seen_by_everyone_who_asks_for_a_tail,
        normalization_before_the_weighted_sum_is_seen_by_the_written_arithmetic,
        a_stale_row_is_seen_by_memcmp,
        a_read_past_the_length_is_stopped_by_poison_and_seen_by_memcmp_without_it};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tcase_add_test(tests, all[i]);
    tcase_add_checked_fixture(tests, open_trial, close_trial);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
