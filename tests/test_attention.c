/* `kvstep attention`: the matrices are those of the engine, old rows keep their bits
 * under the mask alone, and scores know distances only. */
#include "tests/attention_run.h"

#include <math.h>

static float weight(const AttentionResult *r, size_t head, size_t query, size_t key) {
    return r->weights[(head * r->n + query) * r->n + key];
}

START_TEST(each_row_of_weights_is_1_in_all_and_0_where_the_rule_hides) {
    for (int no_mask = 0; no_mask < 2; no_mask++) {
        Memory memory = {0};
        const Options options = with_mask((size_t)_i, no_mask);
        AttentionResult r = run(&options, &memory);
        const size_t window = r.model.weights.shape.layer[r.layer].window;
        for (size_t h = 0; h < r.heads; h++)
            for (size_t t = 0; t < r.n; t++) {
                double sum = 0;
                for (size_t i = 0; i < r.n; i++) {
                    const bool sees = no_mask || (i <= t && t - i < window);
                    ck_assert(attention_sees(&r, t, i) == sees);
                    ck_assert((weight(&r, h, t, i) > 0) == sees);
                    sum += (double)weight(&r, h, t, i);
                }
                ck_assert_msg(fabs(sum - 1) < 1e-6, "%g", sum - 1);
            }
        attention_result_close(&r);
        ck_assert_uint_eq(memory.live, 0);
    }
}
END_TEST

START_TEST(weights_are_the_softmax_of_the_scores_that_are_seen) {
    for (int no_mask = 0; no_mask < 2; no_mask++) {
        Memory memory = {0};
        const Options options = with_mask((size_t)_i, no_mask);
        AttentionResult r = run(&options, &memory);
        for (size_t t = 0; t < r.n; t++) {
            double sum = 0;
            for (size_t i = 0; i < r.n; i++)
                if (attention_sees(&r, t, i)) sum += exp((double)r.scores[t * r.n + i]);
            for (size_t i = 0; i < r.n; i++) {
                if (!attention_sees(&r, t, i)) continue;
                double expected = exp((double)r.scores[t * r.n + i]) / sum;
                ck_assert(fabs(expected - (double)weight(&r, r.head, t, i)) < 1e-6);
            }
        }
        attention_result_close(&r);
    }
}
END_TEST

START_TEST(scores_are_q_times_k_and_the_output_is_weights_times_v) {
    Memory memory = {0};
    const Options options = with_mask((size_t)_i, false);
    AttentionResult r = run(&options, &memory);
    for (size_t t = 0; t < r.n; t++) {
        for (size_t i = 0; i < r.n; i++) {
            double score = 0;
            for (size_t e = 0; e < r.k_size; e++)
                score += (double)r.q[t * r.k_size + e] * (double)r.k[i * r.k_size + e];
            score /= sqrt((double)r.k_size);
            ck_assert(fabs(score - (double)r.scores[t * r.n + i]) < 1e-5);
        }
        for (size_t e = 0; e < r.v_size; e++) {
            double out = 0;
            for (size_t i = 0; i < r.n; i++)
                out += (double)weight(&r, r.head, t, i) * (double)r.v[i * r.v_size + e];
            ck_assert(fabs(out - (double)r.out[t * r.v_size + e]) < 1e-5);
        }
    }
    attention_result_close(&r);
}
END_TEST

START_TEST(under_the_mask_every_old_row_is_the_same_and_without_it_none) {
    Memory memory = {0};
    const Options masked = with_mask((size_t)_i, false);
    const Options open = with_mask((size_t)_i, true);
    AttentionResult a = run(&masked, &memory), b = run(&open, &memory);
    const Shape *shape = &a.model.weights.shape;
    const size_t old = a.n - 1, all = shape->layers * a.heads * old;
    ck_assert_uint_eq(a.rows_compared, all);
    ck_assert_uint_eq(a.rows_same, all);
    ck_assert_uint_eq(b.rows_compared, all);
    ck_assert_uint_eq(b.rows_same, 0);
    for (size_t h = 0; h < a.heads; h++) {
        ck_assert_uint_eq(a.head_same[h], old);
        ck_assert_uint_eq(b.head_same[h], 0);
    }
    for (size_t t = 0; t < old; t++) {
        ck_assert(a.same[t] && !b.same[t]);
        for (size_t i = 0; i < old; i++)
            ck_assert(a.older[t * old + i] == weight(&a, a.head, t, i));
    }
    attention_result_close(&a);
    attention_result_close(&b);
}
END_TEST

START_TEST(a_weight_above_the_diagonal_is_never_seen_under_the_mask) {
    Memory memory = {0};
    const Options masked = with_mask((size_t)_i, false);
    const Options open = with_mask((size_t)_i, true);
    AttentionResult a = run(&masked, &memory), b = run(&open, &memory);
    const size_t above = a.n * (a.n - 1) / 2;
    ck_assert_uint_eq(a.pairs_above, above);
    ck_assert_uint_eq(a.above_diagonal, 0);
    ck_assert_uint_eq(a.above_all, 0);
    ck_assert_uint_eq(b.above_diagonal, above);
    ck_assert_uint_eq(b.above_all, above * a.heads * a.model.weights.shape.layers);
    ck_assert_uint_eq(a.pairs_dense, a.n * a.n);
    size_t seen = 0;
    for (size_t t = 0; t < a.n; t++)
        for (size_t i = 0; i < a.n; i++) seen += weight(&a, a.head, t, i) > 0;
    ck_assert_uint_eq(a.pairs_causal, seen);
    attention_result_close(&a);
    attention_result_close(&b);
}
END_TEST

START_TEST(later_positions_change_scores_by_rounding_only) {
    static char *const shifts[] = {"1", "7", "100", "500"};
    for (char layer[] = "0"; *layer < '2'; ++*layer) {
        Memory memory = {0};
        const Options options =
            TYPED(&attention_command, "--shift", shifts[_i], "--layer", layer);
        AttentionResult r = run(&options, &memory);
        ck_assert_msg(r.score_change > 0 && r.score_change < 1e-4f, "%g",
                      (double)r.score_change);
        ck_assert(r.logit_change > 0 && r.logit_change < 1e-4f);
        ck_assert(r.score_high - r.score_low > 1 && r.logit_range > 1);
        for (size_t i = 0; i < r.n; i++)
            ck_assert(fabsf(r.shifted[i] - r.scores[(r.n - 1) * r.n + i]) <=
                      r.score_change);
        ck_assert_msg(r.moved_change > 0.05f, "%g", (double)r.moved_change);
        attention_result_close(&r);
    }
}
END_TEST

START_TEST(without_a_shift_nothing_changes) {
    Memory memory = {0};
    const Options options = options_of(0);
    AttentionResult r = run(&options, &memory);
    ck_assert(r.score_change == 0 && r.logit_change == 0 && r.moved_change == 0);
    ck_assert(memcmp(r.shifted, r.scores + (r.n - 1) * r.n, r.n * sizeof(float)) == 0);
    attention_result_close(&r);
}
END_TEST

/* The newest query turned further by hand, in double: a second opinion on what moving
 * one token alone does to its scores. */
static double moved_by_hand(const AttentionResult *r) {
    const double base = r->model.weights.shape.rope_base;
    const float *q = r->q + (r->n - 1) * r->k_size;
    double largest = 0;
    for (size_t i = 0; i + 1 < r->n; i++) {
        const float *k = r->k + i * r->k_size;
        double score = 0;
        for (size_t e = 0; e < r->k_size; e += 2) {
            const bool turns = e < r->rot;
            const double pair = -(double)e / (double)r->rot;
            const double angle = turns ? (double)r->shift * pow(base, pair) : 0;
            const double a = (double)q[e], b = (double)q[e + 1];
            score += (a * cos(angle) - b * sin(angle)) * (double)k[e] +
                     (a * sin(angle) + b * cos(angle)) * (double)k[e + 1];
        }
        score /= sqrt((double)r->k_size);
        const double before = (double)r->scores[(r->n - 1) * r->n + i];
        if (fabs(score - before) > largest) largest = fabs(score - before);
    }
    return largest;
}

START_TEST(one_token_moved_alone_changes_its_scores_as_turning_it_by_hand_does) {
    Memory memory = {0};
    const Options options = TYPED(&attention_command, "--shift", "7");
    AttentionResult r = run(&options, &memory);
    ck_assert(fabs(moved_by_hand(&r) - (double)r.moved_change) < 1e-5);
    attention_result_close(&r);
}
END_TEST

START_TEST(the_turns_are_those_of_the_first_and_the_last_pair) {
    Memory memory = {0};
    const Options options = options_of(0);
    AttentionResult r = run(&options, &memory);
    const double slow = pow(10000, -14.0 / 16);
    ck_assert_uint_eq(r.rot, 16);
    ck_assert(r.angle == 1 && fabs(r.slow_angle - slow) < 1e-15);
    for (size_t p = 0; p < r.n; p++) {
        ck_assert(fabs((double)r.turn[2 * p] - cos((double)p)) < 1e-7);
        ck_assert(fabs((double)r.turn[2 * p + 1] - sin((double)p)) < 1e-7);
        ck_assert(fabs((double)r.slow_turn[2 * p] - cos((double)p * slow)) < 1e-7);
        ck_assert(fabs((double)r.slow_turn[2 * p + 1] - sin((double)p * slow)) < 1e-7);
    }
    attention_result_close(&r);
}
END_TEST

static const struct {
    char *words[6];
    const char *said;
} refusals[] = {
    {{"--layer", "2"}, "--layer 2: the model has layers 0 to 1"},
    {{"--layer", "255"}, "layers 0 to 1"},
    {{"--head", "4"}, "--head 4: layer 0 has heads 0 to 3"},
    {{"--shift", "501"}, "shift by at most 500"},
    {{"--shift", "1000000000"}, "shift by at most 500"},
};

START_TEST(what_is_out_of_range_is_refused_with_the_range) {
    Memory memory = {0};
    Error err = {0};
    AttentionResult result;
    const Options options =
        typed(&attention_command, (char *const *)refusals[_i].words);
    ck_assert(!attention_run(&options, &result, &memory, &err));
    ck_assert_msg(strstr(err.text, refusals[_i].said) != NULL, "%s", err.text);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(more_tokens_than_matrices_have_room_for_are_refused_before_any_work) {
    char prompt[ATTENTION_MOST_TOKENS + 1] = "";
    memset(prompt, 'x', ATTENTION_MOST_TOKENS);
    Memory memory = {0};
    Error err = {0};
    AttentionResult result;
    Options options = TYPED(&attention_command, "--prompt", prompt, "--model",
                            "random:dim=8,heads=1,kv_heads=1,layers=1,ctx=4096");
    ck_assert(!attention_run(&options, &result, &memory, &err)); /* with <s> 1,025 */
    ck_assert(strstr(err.text, "1025 tokens: attention opens at most 1024") != NULL);
    ck_assert_uint_eq(memory.live, 0);
    ck_assert_uint_lt(memory.peak, 1 << 20);
    prompt[ATTENTION_MOST_TOKENS - 1] = 0;
    result = run(&options, &memory);
    ck_assert_uint_eq(result.n, ATTENTION_MOST_TOKENS);
    ck_assert_uint_eq(result.rows_same, ATTENTION_MOST_TOKENS - 1);
    attention_result_close(&result);
}
END_TEST

static bool attempt(const Options *options, Memory *memory, Error *err) {
    AttentionResult result;
    if (!attention_run(options, &result, memory, err)) return false;
    Capture capture;
    capture_begin(&capture);
    const int status = attention_report(&result, options, capture.stream, err);
    capture_end(&capture);
    free(capture.text);
    attention_result_close(&result);
    return status == STATUS_FINE;
}

START_TEST(every_allocation_may_fail) {
    const Options options = options_of(2);
    demand_no_leaks(&options, attempt);
}
END_TEST

int main(void) {
    TCase *found = tcase_create("found");
    tcase_add_loop_test(
        found, each_row_of_weights_is_1_in_all_and_0_where_the_rule_hides, 0, OPTIONS);
    tcase_add_loop_test(found, weights_are_the_softmax_of_the_scores_that_are_seen, 0,
                        OPTIONS);
    tcase_add_loop_test(found, scores_are_q_times_k_and_the_output_is_weights_times_v,
                        0, OPTIONS);
    tcase_add_loop_test(found,
                        under_the_mask_every_old_row_is_the_same_and_without_it_none, 0,
                        OPTIONS);
    tcase_add_loop_test(found, a_weight_above_the_diagonal_is_never_seen_under_the_mask,
                        0, OPTIONS);
    tcase_add_loop_test(found, later_positions_change_scores_by_rounding_only, 0, 4);
    tcase_add_test(found, without_a_shift_nothing_changes);
    tcase_add_test(found,
                   one_token_moved_alone_changes_its_scores_as_turning_it_by_hand_does);
    tcase_add_test(found, the_turns_are_those_of_the_first_and_the_last_pair);
    tcase_add_test(found, every_allocation_may_fail);
    tcase_add_loop_test(found, what_is_out_of_range_is_refused_with_the_range, 0,
                        sizeof refusals / sizeof *refusals);
    tcase_add_test(found,
                   more_tokens_than_matrices_have_room_for_are_refused_before_any_work);
    Suite *suite = suite_create("attention");
    suite_add_tcase(suite, found);
    return check_run(suite);
}
