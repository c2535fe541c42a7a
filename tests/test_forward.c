/* `kvstep forward`: the newest token's way through the model, box by box. */
#include "chapters/00_forward/command.h"
#include "chapters/00_forward/print.h"
#include "chapters/common/describe.h"
#include "core/count/formula.h"
#include "core/model/recompute.h"
#include "tests/chapter_run.h"
#include "tests/zero_model.h"

#include <jansson.h>
#include <math.h>

enum { BOXES_PER_LAYER = 15, BOXES_AT_ENDS = 3, MOST_VOCAB = 256 };

static ForwardResult run(const Options *options, Memory *memory) {
    ForwardResult result;
    Error err = {0};
    ck_assert_msg(forward_run(options, &result, memory, &err), "%s", err.text);
    return result;
}

static char *report(const ForwardResult *result, const Options *options) {
    Capture capture;
    Error err = {0};
    capture_begin(&capture);
    ck_assert_msg(forward_report(result, options, capture.stream, &err) == STATUS_FINE,
                  "%s", err.text);
    capture_end(&capture);
    return capture.text;
}

static Options options_of(size_t i) {
    switch (i) {
    case 0:
        return TYPED(&forward_command, "--quiet");
    case 1:
        return TYPED(&forward_command, "--prompt", "");
    case 2:
        return TYPED(&forward_command, "--model", TINY);
    default:
        return TYPED(&forward_command, "--prompt", "one and another", "--model",
                     "random:dim=48,layers=3,heads=6,kv_heads=3,hidden=31,window=7");
    }
}
enum { OPTIONS = 4 };

START_TEST(the_boxes_are_those_of_every_layer_and_of_the_ends) {
    Memory memory = {0};
    const Options options = options_of((size_t)_i);
    ForwardResult r = run(&options, &memory);
    const size_t layers = r.model.weights.shape.layers;
    ck_assert_uint_eq(r.boxes, layers * BOXES_PER_LAYER + BOXES_AT_ENDS);
    ck_assert_str_eq(r.box[0].name, "embedding");
    ck_assert_str_eq(r.box[r.boxes - 2].name, "RMSNorm");
    ck_assert_str_eq(r.box[r.boxes - 1].name, "logits");
    for (size_t i = 1; i + 2 < r.boxes; i++) {
        ck_assert_uint_eq(r.box[i].layer, (i - 1) / BOXES_PER_LAYER);
        ck_assert_str_eq(r.box[i].name, r.box[1 + (i - 1) % BOXES_PER_LAYER].name);
    }
    ck_assert_str_eq(r.box[7].name, "attention");
    ck_assert_uint_eq(r.box[0].layer, FORWARD_NO_LAYER);
    ck_assert_uint_eq(r.box[r.boxes - 1].layer, FORWARD_NO_LAYER);
    forward_result_close(&r);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(the_multiply_adds_are_those_of_the_formula_for_one_cached_step) {
    Memory memory = {0};
    const Options options = options_of((size_t)_i);
    ForwardResult r = run(&options, &memory);
    const Shape *shape = &r.model.weights.shape;
    Rule rule;
    rule_full(&rule, shape, &format_f32);
    Counters expected = {0};
    FormulaRows rows = {.first = r.tokens - 1, .n = 1, .logits = 1, .cache = true};
    formula_rows(shape, &rule, &rows, &expected);
    uint64_t sum = 0, parts = 0;
    for (size_t i = 0; i < r.boxes; i++) sum += r.box[i].multiply_adds;
    for (int p = 0; p < PARTS; p++) {
        ck_assert_uint_eq(2 * r.part[p], expected.flops[p]);
        parts += r.part[p];
    }
    ck_assert_uint_eq(2 * sum, counters_flops(&expected));
    ck_assert_uint_eq(r.multiply_adds, sum);
    ck_assert_uint_eq(parts, sum);
    forward_result_close(&r);
}
END_TEST

START_TEST(the_first_box_holds_the_row_of_the_token_and_the_shapes_fit_together) {
    Memory memory = {0};
    const Options options = options_of(0);
    ForwardResult r = run(&options, &memory);
    const Shape *shape = &r.model.weights.shape;
    const LayerShape *layer = &shape->layer[0];
    const float *table = r.model.weights.embedding.data;
    const float *row = table + (size_t)r.token[r.tokens - 1].id * shape->dim;
    for (size_t i = 0; i < r.box[0].numbers; i++)
        ck_assert(r.box[0].number[i] == row[i]);
    ck_assert_uint_eq(r.box[0].numbers, FORWARD_NUMBERS);
    ck_assert_uint_eq(r.box[2].out, layer->heads * layer->k_size);
    ck_assert_uint_eq(r.box[3].out, layer->kv_heads * layer->k_size);
    ck_assert_uint_eq(r.box[11].out, layer->hidden);
    ck_assert_uint_eq(r.box[14].in, layer->hidden);
    ck_assert_uint_eq(r.box[r.boxes - 1].in, shape->dim);
    ck_assert_uint_eq(r.box[r.boxes - 1].out, shape->vocab);
    forward_result_close(&r);
}
END_TEST

/* The logits that the engine without a cache gives for the same tokens. */
static void logits_of(const ForwardResult *r, float *logits) {
    Memory memory = {0};
    Rule rule;
    rule_full(&rule, &r->model.weights.shape, &format_f32);
    EngineConfig config = {.weights = &r->model.weights,
                           .rule = &rule,
                           .kernels = kernels_select("naive", NULL),
                           .rows = r->tokens,
                           .positions = r->tokens,
                           .memory = &memory};
    Recompute *engine = recompute_open(&config, NULL);
    ck_assert(engine != NULL);
    int token[64];
    size_t seq[64] = {0}, pos[64];
    bool want[64] = {false};
    for (size_t i = 0; i < r->tokens; i++) token[i] = r->token[i].id, pos[i] = i;
    want[r->tokens - 1] = true;
    Batch batch = {r->tokens, token, seq, pos, want};
    ck_assert(recompute_step(engine, &batch, logits, NULL));
    recompute_close(engine);
}

START_TEST(the_choices_are_the_likeliest_by_logits_made_without_a_cache) {
    Memory memory = {0};
    const Options options = options_of((size_t)_i);
    ForwardResult r = run(&options, &memory);
    const size_t vocab = r.model.weights.shape.vocab;
    float logits[MOST_VOCAB];
    ck_assert_uint_le(vocab, MOST_VOCAB);
    logits_of(&r, logits);
    double sum = 0;
    for (size_t i = 0; i < vocab; i++) sum += exp((double)logits[i]);
    ck_assert_uint_eq(r.choices, FORWARD_CHOICES);
    for (size_t c = 0; c < r.choices; c++) {
        const ForwardChoice *choice = &r.choice[c];
        ck_assert(choice->logit == logits[choice->id]);
        ck_assert(fabs(choice->probability - exp((double)choice->logit) / sum) < 1e-9);
        ck_assert(c == 0 || choice->logit <= r.choice[c - 1].logit);
        size_t before = 0; /* of equal logits the lower id comes first */
        for (size_t i = 0; i < vocab; i++)
            before += logits[i] > choice->logit ||
                      (logits[i] == choice->logit && (int)i < choice->id);
        ck_assert_uint_eq(before, c);
    }
    forward_result_close(&r);
}
END_TEST

START_TEST(a_small_vocabulary_has_no_more_choices_than_tokens) {
    Memory memory = {0};
    static char model[] =
        "random:dim=8,heads=1,kv_heads=1,layers=1,hidden=4,vocab=3,ctx=8";
    const Options options =
        TYPED(&forward_command, "--prompt", "abc", "--model", model);
    ForwardResult r = run(&options, &memory);
    double sum = 0;
    ck_assert_uint_eq(r.choices, 3);
    for (size_t c = 0; c < 3; c++) sum += r.choice[c].probability;
    ck_assert(fabs(sum - 1) < 1e-12);
    free(report(&r, &options));
    forward_result_close(&r);
}
END_TEST

START_TEST(of_equal_logits_the_lower_id_comes_first) {
    Memory memory = {0};
    ZeroModel zero;
    zero_model_make(&zero);
    const Options options = TYPED(&forward_command, "--model", zero.model,
                                  "--tokenizer", zero.tokenizer, "--prompt", "");
    ForwardResult r = run(&options, &memory);
    ck_assert_uint_eq(r.choices, ZERO_VOCAB);
    for (int c = 0; c < ZERO_VOCAB; c++) {
        ck_assert_int_eq(r.choice[c].id, c);
        ck_assert(fabs(r.choice[c].probability - 1.0 / ZERO_VOCAB) < 1e-12);
    }
    forward_result_close(&r);
    zero_model_remove(&zero);
}
END_TEST

START_TEST(the_prompt_is_shown_as_pieces_and_ids) {
    Memory memory = {0};
    const Options options = options_of(0);
    ForwardResult r = run(&options, &memory);
    static const char prompt[] = "The cat sat on the mat";
    ck_assert_uint_eq(r.tokens, 1 + strlen(prompt));
    ck_assert_uint_eq(r.context, r.tokens);
    ck_assert_int_eq(r.token[0].id, 1);
    for (size_t i = 1; i < r.tokens; i++) {
        ck_assert_int_eq(r.token[i].id, prompt[i - 1]);
        ck_assert_uint_eq(r.token[i].piece.length, 1);
        ck_assert_int_eq(*r.token[i].piece.bytes, prompt[i - 1]);
    }
    forward_result_close(&r);
}
END_TEST

START_TEST(known_texts_take_as_many_byte_tokens_as_they_have_bytes) {
    Memory memory = {0};
    const Options options = options_of(0);
    ForwardResult r = run(&options, &memory);
    for (size_t i = 0; i < FORWARD_TEXTS; i++) {
        const ForwardText *text = &r.text[i];
        const bool chinese = strcmp(text->language, "Chinese") == 0;
        ck_assert_uint_eq(text->characters, chinese ? 35 : 134);
        /* Each of the Chinese ones, the stops too, is three bytes long. */
        ck_assert_uint_eq(text->bytes, chinese ? 105 : 134);
        ck_assert_uint_eq(text->tokens, text->bytes);
    }
    forward_result_close(&r);
}
END_TEST

START_TEST(what_is_shown_fits_80_columns_and_says_it_all) {
    Memory memory = {0};
    Options options = options_of((size_t)_i);
    options.quiet = false;
    ForwardResult r = run(&options, &memory);
    char *text = report(&r, &options);
    demand_80_columns(text);
    static const char *const said[] = {"model: random, untrained: ",
                                       "position",
                                       "embedding",
                                       "\nlayer 0",
                                       "  W_gate",
                                       "logits",
                                       "in all",
                                       "qkv",
                                       "probability",
                                       "Chinese",
                                       "2,000 characters",
                                       "\nread: ",
                                       "  next: kvstep generate  exercise: "};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        ck_assert_msg(strstr(text, said[i]) != NULL, "%s", said[i]);
    free(text);
    forward_result_close(&r);
}
END_TEST

START_TEST(numbers_of_any_size_leave_the_table_whole) {
    Memory memory = {0};
    const Options options = options_of(0);
    ForwardResult r = run(&options, &memory);
    const float strange[] = {-1e30f, 123.456f, -0.0001f, INFINITY};
    for (size_t i = 0; i < r.boxes; i++)
        memcpy(r.box[i].number, strange, sizeof strange);
    char *text = report(&r, &options);
    ck_assert(*text); /* --quiet */
    free(text);
    text = report(&r, &(Options){0});
    ck_assert(strstr(text, " -1.0e+30 123.46   0.00 ..") != NULL);
    demand_80_columns(text);
    free(text);
    forward_result_close(&r);
}
END_TEST

START_TEST(a_piece_in_a_table_shows_its_blanks_and_is_cut_between_characters) {
    char out[8];
    ck_assert_str_eq(describe_piece((Piece){" a", 2}, out, sizeof out), "\u2423a");
    ck_assert_str_eq(describe_piece((Piece){"\n", 1}, out, sizeof out), "\\n");
    ck_assert_str_eq(describe_piece((Piece){"    ", 4}, out, sizeof out),
                     "\u2423\u2423");
    ck_assert_str_eq(describe_piece((Piece){"\u96e8\u540e\u6cb3", 9}, out, sizeof out),
                     "\u96e8\u540e");
    ck_assert_str_eq(describe_piece((Piece){"", 0}, out, sizeof out), "");
    ck_assert_str_eq(describe_token(0, (Piece){"\x01", 1}, out, sizeof out), "<s>");
}
END_TEST

static json_int_t integer(const json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "%s", key);
    return json_integer_value(value);
}

START_TEST(json_has_every_box_choice_token_and_text) {
    Memory memory = {0};
    const Options options = TYPED(&forward_command, "--prompt", "caf\u00e9", "--json");
    ForwardResult r = run(&options, &memory);
    char *text = report(&r, &options);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *list, *one;
    ck_assert_str_eq(json_string_value(json_object_get(root, "command")), "forward");
    ck_assert_int_eq(integer(json_object_get(root, "model"), "vocab"), 256);
    ck_assert_int_eq(integer(root, "context"), 6);
    list = json_object_get(root, "tokens");
    ck_assert_uint_eq(json_array_size(list), 6);
    one = json_array_get(list, 4); /* the first half of the last character */
    ck_assert_int_eq(integer(one, "position"), 4);
    ck_assert_str_eq(json_string_value(json_object_get(one, "bytes")), "c3");
    json_int_t sum = 0;
    size_t i;
    list = json_object_get(root, "boxes");
    ck_assert_uint_eq(json_array_size(list), r.boxes);
    json_array_foreach(list, i, one) {
        sum += integer(one, "multiply_adds");
        ck_assert_int_eq(integer(one, "out"), (json_int_t)r.box[i].out);
        ck_assert_uint_eq(json_array_size(json_object_get(one, "first")), 4);
    }
    const json_t *parts = json_object_get(root, "multiply_adds");
    ck_assert_int_eq(integer(parts, "total"), sum);
    ck_assert_int_eq(integer(parts, "mlp"), (json_int_t)r.part[PART_MLP]);
    list = json_object_get(root, "choices");
    ck_assert_uint_eq(json_array_size(list), FORWARD_CHOICES);
    json_array_foreach(list, i, one) {
        ck_assert_int_eq(integer(one, "token"), r.choice[i].id);
        ck_assert(json_is_real(json_object_get(one, "logit")));
        ck_assert(json_is_real(json_object_get(one, "probability")));
    }
    ck_assert_uint_eq(json_array_size(json_object_get(root, "texts")), FORWARD_TEXTS);
    json_decref(root);
    free(text);
    forward_result_close(&r);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

static bool attempt(const Options *options, Memory *memory, Error *err) {
    ForwardResult result;
    if (!forward_run(options, &result, memory, err)) return false;
    Capture capture;
    capture_begin(&capture);
    const int status = forward_report(&result, options, capture.stream, err);
    capture_end(&capture);
    free(capture.text);
    forward_result_close(&result);
    return status == STATUS_FINE;
}

START_TEST(every_allocation_may_fail) {
    const Options options =
        TYPED(&forward_command, "--model", TINY, "--prompt", "any text");
    demand_no_leaks(&options, attempt);
}
END_TEST

START_TEST(a_prompt_fills_the_context_but_not_more) {
    Memory memory = {0};
    ForwardResult result;
    Error err = {0};
    Options options =
        TYPED(&forward_command, "--model", TINY, "--prompt", "23 characters and <s>..");
    result = run(&options, &memory);
    ck_assert_uint_eq(result.tokens, 24);
    forward_result_close(&result);
    options.prompt = "24 characters and <s>...";
    ck_assert(!forward_run(&options, &result, &memory, &err));
    ck_assert(strstr(err.text, "over the context of 24") != NULL);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

int main(void) {
    TCase *forward = tcase_create("forward");
    tcase_add_loop_test(forward, the_boxes_are_those_of_every_layer_and_of_the_ends, 0,
                        OPTIONS);
    tcase_add_loop_test(forward,
                        the_multiply_adds_are_those_of_the_formula_for_one_cached_step,
                        0, OPTIONS);
    tcase_add_test(
        forward, the_first_box_holds_the_row_of_the_token_and_the_shapes_fit_together);
    tcase_add_loop_test(forward,
                        the_choices_are_the_likeliest_by_logits_made_without_a_cache, 0,
                        OPTIONS);
    tcase_add_test(forward, a_small_vocabulary_has_no_more_choices_than_tokens);
    tcase_add_test(forward, of_equal_logits_the_lower_id_comes_first);
    tcase_add_test(forward, the_prompt_is_shown_as_pieces_and_ids);
    tcase_add_test(forward, known_texts_take_as_many_byte_tokens_as_they_have_bytes);
    tcase_add_loop_test(forward, what_is_shown_fits_80_columns_and_says_it_all, 0,
                        OPTIONS);
    tcase_add_test(forward, numbers_of_any_size_leave_the_table_whole);
    tcase_add_test(forward,
                   a_piece_in_a_table_shows_its_blanks_and_is_cut_between_characters);
    tcase_add_test(forward, json_has_every_box_choice_token_and_text);
    tcase_add_test(forward, every_allocation_may_fail);
    tcase_add_test(forward, a_prompt_fills_the_context_but_not_more);
    Suite *suite = suite_create("forward");
    suite_add_tcase(suite, forward);
    return check_run(suite);
}
