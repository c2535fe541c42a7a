/* Memory is tracked to the byte, files are whole or absent, draws are fixed for ever.
 */
#include "core/base/file.h"
#include "core/base/random.h"
#include "core/base/shape.h"
#include "tests/check_main.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(memory_counts_the_bytes_that_were_asked_for) {
    Memory top = {0}, child = {.parent = &top};
    Error err = {0};
    char *a = memory_new(&child, 3, 7, &err), *b = memory_new(&top, 1, 100, &err);
    ck_assert_uint_eq(child.live, 21);
    ck_assert_uint_eq(top.live, 121);
    ck_assert_uint_eq((uintptr_t)a % 64, 0);
    for (size_t i = 0; i < 21; i++) ck_assert_int_eq(a[i], 0);
    memory_free(&child, a);
    ck_assert_uint_eq(child.live, 0);
    ck_assert_uint_eq(top.live, 100);
    ck_assert_uint_eq(top.peak, 121);
    ck_assert_uint_eq(child.peak, 21);
    ck_assert_uint_eq(top.allocations, 2);
    memory_free(&top, b);
    memory_free(&top, NULL);
    ck_assert_uint_eq(top.live, 0);
}
END_TEST

START_TEST(a_product_that_overflows_is_refused) {
    Memory memory = {0};
    Error err = {0};
    ck_assert_ptr_null(memory_new(&memory, SIZE_MAX / 2, 3, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "more than this machine's memory"));
    ck_assert_ptr_null(memory_new(&memory, SIZE_MAX / 8, 1, &err));
    size_t product = SIZE_MAX / 2;
    ck_assert(!size_times(&product, 3));
    ck_assert_uint_eq(product, SIZE_MAX / 2);
    ck_assert(size_times(&product, 2));
    ck_assert_uint_eq(product, SIZE_MAX - 1);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(the_allocation_that_is_told_to_fail_fails) {
    Memory top = {.fail_at = 2}, child = {.parent = &top};
    Error err = {0};
    void *first = memory_new(&child, 1, 8, &err);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(memory_new(&child, 1, 8, &err));
    ck_assert_str_eq(err.text, "out of memory: 8 bytes were asked for");
    void *third = memory_new(&child, 1, 8, &err);
    ck_assert_ptr_nonnull(third);
    memory_free(&child, first);
    memory_free(&child, third);
    ck_assert_uint_eq(top.live, 0);
}
END_TEST

START_TEST(an_error_is_one_line) {
    Error err = {0};
    ck_assert(!error_set(&err, "%s", "two\nlines\x1b[31m"));
    ck_assert_str_eq(err.text, "two?lines?[31m");
    ck_assert(!error_at(&err, "file"));
    ck_assert_str_eq(err.text, "file: two?lines?[31m");
    ck_assert(!error_set(NULL, "nobody listens"));
}
END_TEST

/* As random.h promises. */
START_TEST(ten_draws_are_what_they_always_were) {
    static const struct {
        uint64_t seed, stream, index, draw;
    } draws[] = {
        {0, 0, 0, 0x238275BC38FCBE91},
        {0, 0, 1, 0x421DAF3033E887A3},
        {0, 1, 0, 0x94926C2E801CB6F9},
        {1, 0, 0, 0xB18A02F46D8D86C3},
        {1, 2, 3, 0x6AE515C1C0AC7E37},
        {7, 0, 63, 0x1776096A1E80547C},
        {42, 1, 1000, 0x756B2B0181017A63},
        {42, 1, 1001, 0x4556B98550094D4D},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0x40AA389BA7CC36A4},
        {123456789, 5, 4294967296, 0x6F9AE5066F07EB0B},
    };
    for (size_t i = 0; i < sizeof draws / sizeof *draws; i++)
        ck_assert_uint_eq(random_draw(draws[i].seed, draws[i].stream, draws[i].index),
                          draws[i].draw);
    ck_assert(random_unit(0) == 0.0f);
    ck_assert(random_unit(UINT64_MAX) == 1.0f - 0x1p-24f);
}
END_TEST

START_TEST(draws_fill_the_unit_interval_evenly) {
    size_t counts[16] = {0};
    for (uint64_t i = 0; i < 16000; i++)
        counts[(size_t)(random_unit(random_draw(3, 9, i)) * 16)]++;
    for (size_t i = 0; i < 16; i++) {
        ck_assert_uint_gt(counts[i], 850); /* 1000 expected, deviation 31 */
        ck_assert_uint_lt(counts[i], 1150);
    }
}
END_TEST

static char folder[64];

static void make_folder(void) {
    strcpy(folder, "/tmp/kvstep-base-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static const char *in_folder(const char *name) {
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static size_t entries_in_folder(void) {
    size_t count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *e; (e = readdir(directory));) count += e->d_name[0] != '.';
    closedir(directory);
    return count;
}

static void remove_folder(void) {
    DIR *directory = opendir(folder);
    for (struct dirent *e; (e = readdir(directory));)
        if (e->d_name[0] != '.') unlink(in_folder(e->d_name));
    closedir(directory);
    rmdir(folder);
}

static void write_text(const char *path, const char *text) {
    Memory memory = {0};
    Error err = {0};
    FileOut out;
    ck_assert_msg(file_create(path, &out, &memory, &err), "%s", err.text);
    fputs(text, out.stream);
    ck_assert_msg(file_commit(&out, &err), "%s", err.text);
    ck_assert_uint_eq(memory.live, 0);
}

static void expect_text(const char *path, const char *text) {
    Memory memory = {0};
    Error err = {0};
    Bytes bytes;
    ck_assert_msg(file_read(path, &bytes, &memory, &err), "%s", err.text);
    ck_assert_uint_eq(bytes.size, strlen(text));
    ck_assert_mem_eq(bytes.data, text, bytes.size);
    memory_free(&memory, bytes.data);
    ck_assert_uint_eq(memory.live, 0);
}

START_TEST(a_file_appears_whole_or_not_at_all) {
    Memory memory = {0};
    Error err = {0};
    FileOut out;
    write_text(in_folder("a"), "old");
    ck_assert(file_create(in_folder("a"), &out, &memory, &err));
    fputs("new text that never ends", out.stream);
    fflush(out.stream);
    expect_text(in_folder("a"), "old");
    file_discard(&out);
    expect_text(in_folder("a"), "old");
    ck_assert_uint_eq(entries_in_folder(), 1);
    write_text(in_folder("a"), "new");
    expect_text(in_folder("a"), "new");
    ck_assert_uint_eq(entries_in_folder(), 1);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(a_new_file_has_the_rights_that_the_umask_leaves) {
    umask(027);
    write_text(in_folder("rights"), "x");
    struct stat info;
    ck_assert_int_eq(stat(in_folder("rights"), &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0640);
}
END_TEST

START_TEST(a_full_disk_is_an_error_and_leaves_nothing) {
    Memory memory = {0};
    Error err = {0};
    FileOut out;
    ck_assert(file_create("/dev/full", &out, &memory, &err));
    fputs("text", out.stream);
    ck_assert(!file_commit(&out, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "/dev/full: cannot be written"));
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(what_cannot_be_written_is_refused_before_any_work) {
    static const char *const places[] = {"/proc/nope/t", "/nowhere/at/all", "/tmp", ""};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        Memory memory = {0};
        Error err = {0};
        FileOut out;
        ck_assert_msg(!file_create(places[i], &out, &memory, &err), "%s", places[i]);
        ck_assert_uint_gt(strlen(err.text), 0);
        ck_assert_uint_eq(memory.live, 0);
    }
}
END_TEST

START_TEST(only_a_regular_file_is_read) {
    Memory memory = {0};
    Error err = {0};
    Bytes bytes;
    ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0);
    ck_assert(!file_read(in_folder("pipe"), &bytes, &memory, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "is not a regular file"));
    FileOut out; /* nor is one without a reader written: that would wait for ever */
    ck_assert(!file_create(in_folder("pipe"), &out, &memory, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "nobody reads this pipe"));
    ck_assert(!file_read(folder, &bytes, &memory, &err));
    ck_assert(!file_read(in_folder("absent"), &bytes, &memory, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "cannot be opened"));
    write_text(in_folder("empty"), "");
    expect_text(in_folder("empty"), "");
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(a_failed_allocation_opens_no_file) {
    for (size_t fail_at = 1; fail_at <= 2; fail_at++) {
        Memory memory = {.fail_at = fail_at};
        Error err = {0};
        FileOut out;
        ck_assert(!file_create(in_folder("b"), &out, &memory, &err));
        ck_assert_uint_eq(memory.live, 0);
        ck_assert_uint_eq(entries_in_folder(), 0);
    }
}
END_TEST

static const Shape good_shape = {.dim = 8,
                                 .vocab = 5,
                                 .context = 9,
                                 .rot = 4,
                                 .rope_base = 10000,
                                 .eps = 1e-5f,
                                 .layers = 2,
                                 .layer = {{2, 1, 4, 4, 6, 7}, {2, 2, 4, 4, 6, 7}}};

START_TEST(a_shape_is_checked_number_by_number) {
    Error err = {0};
    ck_assert_msg(shape_check(&good_shape, &err), "%s", err.text);
#define REFUSED(change, words)                                                         \
    do {                                                                               \
        Shape s = good_shape;                                                          \
        change;                                                                        \
        ck_assert(!shape_check(&s, &err));                                             \
        ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);                \
    } while (0)
    REFUSED(s.dim = 0, "dim is 0");
    REFUSED(s.vocab = SIZE_MAX, "vocab is");
    REFUSED(s.context = 0, "context is 0");
    REFUSED(s.layers = 0, "layers is 0");
    REFUSED(s.layers = SHAPE_MAX_LAYERS + 1, "layers is 257");
    REFUSED(s.rot = 3, "rotary size is 3");
    REFUSED(s.rot = 6, "rotary size is 6");
    REFUSED(s.eps = 0, "eps is 0");
    REFUSED(s.eps = (float)(0.0 / 0.0), "eps is");
    REFUSED(s.rope_base = -1, "RoPE base is -1");
    REFUSED(s.layer[1].kv_heads = 0, "kv_heads is 0");
    REFUSED(s.layer[1].heads = 3, "not a multiple of kv_heads 2");
    REFUSED(s.layer[1].hidden = 0, "hidden is 0");
    REFUSED(s.layer[1].window = 0, "window is 0");
    REFUSED(s.layer[1].v_size = 0, "head size of v is 0");
#undef REFUSED
}
END_TEST

int main(void) {
    Suite *suite = suite_create("base");
    TCase *plain = tcase_create("plain"), *files = tcase_create("files");
    tcase_add_test(plain, memory_counts_the_bytes_that_were_asked_for);
    tcase_add_test(plain, a_product_that_overflows_is_refused);
    tcase_add_test(plain, the_allocation_that_is_told_to_fail_fails);
    tcase_add_test(plain, an_error_is_one_line);
    tcase_add_test(plain, ten_draws_are_what_they_always_were);
    tcase_add_test(plain, draws_fill_the_unit_interval_evenly);
    tcase_add_test(plain, a_shape_is_checked_number_by_number);
    tcase_add_checked_fixture(files, make_folder, remove_folder);
    tcase_add_test(files, a_file_appears_whole_or_not_at_all);
    tcase_add_test(files, a_new_file_has_the_rights_that_the_umask_leaves);
    tcase_add_test(files, a_full_disk_is_an_error_and_leaves_nothing);
    tcase_add_test(files, what_cannot_be_written_is_refused_before_any_work);
    tcase_add_test(files, only_a_regular_file_is_read);
    tcase_add_test(files, a_failed_allocation_opens_no_file);
    suite_add_tcase(suite, plain);
    suite_add_tcase(suite, files);
    return check_run(suite);
}
