/* Pictures are what they were, nothing in them covers anything, and they do not depend
 * on the fonts of the machine.
 *
 * Goldens are in tests/viz_golden/: NAME.png at one pixel a point, NAME.txt the dump of
 * what was drawn. After a wanted change look at the pictures, then write them anew:
 *     KVSTEP_GOLDEN=write build/tests/test_viz
 * Run from the top of the tree. */
#include "tests/check_main.h"
#include "tests/viz_compare.h"
#include "tests/viz_samples.h"
#include "viz/fonts.h"
#include "viz/heatmap.h"
#include "viz/label.h"
#include "viz/page.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GOLDEN "tests/viz_golden/"

static char folder[64];

static void enter(void) {
    strcpy(folder, "/tmp/kvstep-viz-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void leave(void) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static const char *in_folder(const char *name) {
    static char path[2][160];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void write_sample(const Sample *sample, VizFormat format, const char *name,
                         VizReport *report) {
    Error err = {0};
    ck_assert_msg(viz_write(sample->draw, NULL, sample->width, sample->height, format,
                            in_folder(name), report, &err),
                  "%s: %s", sample->name, err.text);
}

static const Sample *sample_named(const char *name) {
    for (size_t i = 0; i < viz_sample_count; i++)
        if (strcmp(viz_samples[i].name, name) == 0) return &viz_samples[i];
    ck_abort_msg("no sample %s", name);
}

static bool rewriting(void) {
    const char *mode = getenv("KVSTEP_GOLDEN");
    return mode && strcmp(mode, "write") == 0;
}

START_TEST(nothing_covers_or_leaves_anything_and_all_can_be_read) {
    const Sample *sample = &viz_samples[_i];
    VizReport report;
    Error err = {0};
    char *dump =
        viz_dump(sample->draw, NULL, sample->width, sample->height, &report, &err);
    ck_assert_msg(dump != NULL, "%s: %s", sample->name, err.text);
    ck_assert_msg(report.overlaps == 0 && report.outside == 0, "%s: %s", sample->name,
                  report.problem);
    ck_assert_double_ge(report.smallest_px, 14);
    ck_assert_uint_gt(report.labels, 0);
    free(dump);
}
END_TEST

START_TEST(the_dump_is_the_golden_one) {
    const Sample *sample = &viz_samples[_i];
    if (!sample->golden) return;
    char path[120], where[600];
    Error err = {0};
    snprintf(path, sizeof path, GOLDEN "%s.txt", sample->name);
    char *dump =
        viz_dump(sample->draw, NULL, sample->width, sample->height, NULL, &err);
    ck_assert_ptr_nonnull(dump);
    if (rewriting()) {
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        fputs(dump, file);
        fclose(file);
    }
    char *golden = file_text(path, NULL);
    ck_assert_msg(golden != NULL, "%s is missing", path);
    ck_assert_msg(dumps_agree(golden, dump, where), "%s: %s", path, where);
    free(golden);
    free(dump);
}
END_TEST

START_TEST(the_picture_is_the_golden_one) {
    const Sample *sample = &viz_samples[_i];
    if (!sample->golden) return;
    char path[120];
    snprintf(path, sizeof path, GOLDEN "%s.png", sample->name);
    write_sample(sample, VIZ_PNG, "now", NULL);
    cairo_surface_t *now = picture_half(in_folder("now.png"));
    ck_assert_ptr_nonnull(now);
    if (rewriting())
        ck_assert_int_eq(cairo_surface_write_to_png(now, path), CAIRO_STATUS_SUCCESS);
    cairo_surface_t *golden = cairo_image_surface_create_from_png(path);
    ck_assert_msg(cairo_surface_status(golden) == CAIRO_STATUS_SUCCESS, "%s is missing",
                  path);
    double difference = picture_difference(golden, now);
    ck_assert_msg(difference < 0.002, "%s: %.2f%% of the pixels differ", path,
                  100 * difference);
    cairo_surface_destroy(golden);
    cairo_surface_destroy(now);
}
END_TEST

/* The comparison itself can fail: two figures of one size, and one word moved. */
START_TEST(another_picture_is_seen_to_be_another) {
    write_sample(sample_named("lines_linear"), VIZ_PNG, "a", NULL);
    write_sample(sample_named("bars_few"), VIZ_PNG, "b", NULL);
    cairo_surface_t *a = picture_half(in_folder("a.png"));
    cairo_surface_t *b = picture_half(in_folder("b.png"));
    ck_assert_double_gt(picture_difference(a, b), 0.05);
    ck_assert_double_eq(picture_difference(a, a), 0);
    cairo_surface_destroy(a);
    cairo_surface_destroy(b);
    char where[600];
    ck_assert(
        dumps_agree("label 1.0 2.0 tick \"7\"\n", "label 1.9 2.0 tick \"7\"\n", where));
    ck_assert(!dumps_agree("label 1.0 2.0 tick \"7\"\n", "label 3.0 2.0 tick \"7\"\n",
                           where));
    ck_assert(!dumps_agree("label 1.0 2.0 tick \"7\"\n", "label 1.0 2.0 tick \"8\"\n",
                           where));
    ck_assert(!dumps_agree("a 1\nb 2\n", "a 1\n", where));
}
END_TEST

START_TEST(png_svg_and_pdf_open) {
    const Sample *sample = sample_named("heat_numbers");
    char what[120];
    size_t size;
    for (int format = VIZ_PNG; format <= VIZ_PDF; format++)
        write_sample(sample, (VizFormat)format, "open", NULL);
    cairo_surface_t *half = picture_half(in_folder("open.png"));
    ck_assert_int_eq(cairo_image_surface_get_width(half), 640);
    ck_assert_int_eq(cairo_image_surface_get_height(half), 480);
    cairo_surface_destroy(half);
    char *svg = file_text(in_folder("open.svg"), NULL);
    ck_assert_ptr_nonnull(strstr(svg, "<svg"));
    ck_assert_ptr_nonnull(strstr(svg, "width=\"640pt\""));
    ck_assert_msg(xml_is_well_formed(svg, what), "%s", what);
    ck_assert(!xml_is_well_formed("<a><b></a></b>", what));
    char *pdf = file_text(in_folder("open.pdf"), &size);
    ck_assert_int_eq(strncmp(pdf, "%PDF-1.", 7), 0);
    ck_assert_ptr_nonnull(strstr(pdf + size - 8, "%%EOF"));
    free(svg);
    free(pdf);
}
END_TEST

START_TEST(two_runs_give_the_same_bytes) {
    static const char *const endings[] = {"png", "svg", "pdf", "csv", "txt"};
    const Sample *sample = sample_named("boxes_forward");
    for (int format = VIZ_PNG; format <= VIZ_PDF; format++) {
        write_sample(sample, (VizFormat)format, "one", NULL);
        write_sample(sample, (VizFormat)format, "two", NULL);
    }
    for (size_t i = 0; i < 5; i++) {
        char one[16], two[16];
        size_t a_size, b_size;
        snprintf(one, sizeof one, "one.%s", endings[i]);
        snprintf(two, sizeof two, "two.%s", endings[i]);
        char *a = file_text(in_folder(one), &a_size),
             *b = file_text(in_folder(two), &b_size);
        ck_assert_uint_gt(a_size, 100);
        ck_assert_uint_eq(a_size, b_size);
        ck_assert_mem_eq(a, b, a_size);
        free(a);
        free(b);
    }
}
END_TEST

/* Draws in a process of its own, because fontconfig reads its environment once. */
static void draw_in_child(const char *name, const char *variable, const char *value) {
    pid_t child = fork();
    if (child == 0) {
        Error err = {0};
        const Sample *sample = sample_named("heat_numbers");
        if (variable) setenv(variable, value, 1);
        bool done = viz_write(sample->draw, NULL, sample->width, sample->height,
                              VIZ_PNG, in_folder(name), NULL, &err);
        _exit(done ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

START_TEST(a_hostile_font_configuration_changes_nothing) {
    const char *rules = in_folder("hostile.conf");
    FILE *file = fopen(rules, "w");
    fputs(
        "<?xml version=\"1.0\"?><!DOCTYPE fontconfig SYSTEM \"fonts.dtd\"><fontconfig>"
        "<dir>/usr/share/fonts</dir><match target=\"pattern\"><edit name=\"family\" "
        "mode=\"assign_replace\" binding=\"strong\"><string>DejaVu "
        "Serif</string></edit>"
        "</match><match target=\"font\"><edit "
        "name=\"hintstyle\"><const>hintfull</const>"
        "</edit><edit name=\"embolden\"><bool>true</bool></edit></match></fontconfig>",
        file);
    fclose(file);
    const char *const hostile[][2] = {{"FONTCONFIG_FILE", rules},
                                      {"FONTCONFIG_FILE", "/nonsense/fonts.conf"},
                                      {"FONTCONFIG_SYSROOT", "/nonsense"},
                                      {"PANGO_LANGUAGE", "ar:zh:ja"},
                                      {"HOME", "/nonsense"}};
    size_t a_size, b_size;
    draw_in_child("usual", NULL, NULL);
    char *a = file_text(in_folder("usual.png"), &a_size);
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        draw_in_child("hostile", hostile[i][0], hostile[i][1]);
        char *b = file_text(in_folder("hostile.png"), &b_size);
        ck_assert_msg(a_size == b_size && memcmp(a, b, a_size) == 0,
                      "%s changes the picture", hostile[i][0]);
        free(b);
    }
    free(a);
}
END_TEST

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
        write_sample(sample_named(wanted[i][0]), VIZ_PNG, "words", NULL);
        char *text = file_text(in_folder("words.txt"), NULL);
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
        {"bars_few", "\n,128,mlp,8448000,,\n"},
        {"timeline_requests", "\n,\"user 2\",second,12,18,\n"},
        {"blocks_cache", "\n,\"layer 3\",9,1,,\"new in this step\"\n"},
        {"lines_linear", "\n,\"with the cache\",64,182768,,\n"},
        {"boxes_forward", "\n,logits,MA,32768,,[512]\n"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        write_sample(sample_named(wanted[i][0]), VIZ_PNG, "data", NULL);
        char *text = file_text(in_folder("data.csv"), NULL);
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
        viz_write(one_word, &good, 200, 100, VIZ_SVG, in_folder("x"), NULL, &err));
    char *before = file_text(in_folder("x.svg"), &size);
    ck_assert(
        !viz_write(one_word, &bad, 200, 100, VIZ_SVG, in_folder("x"), NULL, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "/x: "));
    char *now = file_text(in_folder("x.svg"), &after);
    ck_assert_uint_eq(size, after);
    ck_assert_mem_eq(before, now, size);
    ck_assert(
        !viz_write(one_word, &bad, 200, 100, VIZ_SVG, in_folder("new"), NULL, &err));
    ck_assert_int_ne(access(in_folder("new.svg"), F_OK), 0);
    ck_assert_int_ne(access(in_folder("new.txt"), F_OK), 0);
    ck_assert_int_ne(access(in_folder("new.txt.part0"), F_OK), 0);
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
        !viz_write(one_word, &word, 20, 100, VIZ_PNG, in_folder("x"), NULL, &err));
    ck_assert(
        !viz_write(one_word, &word, 200, 9000, VIZ_PNG, in_folder("x"), NULL, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "200 x 9000"));
    ck_assert(viz_format_from("svg", &format, &err));
    ck_assert_int_eq(format, VIZ_SVG);
    ck_assert(!viz_format_from("jpg", &format, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "'jpg'; use png, svg or pdf"));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("viz");
    TCase *pictures = tcase_create("pictures");
    tcase_set_timeout(pictures, 60);
    tcase_add_checked_fixture(pictures, enter, leave);
    int samples = (int)viz_sample_count;
    tcase_add_loop_test(pictures, nothing_covers_or_leaves_anything_and_all_can_be_read,
                        0, samples);
    tcase_add_loop_test(pictures, the_dump_is_the_golden_one, 0, samples);
    tcase_add_loop_test(pictures, the_picture_is_the_golden_one, 0, samples);
    tcase_add_test(pictures, another_picture_is_seen_to_be_another);
    tcase_add_test(pictures, png_svg_and_pdf_open);
    tcase_add_test(pictures, two_runs_give_the_same_bytes);
    tcase_add_test(pictures, a_hostile_font_configuration_changes_nothing);
    tcase_add_test(pictures, the_words_beside_a_picture_say_what_it_hides);
    tcase_add_test(pictures, the_data_stand_beside_the_picture);
    tcase_add_test(pictures, a_failed_picture_leaves_the_old_one);
    tcase_add_test(pictures, bad_places_sizes_and_formats_are_refused);
    suite_add_tcase(suite, pictures);
    TCase *labels = tcase_create("labels");
    tcase_set_timeout(labels, 20);
    tcase_add_test(labels, labels_on_one_another_are_seen);
    tcase_add_test(labels, labels_outside_the_canvas_are_seen);
    tcase_add_test(labels, labels_outside_their_own_place_are_seen);
    tcase_add_test(labels,
                   a_missing_glyph_is_an_error_in_our_words_and_a_number_in_the_users);
    tcase_add_test(labels, a_users_text_is_escaped);
    suite_add_tcase(suite, labels);
    return check_run(suite);
}
