/* Labels that cover one another or leave their place are seen; a user's text is made
 * safe; words and data stand beside each picture; a failed one leaves the old one. */
#include "tests/check_main.h"
#include "tests/viz_compare.h"
#include "tests/viz_folder.h"
#include "viz/fonts.h"
#include "viz/label.h"

#include <string.h>
#include <unistd.h>

static void one_on_the_other(VizCanvas *canvas, const void *data) {
    const double *shift = data;
    VizLabel how = {.role = "test", .size = 10};
    viz_label(canvas, "first", 50, 50, &how);
    viz_label(canvas, "second", 50 + shift[0], 50 + shift[1], &how);
}

static VizReport report_of(VizDraw draw, const void *data) {
    VizReport report;
    Error err = {0};
    char *dump = viz_dump(draw, data, 200, 100, &report, &err);
    ck_assert_msg(dump != NULL, "%s", err.text);
    free(dump);
    return report;
}

START_TEST(labels_on_one_another_are_seen) {
    ck_assert_uint_eq(report_of(one_on_the_other, (double[]){0, 0}).overlaps, 1);
    ck_assert_uint_eq(report_of(one_on_the_other, (double[]){15, 3}).overlaps, 1);
    ck_assert_uint_eq(report_of(one_on_the_other, (double[]){0, 12}).overlaps, 0);
    ck_assert_uint_eq(report_of(one_on_the_other, (double[]){40, 0}).overlaps, 0);
    VizReport report = report_of(one_on_the_other, (double[]){0, 0});
    ck_assert_ptr_nonnull(strstr(report.problem, "second"));
}
END_TEST

START_TEST(labels_outside_the_canvas_are_seen) {
    ck_assert_uint_eq(report_of(one_on_the_other, (double[]){140, 0}).outside, 1);
    ck_assert_uint_eq(report_of(one_on_the_other, (double[]){-70, 0}).outside, 1);
    ck_assert_uint_eq(report_of(one_on_the_other, (double[]){0, 60}).outside, 1);
    ck_assert_uint_eq(report_of(one_on_the_other, (double[]){0, -60}).outside, 1);
    ck_assert_uint_eq(report_of(one_on_the_other, (double[]){50, 30}).outside, 0);
}
END_TEST

static void leaves_its_place(VizCanvas *canvas, const void *data) {
    (void)data;
    VizLabel how = {.role = "test", .inside = {40, 30, 20, 20}};
    viz_label(canvas, "too wide", 42, 45, &how);
}

START_TEST(labels_outside_their_own_place_are_seen) {
    ck_assert_uint_eq(report_of(leaves_its_place, NULL).outside, 1);
}
END_TEST

typedef struct {
    const char *text;
    bool user;
} Word;

static void one_word(VizCanvas *canvas, const void *data) {
    const Word *word = data;
    viz_label(canvas, word->text, 10, 50,
              &(VizLabel){.role = "test", .user = word->user});
}

static char *dump_of(const char *text, bool user, VizReport *report, Error *err) {
    return viz_dump(one_word, &(Word){text, user}, 400, 100, report, err);
}

START_TEST(a_missing_glyph_is_an_error_in_our_words_and_a_number_in_the_users) {
    static const char glyph[] = "a \xF0\x93\x80\x80 b"; /* U+13000, in no font here */
    VizReport report;
    Error err = {0};
    ck_assert_ptr_null(dump_of(glyph, false, &report, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "no glyph"));
    char *dump = dump_of(glyph, true, &report, &err);
    ck_assert_ptr_nonnull(strstr(dump, "\"a U+13000 b\""));
    ck_assert_uint_eq(report.unknown, 1);
    free(dump);
    /* Chinese is never one of our own words: another machine may lack the font. */
    ck_assert_ptr_null(dump_of("\xE4\xB8\xAD", false, &report, &err));
    dump = dump_of("\xE4\xB8\xAD", true, &report, &err);
    ck_assert_uint_eq(report.unknown, viz_fonts_chinese() ? 0 : 1);
    free(dump);
}
END_TEST

START_TEST(a_users_text_is_escaped) {
    static const char *const pairs[][2] = {
        {"\n\t\x1B", "\\n\\t\\x1B"},
        {"\xE4\xB8", "\\xE4\\xB8"},
        {"a\xFF"
         "b",
         "a\\xFF"
         "b"},
        {"\xE2\x80\xAE"
         "abc",
         "U+202Eabc"},
        {"  the ", "\xE2\x90\xA3\xE2\x90\xA3the\xE2\x90\xA3"},
        {"a b", "a b"},
        {" ", "\xE2\x90\xA3"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        Error err = {0};
        char wanted[64], *dump = dump_of(pairs[i][0], true, NULL, &err);
        snprintf(wanted, sizeof wanted, "\"%s\"", pairs[i][1]);
        ck_assert_msg(dump && strstr(dump, wanted), "%s is not in %s", wanted, dump);
        free(dump);
    }
}
END_TEST

START_TEST(the_words_beside_a_picture_say_what_it_hides) {
    static const char *const wanted[][2] = {
        {"heat_huge",
         "1200 x 1200 cells are shown as blocks of 3 x 3, each by the maximum"},
        {"heat_huge", "A very large map\n\nblocks by their maximum\n"},
        {"heat_ugly", "not numbers, drawn grey: 3"},
        {"heat_huge", "not numbers, drawn grey: 1"},
        {"heat_ugly", "beyond the ends of the scale, shown as its ends: 1"},
        {"heat_ugly", "2 characters have no glyph"},
        {"heat_numbers", "The first column has the largest number in every row."},
        {"lines_ugly", "cannot stand on a logarithmic axis and are left out"},
        {"lines_ugly", "names find no room"},
        {"lines_bytes", "the mark 'far away'"},
        {"bars_ugly", "3 values are negative or not numbers"},
        {"blocks_ugly", "unknown state"},
        {"timeline_ugly", "3 intervals have no row"},
        {"matrix_three", "of 40 x 60 entries"},
        {"boxes_ugly", "too small to be seen"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        viz_write_sample(viz_sample_named(wanted[i][0]), VIZ_PNG, "words", NULL);
        char *text = file_text(viz_in_folder("words.txt"), NULL);
        ck_assert_msg(strstr(text, wanted[i][1]), "%s.txt lacks '%s':\n%s",
                      wanted[i][0], wanted[i][1], text);
        free(text);
    }
}
END_TEST

START_TEST(the_data_stand_beside_the_picture) {
    static const char *const wanted[][2] = {
        {"heat_numbers", "panel,row,column,value,end,note\n"},
        {"heat_numbers", "\n,<s>,<s>,1,,\n"},
        {"heat_numbers", "\n,<s>,\" Once\",,,masked\n"},
        {"heat_ugly", ",nan,,\n"},
        {"heat_huge", "\n,300,233,1.36787944117144"}, /* the largest of 3 x 3 */
        {"bars_few", "\n,128,mlp,8448000,,\n"},
        {"timeline_requests", "\n,\"user 2\",second,12,18,\n"},
        {"blocks_cache", "\n,\"layer 3\",9,1,,\"new in this step\"\n"},
        {"lines_linear", "\n,\"with the cache\",64,182768,,\n"},
        {"boxes_forward", "\n,logits,MA,32768,,[512]\n"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        viz_write_sample(viz_sample_named(wanted[i][0]), VIZ_PNG, "data", NULL);
        char *text = file_text(viz_in_folder("data.csv"), NULL);
        ck_assert_msg(strstr(text, wanted[i][1]), "%s.csv lacks '%s'", wanted[i][0],
                      wanted[i][1]);
        free(text);
    }
}
END_TEST

START_TEST(a_failed_picture_leaves_the_old_one) {
    Error err = {0};
    Word good = {"fine", false}, bad = {"\xF0\x93\x80\x80", false};
    size_t size, after;
    ck_assert(
        viz_write(one_word, &good, 200, 100, VIZ_SVG, viz_in_folder("x"), NULL, &err));
    char *before = file_text(viz_in_folder("x.svg"), &size);
    ck_assert(
        !viz_write(one_word, &bad, 200, 100, VIZ_SVG, viz_in_folder("x"), NULL, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "/x: "));
    char *now = file_text(viz_in_folder("x.svg"), &after);
    ck_assert_uint_eq(size, after);
    ck_assert_mem_eq(before, now, size);
    ck_assert(!viz_write(one_word, &bad, 200, 100, VIZ_SVG, viz_in_folder("new"), NULL,
                         &err));
    ck_assert_int_ne(access(viz_in_folder("new.svg"), F_OK), 0);
    ck_assert_int_ne(access(viz_in_folder("new.txt"), F_OK), 0);
    ck_assert_int_ne(access(viz_in_folder("new.txt.part0"), F_OK), 0);
    free(before);
    free(now);
}
END_TEST

START_TEST(bad_places_sizes_and_formats_are_refused) {
    Error err = {0};
    Word word = {"fine", false};
    VizFormat format;
    ck_assert(
        !viz_write(one_word, &word, 200, 100, VIZ_PNG, "/nonsense/x", NULL, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "/nonsense/x"));
    ck_assert(
        !viz_write(one_word, &word, 20, 100, VIZ_PNG, viz_in_folder("x"), NULL, &err));
    ck_assert(!viz_write(one_word, &word, 200, 9000, VIZ_PNG, viz_in_folder("x"), NULL,
                         &err));
    ck_assert_ptr_nonnull(strstr(err.text, "200 x 9000"));
    ck_assert(viz_format_from("svg", &format, &err));
    ck_assert_int_eq(format, VIZ_SVG);
    ck_assert(!viz_format_from("jpg", &format, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "'jpg'; use png, svg or pdf"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("viz labels");
    TCase *labels = tcase_create("labels");
    tcase_set_timeout(labels, 20);
    tcase_add_test(labels, labels_on_one_another_are_seen);
    tcase_add_test(labels, labels_outside_the_canvas_are_seen);
    tcase_add_test(labels, labels_outside_their_own_place_are_seen);
    tcase_add_test(labels,
                   a_missing_glyph_is_an_error_in_our_words_and_a_number_in_the_users);
    tcase_add_test(labels, a_users_text_is_escaped);
    suite_add_tcase(suite, labels);
    TCase *files = tcase_create("files");
    tcase_set_timeout(files, 60);
    tcase_add_checked_fixture(files, viz_folder_enter, viz_folder_leave);
    tcase_add_test(files, the_words_beside_a_picture_say_what_it_hides);
    tcase_add_test(files, the_data_stand_beside_the_picture);
    tcase_add_test(files, a_failed_picture_leaves_the_old_one);
    tcase_add_test(files, bad_places_sizes_and_formats_are_refused);
    suite_add_tcase(suite, files);
    return check_run(suite);
}
