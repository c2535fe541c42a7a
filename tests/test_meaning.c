/* What the model means: both engines against a second opinion that shares no code with
 * them, and against each other bit by bit, on random shapes under every kind of rule.
 */
#include "tests/runs.h"

#include <math.h>

/* Measured: largest deviation 1.06e-06, in trial 26. */
START_TEST(both_engines_agree_with_the_second_opinion_and_with_each_other) {
    double most = 0;
    size_t where = 0;
    for (size_t i = 0; i < TRIALS; i++) {
        Trial trial;
        trial_open(&trial, i);
        Verdict v = trial_run(&trial, NULL);
        ck_assert_msg(v.ran, "trial %zu (%s): %s", i, trial.spec, v.error);
        ck_assert_msg(v.same_bits, "trial %zu (%s): logits differ", i, trial.spec);
        ck_assert_msg(v.same_rows, "trial %zu (%s): rows differ", i, trial.spec);
        ck_assert_msg(v.same_sight, "trial %zu (%s): other keys seen", i, trial.spec);
        ck_assert_msg(v.same_meaning, "trial %zu (%s): logits are off by %g", i,
                      trial.spec, v.deviation);
        if (v.deviation > most) where = i;
        most = fmax(most, v.deviation);
        trial_close(&trial);
    }
    printf(
        "largest deviation from the second opinion: %.3g in trial %zu (bound %.3g)\n",
        most, where, SECOND_OPINION_BOUND);
    /* More room than this would let a fault of a few roundings through. */
    ck_assert_msg(20 * most > SECOND_OPINION_BOUND, "the bound is too wide for %g",
                  most);
}
END_TEST

/* A trial whose shapes agree by chance on what is asked proves nothing. */
START_TEST(the_trials_hold_every_kind_of_shape_and_rule) {
    size_t grouped = 0, odd = 0, still = 0, partly = 0, tied = 0, uneven = 0, many = 0;
    size_t windows = 0, sinks = 0, grouped_sinks = 0, unturned = 0, dense = 0;
    for (size_t i = 0; i < TRIALS; i++) {
        Trial trial;
        trial_open(&trial, i);
        const Shape *s = &trial.weights.shape;
        const LayerShape *l = &s->layer[0];
        const LayerRule *r = &trial.rule.layer[0];
        const bool group = l->kv_heads >= 2 && l->heads / l->kv_heads >= 2;
        grouped += group;
        odd += s->dim % 2 && l->k_size % 2;
        still += s->rot == 0;
        partly += s->rot > 0 && s->rot + 1 < l->k_size;
        tied += s->tied;
        uneven += l->k_size != l->v_size;
        many += trial.sequences > 1;
        windows += !r->sinks && r->recent < trial.length[0];
        sinks += r->sinks && r->sinks + r->recent < trial.length[0];
        grouped_sinks += r->sinks && group;
        unturned += !r->keys_turned;
        dense += trial.dense;
        trial_close(&trial);
    }
    const size_t counts[] = {grouped, odd,     still, partly,        tied,     uneven,
                             many,    windows, sinks, grouped_sinks, unturned, dense};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        ck_assert_msg(counts[i] >= 3, "kind %zu of shapes: %zu trials", i, counts[i]);
    ck_assert_msg(tied < TRIALS - 10, "too few separate output matrices");
}
END_TEST

/* Whole prompts, token by token, and chunks of three: all the same bits as one pass. */
START_TEST(the_chunking_of_a_prompt_changes_nothing) {
    static const size_t chunks[] = {TRIAL_LENGTH, 1, 3};
    for (size_t i = 0; i < TRIALS; i += 4)
        for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
            Trial trial;
            TrialChange change = {.chunk = chunks[c]};
            trial_open(&trial, i);
            Verdict v = trial_run(&trial, &change);
            ck_assert_msg(v.ran && v.same_bits && v.same_rows && v.same_sight &&
                              v.same_meaning,
                          "trial %zu in chunks of %zu (%s) %s", i, chunks[c],
                          trial.spec, v.error);
            trial_close(&trial);
        }
}
END_TEST

/* Measured: logits off by 1e-06, rows by 1e-06 of their largest value at most. */
START_TEST(every_rule_with_every_two_formats_means_what_the_second_opinion_says) {
    double logits = 0, rows = 0;
    for (size_t i = 0; i < FORMAT_TRIALS; i++) {
        Trial trial;
        trial_open_formats(&trial, i);
        const LayerRule *rule = &trial.rule.layer[0];
        Verdict v = trial_run(&trial, NULL);
        ck_assert_msg(v.ran && v.same_bits && v.same_rows && v.same_sight &&
                          v.same_meaning,
                      "trial %zu (%s, %s and %s): %s bits %d rows %d sight %d, logits "
                      "off by %g, rows by %g",
                      i, trial.spec, rule->k->name, rule->v->name, v.error, v.same_bits,
                      v.same_rows, v.same_sight, v.deviation, v.row_off);
        logits = fmax(logits, v.deviation);
        rows = fmax(rows, v.row_off);
        trial_close(&trial);
    }
    printf("formats: logits off by %.3g, rows by %.3g (bound %.3g)\n", logits, rows,
           SECOND_OPINION_BOUND);
    ck_assert(20 * logits > SECOND_OPINION_BOUND);
    ck_assert(20 * rows > SECOND_OPINION_BOUND);
}
END_TEST

/* Both engines store rows in another format than the rule's: their bits agree, and the
 * opinion, which reads the bytes as the rule says, does not. */
START_TEST(rows_in_another_format_are_seen_by_the_second_opinion) {
    for (size_t pair = 1; pair < TRIAL_FORMATS; pair++) {
        Trial trial;
        trial_open_formats(&trial, pair * (TRIAL_FORMATS + 1));
        static Rule other;
        other = trial.rule; /* f32 rows are the longest: nothing is read past them */
        for (size_t l = 0; l < other.layers; l++) other.layer[l].k = &format_f32;
        TrialChange change = {.rule = {&other, &other}};
        Verdict v = trial_run(&trial, &change);
        ck_assert(v.ran && v.same_bits && v.same_rows && v.same_sight);
        ck_assert_msg(v.row_off > 100 * SECOND_OPINION_BOUND, "%s: %g",
                      trial.rule.layer[0].k->name, v.row_off);
        trial_close(&trial);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("meaning");
    TCase *tests = tcase_create("trials");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests,
                   both_engines_agree_with_the_second_opinion_and_with_each_other);
    tcase_add_test(tests, the_trials_hold_every_kind_of_shape_and_rule);
    tcase_add_test(tests, the_chunking_of_a_prompt_changes_nothing);
    tcase_add_test(
        tests, every_rule_with_every_two_formats_means_what_the_second_opinion_says);
    tcase_add_test(tests, rows_in_another_format_are_seen_by_the_second_opinion);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
