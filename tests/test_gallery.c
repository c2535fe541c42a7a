/* Pictures as files: what --out and --page leave in the folder, and what they refuse. */
#include "chapters/03_cache/command.h"
#include "chapters/03_cache/figures.h"
#include "chapters/common/folder.h"
#include "chapters/common/gallery.h"
#include "chapters/common/labels.h"
#include "chapters/common/page.h"
#include "chapters/common/quantity.h"
#include "tests/capture.h"
#include "tests/check_main.h"
#include "tests/viz_compare.h"
#include "viz/page.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void enter(void) {
    strcpy(folder, "/tmp/kvstep-gallery-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void leave(void) {
    char command[200];
    snprintf(command, sizeof command, "chmod -R u+rwx '%s' && rm -rf '%s'", folder,
             folder);
    ck_assert_int_eq(system(command), 0);
}

static const char *in_folder(const char *name) {
    static char path[4][300];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static bool exists(const char *name) {
    return access(in_folder(name), F_OK) == 0;
}

static char *text_of(const char *name) {
    char *text = file_text(in_folder(name), NULL);
    ck_assert_msg(text != NULL, "%s is missing", name);
    return text;
}

static Options cache_options(const char *out, const char *format) {
    char *argv[] = {"cache", "--tokens=24", "--quiet",  "--page",
                    "--out", (char *)out,   "--format", (char *)format};
    Options options;
    Error err = {0};
    ck_assert_msg(options_parse(&cache_command.info, 8, argv, &options, &err) ==
                      OPTIONS_RUN,
                  "%s", err.text);
    return options;
}

static CacheResult drawn(const Options *options, Memory *memory) {
    CacheResult result;
    Error err = {0};
    ck_assert(cache_run(options, NULL, NULL, &result, memory, &err));
    ck_assert_msg(cache_draw(&result, options, &err), "%s", err.text);
    return result;
}

static const char *const names[] = {"cache-growth", "step-cost", "attention",
                                    "recomputed"};

START_TEST(the_words_beside_a_picture_have_the_numbers_of_the_run) {
    Memory memory = {0};
    Options options = cache_options(folder, "png");
    CacheResult r = drawn(&options, &memory);
    const CacheStep *last = &r.step[r.steps - 1];
    char count[QUANTITY_TEXT];
    char *growth = text_of("cache-growth.txt"), *cost = text_of("step-cost.txt");
    char *pairs = text_of("recomputed.txt"), *heads = text_of("attention.txt");
    ck_assert(strstr(growth, quantity_bytes(last->cache_bytes, count)));
    ck_assert(strstr(growth, "24 tokens"));
    ck_assert(
        strstr(cost, quantity_count(counters_flops(&last->recompute.counters), count)));
    ck_assert(
        strstr(cost, quantity_count(counters_flops(&last->cached.counters), count)));
    ck_assert(
        strstr(cost, quantity_count(counters_flops(&r.recompute.counters), count)));
    ck_assert(strstr(pairs, "2,600 computed without the cache, 300 with it"));
    ck_assert(strstr(heads, "4 heads of layer 0 over 24 tokens"));
    free(growth);
    free(cost);
    free(pairs);
    free(heads);
    cache_result_close(&r);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(two_runs_give_the_same_bytes) {
    static const char *const formats[] = {"png", "svg", "pdf"};
    Memory memory = {0};
    Error err = {0};
    Folder first, second;
    ck_assert(folder_open(&first, in_folder("first"), &memory, &err));
    ck_assert(folder_open(&second, in_folder("second"), &memory, &err));
    const Options a = cache_options(first.path, formats[_i]);
    const Options b = cache_options(second.path, formats[_i]);
    CacheResult one = drawn(&a, &memory), two = drawn(&b, &memory);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int ending = 0; ending < 3; ending++) {
            const char *const endings[] = {formats[_i], "csv", "txt"};
            char name[2][80];
            size_t size[2];
            snprintf(name[0], 80, "first/%s.%s", names[i], endings[ending]);
            snprintf(name[1], 80, "second/%s.%s", names[i], endings[ending]);
            char *x = file_text(in_folder(name[0]), &size[0]);
            char *y = file_text(in_folder(name[1]), &size[1]);
            ck_assert_ptr_nonnull(x);
            ck_assert_uint_eq(size[0], size[1]);
            ck_assert_mem_eq(x, y, size[0]);
            free(x);
            free(y);
        }
    cache_result_close(&one);
    cache_result_close(&two);
    folder_close(&first, true);
    folder_close(&second, true);
}
END_TEST

START_TEST(the_page_shows_every_picture_with_its_words) {
    Memory memory = {0};
    Options options = cache_options(folder, "svg");
    CacheResult r = drawn(&options, &memory);
    char *page = text_of("index.html");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char tag[80], name[80];
        snprintf(tag, sizeof tag, "<img src=\"%s.svg\"", names[i]);
        snprintf(name, sizeof name, "%s.txt", names[i]);
        const char *at = strstr(page, tag);
        ck_assert_msg(at != NULL, "%s is not on the page", tag);
        char *words = text_of(name);
        *strchr(words, '\n') = 0;
        const char *alt = strstr(at, "alt=\"");
        ck_assert_msg(strncmp(alt + 5, words, strlen(words)) == 0, "%.100s", alt);
        ck_assert(strstr(strstr(at, "<figcaption>"), words));
        free(words);
    }
    ck_assert(strstr(page, "same bits: all 24 steps"));
    ck_assert(strstr(page, "prefers-color-scheme:dark"));
    ck_assert(!strstr(page, "http:") && !strstr(page, "https:"));
    free(page);
    cache_result_close(&r);
}
END_TEST

static void draw_markup(VizCanvas *canvas, const void *data) {
    (void)data;
    viz_page(canvas, "1 < 2 & \"3\"", "b>");
}

START_TEST(markup_in_words_is_escaped_and_a_pdf_is_linked) {
    Memory memory = {0};
    Error err = {0};
    Gallery gallery;
    Page page;
    const Options options = {.out = folder, .format = _i ? "pdf" : "png"};
    ck_assert(gallery_open(&gallery, &options, &memory, &err));
    ck_assert_msg(gallery_draw(&gallery, "markup", draw_markup, NULL, &err), "%s",
                  err.text);
    ck_assert(page_open(&page, folder, "<title>", &memory, &err));
    page_picture(&page, &gallery.picture[0]);
    ck_assert(!exists("index.html"));
    ck_assert(page_close(&page, &err));
    char *text = text_of("index.html");
    ck_assert(strstr(text, "<h1>&lt;title&gt;</h1>"));
    ck_assert(strstr(text, "<figcaption>1 &lt; 2 &amp; &quot;3&quot;. "));
    ck_assert((strstr(text, "<img ") == NULL) == _i);
    ck_assert(strstr(text, _i ? "href=\"markup.pdf\"" : "href=\"markup.png\""));
    free(text);
    gallery_close(&gallery);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(names_are_printed_with_their_finding_but_not_where_silence_is_promised) {
    Memory memory = {0};
    Error err = {0};
    Gallery gallery;
    Options options = {.out = folder, .format = "png", .page = true};
    ck_assert(gallery_open(&gallery, &options, &memory, &err));
    ck_assert(gallery_draw(&gallery, "markup", draw_markup, NULL, &err));
    Capture capture;
    char line[200];
    capture_begin(&capture);
    gallery_print(&gallery, &options, capture.stream);
    capture_end(&capture);
    snprintf(line, sizeof line, "\n  %s/markup.png: 1 < 2 & \"3\"\n", folder);
    ck_assert(strstr(capture.text, line));
    ck_assert(strstr(capture.text, "/index.html\n"));
    free(capture.text);
    for (int i = 0; i < 3; i++) {
        Options silent = options;
        *(bool *[]){&silent.json, &silent.quiet, &silent.digest}[i] = true;
        capture_begin(&capture);
        gallery_print(&gallery, &silent, capture.stream);
        ck_assert_str_eq(capture_end(&capture), "");
        free(capture.text);
    }
    gallery_close(&gallery);
}
END_TEST

START_TEST(a_folder_is_made_with_its_parents_and_taken_away_when_not_kept) {
    Memory memory = {0};
    Error err = {0};
    Folder made;
    ck_assert(folder_open(&made, in_folder("a//b/c/"), &memory, &err));
    ck_assert(exists("a/b/c"));
    folder_close(&made, false);
    ck_assert(!exists("a"));
    ck_assert(folder_open(&made, in_folder("a/b"), &memory, &err));
    folder_close(&made, true);
    ck_assert(folder_open(&made, in_folder("a/b/c"), &memory, &err));
    folder_close(&made, false);
    ck_assert(exists("a/b") && !exists("a/b/c"));
    ck_assert(folder_open(&made, NULL, &memory, &err));
    folder_close(&made, false);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(a_place_that_cannot_be_written_is_refused_and_nothing_is_left) {
    Memory memory = {0};
    Error err = {0};
    Folder made;
    fclose(fopen(in_folder("file"), "w"));
    ck_assert(!folder_open(&made, in_folder("file"), &memory, &err));
    ck_assert_msg(strstr(err.text, "Not a directory"), "%s", err.text);
    ck_assert(!folder_open(&made, in_folder("new/../file/x"), &memory, &err));
    ck_assert(!folder_open(&made, "/proc/kvstep", &memory, &err));
    ck_assert(!folder_open(&made, "/proc", &memory, &err));
    ck_assert(!exists("new"));
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(a_folder_in_a_pictures_place_is_refused_by_name) {
    Memory memory = {0};
    Error err = {0};
    Options options = cache_options(folder, "png");
    CacheResult result;
    ck_assert(cache_run(&options, NULL, NULL, &result, &memory, &err));
    ck_assert_int_eq(mkdir(in_folder("step-cost.png"), 0777), 0);
    ck_assert(!cache_draw(&result, &options, &err));
    ck_assert_msg(strstr(err.text, "step-cost.png") && !strchr(err.text, '\n'), "%s",
                  err.text);
    ck_assert(!exists("step-cost.csv") && !exists("index.html"));
    cache_result_close(&result);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(a_zero_byte_of_a_piece_is_shown_and_a_long_piece_is_cut_between_characters) {
    char label[LABEL_ROOM], piece[300];
    ck_assert_str_eq(label_of((Piece){"a\0b", 3}, label), "a\\x00b");
    ck_assert_str_eq(label_of((Piece){"", 0}, label), "");
    for (size_t i = 0; i < 300; i += 3) memcpy(piece + i, "\xE4\xB8\xAD", 3);
    label_of((Piece){piece, 300}, label);
    ck_assert_uint_eq(strlen(label), 126);
}
END_TEST

int main(void) {
    TCase *files = tcase_create("files");
    tcase_set_timeout(files, 60);
    tcase_add_checked_fixture(files, enter, leave);
    tcase_add_test(files, the_words_beside_a_picture_have_the_numbers_of_the_run);
    tcase_add_loop_test(files, two_runs_give_the_same_bytes, 0, 3);
    tcase_add_test(files, the_page_shows_every_picture_with_its_words);
    tcase_add_loop_test(files, markup_in_words_is_escaped_and_a_pdf_is_linked, 0, 2);
    tcase_add_test(
        files, names_are_printed_with_their_finding_but_not_where_silence_is_promised);
    tcase_add_test(files,
                   a_folder_is_made_with_its_parents_and_taken_away_when_not_kept);
    tcase_add_test(files,
                   a_place_that_cannot_be_written_is_refused_and_nothing_is_left);
    tcase_add_test(files, a_folder_in_a_pictures_place_is_refused_by_name);
    tcase_add_test(
        files,
        a_zero_byte_of_a_piece_is_shown_and_a_long_piece_is_cut_between_characters);
    Suite *suite = suite_create("gallery");
    suite_add_tcase(suite, files);
    return check_run(suite);
}
