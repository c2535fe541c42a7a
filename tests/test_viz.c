/* Pictures are what they were, nothing in them covers anything, and they do not depend
 * on the fonts of the machine.
 *
 * Goldens are in tests/viz_golden/: NAME.png at one pixel a point, NAME.txt the dump of
 * what was drawn. After a wanted change look at the pictures, then write them anew:
 *     KVSTEP_GOLDEN=write build/tests/test_viz
 * Run from the top of the tree. */
#include "tests/check_main.h"
#include "tests/viz_compare.h"
#include "tests/viz_folder.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GOLDEN "tests/viz_golden/"

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
    viz_write_sample(sample, VIZ_PNG, "now", NULL);
    cairo_surface_t *now = picture_half(viz_in_folder("now.png"));
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
    viz_write_sample(viz_sample_named("lines_linear"), VIZ_PNG, "a", NULL);
    viz_write_sample(viz_sample_named("bars_few"), VIZ_PNG, "b", NULL);
    cairo_surface_t *a = picture_half(viz_in_folder("a.png"));
    cairo_surface_t *b = picture_half(viz_in_folder("b.png"));
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
    const Sample *sample = viz_sample_named("heat_numbers");
    char what[120];
    size_t size;
    for (int format = VIZ_PNG; format <= VIZ_PDF; format++)
        viz_write_sample(sample, (VizFormat)format, "open", NULL);
    cairo_surface_t *half = picture_half(viz_in_folder("open.png"));
    ck_assert_int_eq(cairo_image_surface_get_width(half), 640);
    ck_assert_int_eq(cairo_image_surface_get_height(half), 480);
    cairo_surface_destroy(half);
    char *svg = file_text(viz_in_folder("open.svg"), NULL);
    ck_assert_ptr_nonnull(strstr(svg, "<svg"));
    ck_assert_ptr_nonnull(strstr(svg, "width=\"640pt\""));
    ck_assert_msg(xml_is_well_formed(svg, what), "%s", what);
    ck_assert(!xml_is_well_formed("<a><b></a></b>", what));
    char *pdf = file_text(viz_in_folder("open.pdf"), &size);
    ck_assert_int_eq(strncmp(pdf, "%PDF-1.", 7), 0);
    ck_assert_ptr_nonnull(strstr(pdf + size - 8, "%%EOF"));
    free(svg);
    free(pdf);
}
END_TEST

START_TEST(two_runs_give_the_same_bytes) {
    static const char *const endings[] = {"png", "svg", "pdf", "csv", "txt"};
    const Sample *sample = viz_sample_named("boxes_forward");
    for (int format = VIZ_PNG; format <= VIZ_PDF; format++)
        viz_write_sample(sample, (VizFormat)format, "one", NULL);
    for (time_t start = time(NULL); time(NULL) == start;)
        usleep(20000); /* another date */
    for (int format = VIZ_PNG; format <= VIZ_PDF; format++)
        viz_write_sample(sample, (VizFormat)format, "two", NULL);
    for (size_t i = 0; i < 5; i++) {
        char one[16], two[16];
        size_t a_size, b_size;
        snprintf(one, sizeof one, "one.%s", endings[i]);
        snprintf(two, sizeof two, "two.%s", endings[i]);
        char *a = file_text(viz_in_folder(one), &a_size),
             *b = file_text(viz_in_folder(two), &b_size);
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
        const Sample *sample = viz_sample_named("heat_numbers");
        if (variable) setenv(variable, value, 1);
        bool done = viz_write(sample->draw, NULL, sample->width, sample->height,
                              VIZ_PNG, viz_in_folder(name), NULL, &err);
        _exit(done ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

START_TEST(a_hostile_font_configuration_changes_nothing) {
    const char *rules = viz_in_folder("hostile.conf");
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
    char *a = file_text(viz_in_folder("usual.png"), &a_size);
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        draw_in_child("hostile", hostile[i][0], hostile[i][1]);
        char *b = file_text(viz_in_folder("hostile.png"), &b_size);
        ck_assert_msg(a_size == b_size && memcmp(a, b, a_size) == 0,
                      "%s changes the picture", hostile[i][0]);
        free(b);
    }
    free(a);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("viz");
    TCase *pictures = tcase_create("pictures");
    tcase_set_timeout(pictures, 60);
    tcase_add_checked_fixture(pictures, viz_folder_enter, viz_folder_leave);
    int samples = (int)viz_sample_count;
    tcase_add_loop_test(pictures, nothing_covers_or_leaves_anything_and_all_can_be_read,
                        0, samples);
    tcase_add_loop_test(pictures, the_dump_is_the_golden_one, 0, samples);
    tcase_add_loop_test(pictures, the_picture_is_the_golden_one, 0, samples);
    tcase_add_test(pictures, another_picture_is_seen_to_be_another);
    tcase_add_test(pictures, png_svg_and_pdf_open);
    tcase_add_test(pictures, two_runs_give_the_same_bytes);
    tcase_add_test(pictures, a_hostile_font_configuration_changes_nothing);
    suite_add_tcase(suite, pictures);
    return check_run(suite);
}
