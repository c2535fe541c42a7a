/* What all commands share: options, quantities, tables, text, progress, JSON. */
#include "chapters/03_cache/command.h"
#include "chapters/common/json.h"
#include "chapters/common/nearest.h"
#include "chapters/common/option_table.h"
#include "chapters/common/progress.h"
#include "chapters/common/quantity.h"
#include "chapters/common/table.h"
#include "chapters/common/text.h"
#include "tests/capture.h"
#include "tests/check_main.h"

#include <string.h>

/* Runs the parser over words ended by NULL, as if typed after `kvstep cache`. */
static OptionsOutcome parse(char *const *words, Options *options, Error *err) {
    char *argv[16] = {"cache"};
    int argc = 1;
    for (; *words; words++) argv[argc++] = *words;
    *err = (Error){0};
    return options_parse(&cache_command.info, argc, argv, options, err);
}

START_TEST(options_without_words_are_the_defaults) {
    Options o;
    Error err;
    ck_assert_int_eq(parse((char *[]){NULL}, &o, &err), OPTIONS_RUN);
    ck_assert_str_eq(o.model, MODEL_DEFAULT);
    ck_assert_str_eq(o.prompt, "");
    ck_assert_str_eq(o.kernels, "fast");
    ck_assert_str_eq(o.cache, "contiguous");
    ck_assert_uint_eq(o.tokens, 64);
    ck_assert_uint_eq(o.seed, 1);
    ck_assert(o.temperature == 0 && o.top_p == 1);
    ck_assert_uint_eq(o.context + o.chunk, 0);
    ck_assert(!o.tokenizer && !o.trace && !o.dense && !o.logits_all);
    ck_assert(!o.json && !o.quiet && !o.digest && !o.trace_attention);
}
END_TEST

START_TEST(options_take_values_apart_or_joined_and_the_last_one_counts) {
    Options o;
    Error err;
    char *words[] = {"--tokens",
                     "7",
                     "--prompt=--json",
                     "--scores=dense",
                     "--tokens=9",
                     "--top-p",
                     ".5",
                     "--temperature=1e0",
                     "--seed",
                     "18446744073709551615",
                     "--logits",
                     "all",
                     "--trace=t",
                     "--quiet",
                     NULL};
    ck_assert_msg(parse(words, &o, &err) == OPTIONS_RUN, "%s", err.text);
    ck_assert_uint_eq(o.tokens, 9);
    ck_assert_str_eq(o.prompt, "--json");
    ck_assert_str_eq(o.trace, "t");
    ck_assert_uint_eq(o.seed, UINT64_MAX);
    ck_assert(o.temperature == 1 && o.top_p == 0.5f);
    ck_assert(o.dense && o.logits_all && o.quiet && !o.json);
}
END_TEST

static const struct {
    char *words[3];
    const char *said;
} refusals[] = {
    {{"--tokns", "3"}, "unknown option '--tokns'; did you mean --tokens?"},
    {{"--tok=3"}, "did you mean --tokens?"}, /* no silent abbreviation */
    {{"-tokens", "3"}, "did you mean --tokens?"},
    {{"--jsno"}, "did you mean --json?"},
    {{"--zzyx"}, "unknown option '--zzyx'; kvstep cache --help lists"},
    {{"-h"}, "unknown option '-h'"},
    {{"--"}, "unknown option '--'"},
    {{"word"}, "'word' is not an option"},
    {{"--tokens"}, "--tokens needs a value: --tokens N"},
    {{"--prompt", "--tokens=3"}, "--prompt needs a value"},
    {{"--json=yes"}, "--json takes no value"},
    {{"--tokens", "0"}, "--tokens is '0'; it must be a whole number from 1 to "},
    {{"--tokens", "-3"}, "--tokens is '-3'"},
    {{"--tokens", "+3"}, "--tokens is '+3'"},
    {{"--tokens", " 3"}, "--tokens is ' 3'"},
    {{"--tokens", "3x"}, "--tokens is '3x'"},
    {{"--tokens="}, "--tokens is ''"},
    {{"--tokens", "1073741825"}, "--tokens is '1073741825'"},
    {{"--seed", "18446744073709551616"}, "--seed is '18446744073709551616'"},
    {{"--ctx", "0"}, "--ctx is '0'"},
    {{"--chunk", "1e3"}, "--chunk is '1e3'"},
    {{"--temperature", "nan"}, "--temperature is 'nan'"},
    {{"--temperature", "inf"}, "--temperature is 'inf'"},
    {{"--temperature", "-1"}, "--temperature is '-1'"},
    {{"--temperature", "1e999"}, "--temperature is '1e999'"},
    {{"--temperature", "1e-9"}, "it must be 0 or a number from 0.01 to 100"},
    {{"--temperature", "0x1"}, "--temperature is '0x1'"},
    {{"--top-p", "0"}, "--top-p is '0'"},
    {{"--top-p", "1.01"}, "--top-p is '1.01'"},
    {{"--top-p", "."}, "--top-p is '.'"},
    {{"--top-p", "1,0"}, "--top-p is '1,0'"},
    {{"--cache", "contigous"}, "did you mean contiguous?"},
    {{"--scores", "all"}, "--scores is 'all'; there is: causal, dense"},
    {{"--kernels", ""}, "--kernels is ''; there is: fast, naive"},
    {{"--model", ""}, "--model is empty; give NAME|FILE"},
    {{"--trace-attention"}, "--trace-attention needs --trace FILE"},
};

START_TEST(options_refuse_in_one_line_that_says_what_to_do) {
    Options o;
    Error err;
    ck_assert_int_eq(parse((char *const *)refusals[_i].words, &o, &err),
                     OPTIONS_REFUSED);
    ck_assert_msg(strstr(err.text, refusals[_i].said) != NULL, "%s", err.text);
    ck_assert(strchr(err.text, '\n') == NULL);
}
END_TEST

START_TEST(help_names_every_accepted_option_within_80_columns) {
    Capture capture;
    capture_begin(&capture);
    options_help(&cache_command.info, capture.stream);
    char *text = (char *)capture_end(&capture);
    for (const char *const *name = cache_command.info.accepts; *name; name++) {
        char option[40];
        snprintf(option, sizeof option, "  --%s", *name);
        ck_assert_msg(option_find(*name, strlen(*name)) != NULL, "%s", *name);
        ck_assert_msg(strstr(text, option) != NULL, "%s", *name);
    }
    ck_assert(strstr(text, "(default: 64)") && strstr(text, "Examples:"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        ck_assert_msg(strlen(line) <= 80, "%s", line);
    free(capture.text);
}
END_TEST

START_TEST(the_nearest_name_is_the_one_that_was_meant) {
    static const char *const names[] = {"cache", "compare", "tokenizer", "tokens",
                                        NULL};
    ck_assert_uint_eq(nearest_distance("cahce", "cache"), 1);
    ck_assert_uint_eq(nearest_distance("", "abc"), 3);
    ck_assert_uint_eq(nearest_distance("kitten", "sitting"), 3);
    ck_assert_str_eq(nearest_name("cahce", names), "cache");
    ck_assert_str_eq(nearest_name("comp", names), "compare");
    ck_assert_str_eq(nearest_name("tok", names), "tokens");
    ck_assert_str_eq(nearest_name("toknizer", names), "tokenizer");
    ck_assert_ptr_eq(nearest_name("memory", names), NULL);
    ck_assert_ptr_eq(nearest_name("", names), NULL);
    char longest[1000];
    memset(longest, 'c', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    ck_assert_ptr_eq(nearest_name(longest, names), NULL);
}
END_TEST

START_TEST(quantities_read_the_same_everywhere) {
    char t[QUANTITY_TEXT];
    ck_assert_str_eq(quantity_count(0, t), "0");
    ck_assert_str_eq(quantity_count(999, t), "999");
    ck_assert_str_eq(quantity_count(1000, t), "1,000");
    ck_assert_str_eq(quantity_count(UINT64_MAX, t), "18,446,744,073,709,551,615");
    ck_assert_str_eq(quantity_of(1, "row", "rows", t), "1 row");
    ck_assert_str_eq(quantity_of(2080, "row", "rows", t), "2,080 rows");
    ck_assert_str_eq(quantity_bytes(131072, t), "131,072 bytes (128 KiB)");
    ck_assert_str_eq(quantity_bytes(131073, t), "131,073 bytes");
    ck_assert_str_eq(quantity_bytes((uint64_t)3 << 30, t),
                     "3,221,225,472 bytes (3 GiB)");
    ck_assert_str_eq(quantity_ratio(205, 20, t), "10.3");
    ck_assert_str_eq(quantity_ratio(123456, 1, t), "123,456.0");
    ck_assert_str_eq(quantity_ratio(1, 0, t), "-");
    ck_assert_str_eq(quantity_seconds(0.0000004, t), "0 us");
    ck_assert_str_eq(quantity_seconds(0.0009996, t), "1.00 ms");
    ck_assert_str_eq(quantity_seconds(0.01234, t), "12.3 ms");
    ck_assert_str_eq(quantity_seconds(0.1234, t), "123 ms");
    ck_assert_str_eq(quantity_seconds(4.567, t), "4.57 s");
}
END_TEST

START_TEST(tables_align_by_what_is_seen_not_by_bytes) {
    const TableColumn columns[] = {{"name", "", true}, {"size", "bytes", false}};
    Memory memory = {0};
    Table table;
    Capture capture;
    ck_assert(table_open(&table, columns, 2, 3, &memory, NULL));
    const char *cells[] = {
        "\xc3\xa9t\xc3\xa9", "1,024", "\xe7\x8c\xab", "7", "a", "12"};
    for (size_t i = 0; i < 6; i++) table_add(&table, cells[i]);
    table_add(&table, "over the room");
    ck_assert_uint_eq(table_width(&table), 11);
    capture_begin(&capture);
    table_print(&table, capture.stream);
    ck_assert_str_eq(capture_end(&capture), "name   size\n"
                                            "      bytes\n"
                                            "\xc3\xa9t\xc3\xa9   1,024\n"
                                            "\xe7\x8c\xab        7\n"
                                            "a        12\n");
    free(capture.text);
    table_close(&table);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(long_runs_are_thinned_to_twenty_rows_with_both_ends) {
    ck_assert_uint_eq(table_shown(1, 20), 1);
    ck_assert_uint_eq(table_shown(25, 20), 25);
    const size_t lengths[] = {26, 64, 512, SIZE_MAX};
    for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
        size_t rows = lengths[n], shown = table_shown(rows, 20);
        ck_assert_uint_eq(shown, 20);
        ck_assert_uint_eq(table_pick(rows, shown, 0), 0);
        ck_assert_uint_eq(table_pick(rows, shown, 19), rows - 1);
        for (size_t i = 1; i < shown; i++)
            ck_assert_uint_gt(table_pick(rows, shown, i),
                              table_pick(rows, shown, i - 1));
    }
}
END_TEST

START_TEST(text_holds_half_characters_back_until_they_are_whole) {
    Capture capture;
    capture_begin(&capture);
    TextOut out = {.stream = capture.stream};
    text_put(&out, "a\xe2\x82", 3);
    ck_assert_str_eq(capture.text, "a");
    text_put(&out, "", 0);
    text_put(&out, "\xac", 1);
    ck_assert_str_eq(capture.text, "a\xe2\x82\xac");
    text_put(&out, "\xe2\x82z", 3); /* it never becomes whole */
    ck_assert_str_eq(capture.text, "a\xe2\x82\xac\\xe2\\x82z");
    text_put(&out, "\xf0\x9f", 2);
    text_end(&out);
    ck_assert_str_eq(capture_end(&capture), "a\xe2\x82\xac\\xe2\\x82z\\xf0\\x9f\n");
    free(capture.text);
}
END_TEST

START_TEST(text_gives_a_terminal_nothing_to_obey) {
    Capture capture;
    capture_begin(&capture);
    TextOut out = {.stream = capture.stream};
    const char bytes[] = "\x1b[2J\r\b\0\x7f\xc2\x9b\xff\\\ttab\nend\n";
    text_put(&out, bytes, sizeof bytes - 1);
    text_end(&out); /* the line is ended already */
    ck_assert_str_eq(capture_end(&capture),
                     "\\x1b[2J\\x0d\\x08\\x00\\x7f\\xc2\\x9b\\xff\\\ttab\nend\n");
    free(capture.text);
}
END_TEST

START_TEST(escaped_pieces_are_one_line_and_fit) {
    char cell[8];
    ck_assert_str_eq(text_escape("a\n\t\\", 4, cell, sizeof cell), "a\\n\\t\\\\");
    ck_assert_str_eq(text_escape("abcdefg", 7, cell, sizeof cell), "abcdefg");
    ck_assert_str_eq(text_escape("abcdefgh", 8, cell, sizeof cell), "abcde..");
    ck_assert_str_eq(text_escape("abcd\x01y", 6, cell, sizeof cell), "abcd..");
    ck_assert_str_eq(text_escape("", 0, cell, sizeof cell), "");
    ck_assert_uint_eq(text_width("e\xcc\x81\xe7\x8c\xab"), 3);
}
END_TEST

START_TEST(the_progress_bar_leaves_no_trace) {
    Capture capture;
    capture_begin(&capture);
    Progress progress = {.stream = capture.stream, .on = true, .all = 4};
    progress_show(&progress, 2);
    progress_end(&progress);
    const char *text = capture_end(&capture);
    ck_assert(strstr(text, "####################  ") && strstr(text, "] 2 of 4"));
    ck_assert(strchr(text, '\n') == NULL && strchr(text, '\033') == NULL);
    const char *erased = strstr(text, "4\r");
    ck_assert(erased && strspn(erased + 2, " ") == strlen(erased + 2) - 1);
    free(capture.text);
    capture_begin(&capture);
    progress = (Progress){.stream = capture.stream, .all = 4};
    progress_show(&progress, 2);
    progress_end(&progress);
    ck_assert_str_eq(capture_end(&capture), "");
    free(capture.text);
}
END_TEST

START_TEST(json_integers_are_exact_or_refused) {
    json_t *object = json_object();
    Error err = {0};
    ck_assert(json_put_count(object, "n", INT64_MAX, &err));
    ck_assert(!json_put_count(object, "m", (uint64_t)INT64_MAX + 1, &err));
    ck_assert(strstr(err.text, "'m' is 9223372036854775808"));
    Capture capture;
    capture_begin(&capture);
    ck_assert(json_print(object, capture.stream, &err));
    ck_assert_str_eq(capture_end(&capture), "{\n  \"n\": 9223372036854775807\n}\n");
    free(capture.text);
    json_decref(object);
}
END_TEST

START_TEST(json_text_is_utf8_and_bytes_that_are_not_stand_beside_it) {
    json_t *object = json_object();
    ck_assert(json_put_bytes(object, "a", "ax", "\xc3\xa9", 2, NULL));
    ck_assert(json_put_bytes(object, "b", "bx", "z\xe2\x82", 3, NULL));
    ck_assert_str_eq(json_string_value(json_object_get(object, "a")), "\xc3\xa9");
    ck_assert_ptr_eq(json_object_get(object, "ax"), NULL);
    ck_assert_str_eq(json_string_value(json_object_get(object, "b")),
                     "z\xef\xbf\xbd\xef\xbf\xbd");
    ck_assert_str_eq(json_string_value(json_object_get(object, "bx")), "7ae282");
    json_decref(object);
}
END_TEST

int main(void) {
    TCase *options = tcase_create("options"), *shown = tcase_create("shown");
    tcase_add_test(options, options_without_words_are_the_defaults);
    tcase_add_test(options,
                   options_take_values_apart_or_joined_and_the_last_one_counts);
    tcase_add_loop_test(options, options_refuse_in_one_line_that_says_what_to_do, 0,
                        sizeof refusals / sizeof *refusals);
    tcase_add_test(options, help_names_every_accepted_option_within_80_columns);
    tcase_add_test(options, the_nearest_name_is_the_one_that_was_meant);
    tcase_add_test(shown, quantities_read_the_same_everywhere);
    tcase_add_test(shown, tables_align_by_what_is_seen_not_by_bytes);
    tcase_add_test(shown, long_runs_are_thinned_to_twenty_rows_with_both_ends);
    tcase_add_test(shown, text_holds_half_characters_back_until_they_are_whole);
    tcase_add_test(shown, text_gives_a_terminal_nothing_to_obey);
    tcase_add_test(shown, escaped_pieces_are_one_line_and_fit);
    tcase_add_test(shown, the_progress_bar_leaves_no_trace);
    tcase_add_test(shown, json_integers_are_exact_or_refused);
    tcase_add_test(shown, json_text_is_utf8_and_bytes_that_are_not_stand_beside_it);
    Suite *suite = suite_create("chapters");
    suite_add_tcase(suite, options);
    suite_add_tcase(suite, shown);
    return check_run(suite);
}
