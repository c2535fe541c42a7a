/* The paged cache's forks: what is shared, when it is copied, and what both sides read. */
#include "tests/paged_shadow.h"

/* Copies of blocks since `before` rows had been copied: each as long as the tail. */
static size_t copied(size_t before, size_t tail) {
    const size_t rows = shadow.cache->rows_copied - before;
    ck_assert_uint_eq(rows % (tail * shadow.shape.layers), 0);
    return rows / (tail * shadow.shape.layers);
}

START_TEST(a_fork_shares_its_blocks_and_copies_one_if_it_ends_inside_it) {
    for (size_t tail = 1; tail < 4; tail++) {
        open_shadow(4, 0, FULL);
        append(0, 8 + tail);
        const size_t before = free_blocks();
        do_fork(0, 1);
        ck_assert_uint_eq(free_blocks(), before);
        ck_assert_uint_eq(shadow.cache->rows_copied, 0);
        append(1, 1); /* the first that writes gets the copy */
        ck_assert_uint_eq(copied(0, tail), 1);
        ck_assert_uint_eq(shadow.cache->bytes_copied, tail * row_bytes());
        ck_assert_uint_eq(free_blocks(), before - 1);
        append(0, 1); /* the other has the old block alone */
        ck_assert_uint_eq(copied(0, tail), 1);
        for (size_t p = 0; p < 8; p++)
            ck_assert_uint_eq(cache_slot(shadow.cache, 0, 0, p),
                              cache_slot(shadow.cache, 0, 1, p));
        ck_assert_uint_ne(cache_slot(shadow.cache, 0, 0, 8),
                          cache_slot(shadow.cache, 0, 1, 8));
        close_shadow();
    }
}
END_TEST

START_TEST(a_fork_at_a_border_copies_nothing) {
    open_shadow(4, 0, FULL);
    append(0, 8);
    do_fork(0, 1);
    do_fork(0, 2);
    append(1, 3);
    append(0, 2);
    append(2, 5);
    ck_assert_uint_eq(shadow.cache->rows_copied, 0);
    close_shadow();
}
END_TEST

START_TEST(of_four_that_share_a_part_block_three_get_copies_in_one_step_or_in_four) {
    for (size_t together = 0; together < 2; together++) {
        Error err = {0};
        open_shadow(4, 0, FULL);
        append(0, 6);
        const size_t before = free_blocks();
        for (size_t to = 1; to < 4; to++) do_fork(0, to);
        if (together)
            ck_assert(
                shadow_append(&shadow, (size_t[SHADOW_SEQUENCES]){1, 1, 1, 1}, &err));
        for (size_t s = 0; !together && s < 4; s++) append(s, 1);
        demand_agreement();
        ck_assert_uint_eq(copied(0, 2), 3);
        ck_assert_uint_eq(free_blocks(), before - 3);
        close_shadow();
    }
}
END_TEST

/* Exactly as many free blocks as the copies need are enough; one fewer is refused. */
START_TEST(copies_on_write_are_part_of_what_a_step_needs) {
    Error err = {0};
    for (size_t spare = 1; spare <= 2; spare++) {
        open_shadow(4, 2 + spare, FULL);
        append(0, 6);
        do_fork(0, 1);
        do_fork(0, 2);
        const size_t rows[SHADOW_SEQUENCES] = {1, 1, 1};
        const bool done = shadow_append(&shadow, rows, &err);
        ck_assert_msg(done == (spare == 2), "%zu spare blocks: %s", spare, err.text);
        ck_assert_uint_eq(free_blocks(), spare == 2 ? 0 : spare);
        ck_assert_uint_eq(shadow.cache->rows_copied,
                          spare == 2 ? 2 * 2 * shadow.shape.layers : 0);
        demand_agreement();
        close_shadow();
    }
}
END_TEST

START_TEST(a_crop_of_a_shared_text_leaves_the_other_one_as_it_was) {
    for (size_t length = 1; length < 11; length++) {
        Error err = {0};
        open_shadow(4, 0, FULL);
        append(0, 11);
        do_fork(0, 3);
        ck_assert(cache_crop(shadow.cache, 3, length, &err));
        shadow_cropped(&shadow, 3, length);
        demand_agreement();
        append(3, 2); /* in a block that the first text still needs */
        append(0, 1);
        drop(0);
        append(3, 1);
        close_shadow();
    }
}
END_TEST

START_TEST(a_shared_row_counts_once) {
    open_shadow(4, 0, FULL);
    append(0, 10);
    do_fork(0, 1);
    do_fork(0, 2);
    ck_assert_uint_eq(cache_bytes(shadow.cache).live, 10 * row_bytes());
    append(1, 1); /* two rows of the last block are there twice now */
    ck_assert_uint_eq(cache_bytes(shadow.cache).live, (10 + 2 + 1) * row_bytes());
    drop(0);
    ck_assert_uint_eq(cache_bytes(shadow.cache).live, (10 + 2 + 1) * row_bytes());
    drop(1);
    ck_assert_uint_eq(cache_bytes(shadow.cache).live, 10 * row_bytes());
    close_shadow();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("paged_forks");
    TCase *tests = tcase_create("paged_forks");
    tcase_set_timeout(tests, 60);
    const TTest *const all[] = {
        a_fork_shares_its_blocks_and_copies_one_if_it_ends_inside_it,
        a_fork_at_a_border_copies_nothing,
        of_four_that_share_a_part_block_three_get_copies_in_one_step_or_in_four,
        copies_on_write_are_part_of_what_a_step_needs,
        a_crop_of_a_shared_text_leaves_the_other_one_as_it_was,
        a_shared_row_counts_once};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tcase_add_test(tests, all[i]);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
