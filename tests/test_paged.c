/* The paged cache in particular: its pool, its tables, and what windows give back; forks
 * are in test_paged_forks.c. What every cache must do is in test_conform.c. */
#include "core/base/random.h"
#include "tests/paged_shadow.h"

#include <string.h>

/* ---- The pool -------------------------------------------------------------------- */

START_TEST(predicted_bytes_are_allocated_bytes_and_stay_so) {
    open_shadow(4, 9, FULL);
    size_t predicted;
    ck_assert(formula_cache_bytes(&shadow.shape, &shadow.rule, 9, 4, &predicted));
    ck_assert_uint_eq(predicted, 36 * row_bytes());
    const size_t allocations = memory.allocations;
    for (size_t n = 0; n < 24; n++) append(n % 3, 1);
    const CacheBytes bytes = cache_bytes(shadow.cache);
    ck_assert_uint_eq(bytes.reserved, predicted);
    ck_assert_uint_eq(bytes.live, 24 * row_bytes());
    ck_assert_uint_eq(bytes.wasted, 12 * row_bytes());
    ck_assert_uint_eq(memory.live, predicted + bytes.metadata);
    ck_assert_uint_eq(memory.allocations, allocations);
    close_shadow();
}
END_TEST

START_TEST(an_empty_pool_is_reported_by_numbers_with_nothing_changed) {
    Error err = {0};
    open_shadow(4, 5, FULL);
    append(0, 9); /* 3 blocks */
    append(1, 3); /* 1 */
    ck_assert_uint_eq(free_blocks(), 1);
    const size_t allocations = memory.allocations;
    ck_assert(!shadow_append(&shadow, (size_t[SHADOW_SEQUENCES]){4, 2}, &err));
    ck_assert_str_eq(err.text, "this step needs 2 blocks of 4 tokens; 1 are free");
    ck_assert(!shadow_append(&shadow, (size_t[SHADOW_SEQUENCES]){0, 6}, &err));
    ck_assert_uint_eq(free_blocks(), 1);
    ck_assert_uint_eq(memory.allocations, allocations);
    demand_agreement();
    append(0, 3); /* in its own last block */
    append(1, 5);
    ck_assert_uint_eq(free_blocks(), 0);
    ck_assert(!shadow_append(&shadow, (size_t[SHADOW_SEQUENCES]){1}, &err));
    demand_agreement();
    drop(1);
    append(0, 8);
    ck_assert_uint_eq(free_blocks(), 0);
    close_shadow();
}
END_TEST

/* 229 x 16 = 3664 tokens: a known start-up refusal for a text of 4096. */
START_TEST(a_pool_of_229_blocks_of_16_holds_3664_tokens_and_not_one_more) {
    Error err = {0};
    Rule rule;
    Memory own = {0};
    static Shape shape = {.dim = 2, .vocab = 2, .context = 4096, .layers = 1};
    shape.layer[0] = (LayerShape){1, 1, 1, 1, 1, SHAPE_NO_WINDOW};
    rule_full(&rule, &shape, &format_f16);
    Cache *cache = paged_open(&(CacheConfig){.shape = &shape,
                                             .rule = &rule,
                                             .sequences = 1,
                                             .capacity = 4096,
                                             .blocks = 229},
                              &own, &err);
    const size_t seq = 0, all = 3664, more = 3665, one = 1;
    ck_assert(!cache_reserve(cache, 1, &seq, &more, &err));
    ck_assert(cache_reserve(cache, 1, &seq, &all, &err));
    cache_commit(cache);
    ck_assert(!cache_reserve(cache, 1, &seq, &one, &err));
    ck_assert_str_eq(err.text, "this step needs 1 blocks of 16 tokens; 0 are free");
    cache_close(cache);
    ck_assert_uint_eq(own.live, 0);
}
END_TEST

START_TEST(published_sizes_of_pools_come_out) {
    static Shape shape = {.dim = 4096, .vocab = 2, .context = 131072, .layers = 32};
    Rule rule;
    size_t bytes;
    shape_all_layers(&shape, &(LayerShape){32, 8, 128, 128, 14336, SHAPE_NO_WINDOW});
    rule_full(&rule, &shape, &format_f16);
    ck_assert(formula_cache_bytes(&shape, &rule, 1, 16384, &bytes)); /* Llama-3.1 8B */
    ck_assert_uint_eq(bytes, (size_t)2048 << 20);
    ck_assert(formula_cache_bytes(&shape, &rule, 1952, 16, &bytes)); /* 3.8125 GiB */
    ck_assert_uint_eq(bytes, (size_t)61 << 26);
    shape.layers = rule.layers = 64; /* Qwen3 32B, q8_0, 16896 tokens: 2244 MiB */
    shape_all_layers(&shape, &(LayerShape){64, 8, 128, 128, 25600, SHAPE_NO_WINDOW});
    rule_full(&rule, &shape, &format_q8_0);
    ck_assert(formula_cache_bytes(&shape, &rule, 1, 16896, &bytes));
    ck_assert_uint_eq(bytes, (size_t)2244 << 20);
}
END_TEST

/* Only the last block can be part empty: B - 1 rows at most, (B - 1) / 2 in the mean. */
START_TEST(a_sequence_wastes_less_than_a_block_and_half_of_one_in_the_mean) {
    for (size_t size = 1; size <= 12; size++) { /* these divide 24, or do not count */
        size_t most = 0, sum = 0;
        if (SHADOW_CAPACITY % size) continue;
        open_shadow(size, 0, FULL);
        const size_t pool = free_blocks();
        for (size_t n = 1; n <= SHADOW_CAPACITY; n++) {
            append(2, 1);
            const size_t wasted = (pool - free_blocks()) * size - n;
            if (wasted > most) most = wasted;
            sum += wasted;
        }
        ck_assert_uint_eq(most, size - 1);
        ck_assert_uint_eq(2 * sum, SHADOW_CAPACITY * (size - 1));
        close_shadow();
    }
}
END_TEST

/* The tail of a text is least worth keeping, its beginning most. */
START_TEST(blocks_come_back_in_turn_a_text_s_last_one_first) {
    size_t slots[6];
    open_shadow(4, 0, FULL);
    for (size_t seq = 0; seq < SHADOW_SEQUENCES; seq++) append(seq, SHADOW_CAPACITY);
    ck_assert_uint_eq(free_blocks(), 0);
    for (size_t b = 0; b < 6; b++) slots[b] = cache_slot(shadow.cache, 0, 1, 4 * b);
    drop(1);
    append(1, SHADOW_CAPACITY);
    for (size_t b = 0; b < 6; b++)
        ck_assert_uint_eq(cache_slot(shadow.cache, 0, 1, 4 * b), slots[5 - b]);
    close_shadow();
}
END_TEST

/* Random appends, forks and removals until tables are in no order at all. */
START_TEST(tables_may_be_in_any_order) {
    Error err = {0};
    size_t falling = 0, copies = 0;
    for (uint64_t round = 0; round < 8; round++) {
        open_shadow(round % 2 ? 1 : 3, 0, FULL);
        for (uint64_t i = 0; i < 400; i++) {
            const uint64_t draw = random_draw(round, 1, i);
            const size_t seq = draw % 4, other = draw / 4 % 4;
            if (shadow.length[seq] == SHADOW_CAPACITY || draw / 16 % 12 == 0)
                drop(seq);
            else if (draw / 16 % 12 == 1 && seq != other) {
                drop(other);
                do_fork(seq, other);
            } else
                append(seq, 1);
            for (size_t p = 1; p < shadow.length[seq]; p++)
                falling += cache_slot(shadow.cache, 0, seq, p) <
                           cache_slot(shadow.cache, 0, seq, p - 1);
        }
        copies += shadow.cache->rows_copied;
        for (size_t s = 0; s < SHADOW_SEQUENCES; s++) drop(s);
        ck_assert_uint_eq(free_blocks(),
                          SHADOW_SEQUENCES * SHADOW_CAPACITY / block_size);
        ck_assert_msg(cache_check(shadow.cache, &err), "%s", err.text);
        close_shadow();
    }
    ck_assert_uint_gt(falling, 1000);
    ck_assert_uint_gt(copies, 100);
}
END_TEST

/* ---- Windows --------------------------------------------------------------------- */

static size_t used(size_t pool) {
    return pool - free_blocks();
}

START_TEST(blocks_that_every_window_has_left_are_given_back) {
    for (size_t size = 1; size <= 8; size++) {
        open_shadow(size, 0, WINDOWS); /* 1, 5 and 9 */
        const size_t pool = free_blocks();
        for (size_t n = 1; n <= SHADOW_CAPACITY; n++) {
            append(1, 1);
            const size_t oldest = n < 9 ? 0 : n - 9; /* that the newest query sees */
            ck_assert_uint_eq(used(pool), (n - 1) / size - oldest / size + 1);
        }
        drop(1);
        ck_assert_uint_eq(used(pool), 0);
        close_shadow();
    }
}
END_TEST

START_TEST(sinks_and_layers_without_a_window_keep_their_blocks) {
    open_shadow(4, 0, SINKS); /* 3 and 6 */
    const size_t pool = free_blocks();
    append(0, 24); /* block 0 for the sinks; positions 18 to 23 in 4 and 5 */
    ck_assert_uint_eq(used(pool), 3);
    close_shadow();
    open_shadow(4, 0, MIXED);
    append(0, 24);
    ck_assert_uint_eq(used(pool), 6);
    close_shadow();
}
END_TEST

START_TEST(a_shared_block_goes_back_when_the_last_window_has_left_it) {
    open_shadow(4, 0, WINDOWS);
    const size_t pool = free_blocks();
    append(0, 10);
    do_fork(0, 1);
    append(0, 14); /* blocks 3 to 5 are its own */
    ck_assert_uint_eq(used(pool), 3 + 3);
    append(1, 14);
    ck_assert_uint_eq(used(pool), 3 + 3);
    close_shadow();
}
END_TEST

/* A text ten times as long as the pool. */
START_TEST(under_a_window_a_small_pool_holds_a_long_text) {
    Error err = {0};
    Rule rule;
    Memory own = {0};
    static Shape shape = {.dim = 2, .vocab = 2, .context = 4096, .layers = 1};
    shape.layer[0] = (LayerShape){1, 1, 1, 1, 1, 6};
    rule_full(&rule, &shape, &format_f16);
    CacheConfig config = {.shape = &shape,
                          .rule = &rule,
                          .sequences = 1,
                          .capacity = 400,
                          .block_size = 4,
                          .blocks = 3};
    Cache *cache = paged_open(&config, &own, &err);
    const size_t seq = 0, one = 1;
    for (size_t n = 0; n < 400; n++) {
        ck_assert_msg(cache_reserve(cache, 1, &seq, &one, &err), "%zu: %s", n,
                      err.text);
        cache_commit(cache);
    }
    ck_assert_uint_eq(cache_bytes(cache).reserved, 12 * 4);
    cache_close(cache);
    ck_assert_uint_eq(own.live, 0);
}
END_TEST

START_TEST(a_crop_to_blocks_that_were_given_back_is_refused_by_name) {
    Error err = {0};
    open_shadow(4, 0, WINDOWS);
    append(0, 20); /* the widest window, 9, begins at 11: block 2 */
    ck_assert(!cache_crop(shadow.cache, 0, 15, &err)); /* would need 7 */
    ck_assert_str_eq(err.text,
                     "sequence 0 cannot go back to 15 tokens: position 4 left "
                     "every window and was given back");
    demand_agreement();
    ck_assert(cache_crop(shadow.cache, 0, 16, &err)); /* needs 8 */
    shadow_cropped(&shadow, 0, 16);
    append(0, 3);
    drop(0);
    close_shadow();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("paged");
    TCase *tests = tcase_create("paged");
    tcase_set_timeout(tests, 60);
    const TTest *const all[] = {
        predicted_bytes_are_allocated_bytes_and_stay_so,
        an_empty_pool_is_reported_by_numbers_with_nothing_changed,
        a_pool_of_229_blocks_of_16_holds_3664_tokens_and_not_one_more,
        published_sizes_of_pools_come_out,
        a_sequence_wastes_less_than_a_block_and_half_of_one_in_the_mean,
        blocks_come_back_in_turn_a_text_s_last_one_first,
        tables_may_be_in_any_order,
        blocks_that_every_window_has_left_are_given_back,
        sinks_and_layers_without_a_window_keep_their_blocks,
        a_shared_block_goes_back_when_the_last_window_has_left_it,
        under_a_window_a_small_pool_holds_a_long_text,
        a_crop_to_blocks_that_were_given_back_is_refused_by_name};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tcase_add_test(tests, all[i]);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
