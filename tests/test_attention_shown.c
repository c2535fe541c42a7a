/* What `kvstep attention` shows. */
#include "tests/attention_run.h"

#include <jansson.h>

START_TEST(a_model_that_turns_nothing_is_said_to) {
    Memory memory = {0};
    const Options options =
        TYPED(&attention_command, "--model",
              "random:dim=16,heads=2,kv_heads=1,layers=1,rot=0", "--shift", "5");
    AttentionResult r = run(&options, &memory);
    ck_assert(r.angle == 0 && r.moved_change == 0 && r.score_change == 0);
    char *text = report(&r, &options);
    ck_assert(strstr(text, "turns nothing by its position") != NULL);
    free(text);
    attention_result_close(&r);
}
END_TEST

START_TEST(the_default_prompt_leaves_room_for_numbers_in_cells) {
    Memory memory = {0};
    const Options options = options_of(0);
    AttentionResult r = run(&options, &memory);
    ck_assert_str_eq(options.prompt, "The cat sat");
    ck_assert_uint_le(r.n, 12);
    ck_assert_uint_ge(r.n, 8);
    char *text = report(&r, &options); /* no number of the weights is left out */
    char *weights = strstr(text, "weights [12][12]");
    char *output = strstr(text, "output [12][16]");
    ck_assert(weights && output);
    *output = 0;
    ck_assert_ptr_eq(strstr(weights, " .."), NULL);
    free(text);
    attention_result_close(&r);
}
END_TEST

START_TEST(what_is_shown_fits_80_columns_and_says_what_was_found) {
    for (int no_mask = 0; no_mask < 2; no_mask++) {
        Memory memory = {0};
        const Options options = with_mask((size_t)_i, no_mask);
        AttentionResult r = run(&options, &memory);
        char *text = report(&r, &options);
        demand_80_columns(text);
        static const char *const said[] = {"Q [",
                                           "K [",
                                           "V [",
                                           "scores [",
                                           "weights [",
                                           "out",
                                           "N^2 =",
                                           "same bits: ",
                                           "RoPE",
                                           "\nread: ",
                                           " next: kvstep cache  exercise: "};
        for (size_t i = 0; i < sizeof said / sizeof *said; i++)
            ck_assert_msg(strstr(text, said[i]) != NULL, "%s", said[i]);
        if (r.n > 1) {
            ck_assert((strstr(text, "changes no old row") != NULL) == !no_mask);
            ck_assert((strstr(text, "Without the mask a new token") != NULL) ==
                      no_mask);
        }
        free(text);
        attention_result_close(&r);
    }
}
END_TEST

START_TEST(long_prompts_and_long_pieces_are_shortened) {
    char prompt[301] = "";
    memset(prompt, 'x', sizeof prompt - 1);
    Memory memory = {0};
    const Options options =
        TYPED(&attention_command, "--prompt", prompt, "--head", "2");
    AttentionResult r = run(&options, &memory);
    r.token[300].piece = (Piece){prompt, 300}; /* as a file's vocabulary may have */
    char *text = report(&r, &options);
    ck_assert_uint_lt(demand_80_columns(text), 140);
    ck_assert(strstr(text, "300 of 300 old rows of head 2; 2,400 of 2,400 in") != NULL);
    free(text);
    attention_result_close(&r);
}
END_TEST

START_TEST(the_verdict_is_one_line) {
    Memory memory = {0};
    Options options = options_of(0);
    options.quiet = true;
    AttentionResult r = run(&options, &memory);
    char *text = report(&r, &options);
    ck_assert_str_eq(
        text, "same bits: 11 of 11 old rows of head 0; 88 of 88 in all layers\n");
    free(text);
    attention_result_close(&r);
}
END_TEST

static json_int_t integer(const json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "%s", key);
    return json_integer_value(value);
}

/* The matrix under `key` is cell [rows][cols], number for number. */
static void demand_matrix(const json_t *object, const char *key, const float *cell,
                          size_t rows, size_t cols) {
    const json_t *matrix = json_object_get(object, key);
    ck_assert_msg(json_array_size(matrix) == rows, "%s", key);
    for (size_t r = 0; r < rows; r++) {
        const json_t *row = json_array_get(matrix, r);
        ck_assert_msg(json_array_size(row) == cols, "%s", key);
        for (size_t c = 0; c < cols; c++)
            ck_assert_msg((float)json_real_value(json_array_get(row, c)) ==
                              cell[r * cols + c],
                          "%s", key);
    }
}

START_TEST(json_has_all_matrices_to_the_last_bit) {
    Memory memory = {0};
    const Options options = TYPED(&attention_command, "--json", "--quiet", "--head",
                                  "1", "--layer", "1", "--shift", "3");
    AttentionResult r = run(&options, &memory);
    char *text = report(&r, &options);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *head;
    ck_assert_str_eq(json_string_value(json_object_get(root, "command")), "attention");
    ck_assert_int_eq(integer(root, "layer"), 1);
    ck_assert_int_eq(integer(root, "head"), 1);
    ck_assert_int_eq(integer(root, "kv_head"), 0);
    ck_assert(json_is_true(json_object_get(root, "masked")));
    ck_assert_uint_eq(json_array_size(json_object_get(root, "tokens")), r.n);
    demand_matrix(root, "q", r.q, r.n, r.k_size);
    demand_matrix(root, "k", r.k, r.n, r.k_size);
    demand_matrix(root, "v", r.v, r.n, r.v_size);
    demand_matrix(root, "scores", r.scores, r.n, r.n);
    demand_matrix(root, "output", r.out, r.n, r.v_size);
    size_t i;
    json_array_foreach(json_object_get(root, "heads"), i, head) {
        ck_assert_int_eq(integer(head, "kv_head"), (json_int_t)i / 2);
        ck_assert_int_eq(integer(head, "rows_same"), (json_int_t)r.n - 1);
        demand_matrix(head, "weights", r.weights + i * r.n * r.n, r.n, r.n);
    }
    ck_assert_uint_eq(i, r.heads);
    const json_t *before = json_object_get(root, "step_before");
    demand_matrix(before, "weights", r.older, r.n - 1, r.n - 1);
    ck_assert_uint_eq(json_array_size(json_object_get(before, "same")), r.n - 1);
    ck_assert(json_is_true(json_array_get(json_object_get(before, "same"), 0)));
    ck_assert_int_eq(integer(root, "rows_same"), 88);
    ck_assert_int_eq(integer(root, "rows_compared"), 88);
    ck_assert_int_eq(integer(root, "above_diagonal"), 0);
    ck_assert_int_eq(integer(root, "pairs_above"), 66);
    ck_assert_int_eq(integer(root, "pairs_dense"), 144);
    ck_assert_int_eq(integer(root, "pairs_causal"), 78);
    demand_matrix(json_object_get(root, "rotation"), "first_pair", r.turn, r.n, 2);
    const json_t *shift = json_object_get(root, "shift");
    ck_assert_int_eq(integer(shift, "positions"), 3);
    ck_assert((float)json_real_value(json_object_get(shift, "score_change")) ==
              r.score_change);
    json_decref(root);
    free(text);
    attention_result_close(&r);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

int main(void) {
    TCase *shown = tcase_create("shown");
    tcase_add_test(shown, a_model_that_turns_nothing_is_said_to);
    tcase_add_test(shown, the_default_prompt_leaves_room_for_numbers_in_cells);
    tcase_add_loop_test(shown, what_is_shown_fits_80_columns_and_says_what_was_found, 0,
                        OPTIONS);
    tcase_add_test(shown, long_prompts_and_long_pieces_are_shortened);
    tcase_add_test(shown, the_verdict_is_one_line);
    tcase_add_test(shown, json_has_all_matrices_to_the_last_bit);
    Suite *suite = suite_create("attention shown");
    suite_add_tcase(suite, shown);
    return check_run(suite);
}
