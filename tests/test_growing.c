/* The growing cache in particular: what growth copies, holds and asks for. What every
 * cache must do is in test_conform.c. */
#include "core/cache/growing.h"
#include "tests/check_main.h"

enum { LAYERS = 2, ROW = 3 * 4 + 2 * 4, CAPACITY = 2048 }; /* bytes of K and V */

static Shape shape;
static Rule rule;
static Memory memory;

static Cache *open_growing(Growth growth, size_t sequences, size_t capacity) {
    Error err = {0};
    shape = (Shape){.dim = 6, .vocab = 2, .context = capacity, .layers = LAYERS};
    for (size_t l = 0; l < LAYERS; l++)
        shape.layer[l] = (LayerShape){2, 1, 3, 2, 4, SHAPE_NO_WINDOW};
    rule_full(&rule, &shape, &format_f32);
    memory = (Memory){0};
    Cache *cache = growing_open(&(CacheConfig){.shape = &shape,
                                               .rule = &rule,
                                               .sequences = sequences,
                                               .capacity = capacity,
                                               .growth = growth},
                                &memory, &err);
    ck_assert_msg(cache != NULL, "%s", err.text);
    return cache;
}

static void close_growing(Cache *cache) {
    cache_close(cache);
    ck_assert_uint_eq(memory.live, 0);
}

static void append(Cache *cache, size_t seq, size_t rows) {
    Error err = {0};
    ck_assert_msg(cache_reserve(cache, 1, &seq, &rows, &err), "%s", err.text);
    cache_commit(cache);
}

static Cache *grown_to(Growth growth, size_t tokens) {
    Cache *cache = open_growing(growth, 1, CAPACITY);
    for (size_t n = 0; n < tokens; n++) append(cache, 0, 1);
    ck_assert_uint_eq(cache_length(cache, 0), tokens);
    return cache;
}

/* Per layer; bytes go with the rows. */
static size_t copied_on_the_way_to(Growth growth, size_t tokens) {
    Cache *cache = grown_to(growth, tokens);
    const size_t rows = cache->rows_copied;
    ck_assert_uint_eq(cache->bytes_copied, rows * ROW);
    ck_assert_uint_eq(rows % LAYERS, 0);
    close_growing(cache);
    return rows / LAYERS;
}

START_TEST(concatenating_copies_n_times_n_minus_1_by_2_rows) {
    for (size_t n = 1; n <= 64; n++)
        ck_assert_uint_eq(copied_on_the_way_to(GROWTH_EACH, n), n * (n - 1) / 2);
    ck_assert_uint_eq(copied_on_the_way_to(GROWTH_EACH, 2048), 2096128);
}
END_TEST

START_TEST(doubling_copies_fewer_than_two_n_rows) {
    for (size_t n = 1; n <= 600; n++)
        ck_assert_uint_lt(copied_on_the_way_to(GROWTH_DOUBLE, n), 2 * n);
    ck_assert_uint_eq(copied_on_the_way_to(GROWTH_DOUBLE, 2048), 2047);
    ck_assert_uint_eq(copied_on_the_way_to(GROWTH_DOUBLE, 1025), 2047); /* the worst */
    ck_assert_uint_eq(copied_on_the_way_to(GROWTH_DOUBLE, 1024), 1023);
}
END_TEST

START_TEST(growing_by_256_copies_7168_rows_on_the_way_to_2048) {
    ck_assert_uint_eq(copied_on_the_way_to(GROWTH_256, 2048), 7168);
    ck_assert_uint_eq(copied_on_the_way_to(GROWTH_256, 256), 0);
    ck_assert_uint_eq(copied_on_the_way_to(GROWTH_256, 257), 256);
}
END_TEST

START_TEST(a_prompt_in_one_step_copies_nothing) {
    for (int growth = GROWTH_EACH; growth <= GROWTH_256; growth++) {
        Cache *cache = open_growing((Growth)growth, 1, CAPACITY);
        append(cache, 0, 1000);
        ck_assert_uint_eq(cache->rows_copied, 0);
        append(cache, 0, 1);
        ck_assert_uint_eq(cache->rows_copied, growth == GROWTH_256 ? 0 : LAYERS * 1000);
        close_growing(cache);
    }
}
END_TEST

/* What the three ways hold, by hand. */
static size_t held_by_hand(Growth growth, size_t tokens) {
    size_t rows = tokens;
    if (growth == GROWTH_DOUBLE)
        for (rows = 1; rows < tokens; rows *= 2) continue;
    if (growth == GROWTH_256) rows = tokens + 255 - (tokens + 255) % 256;
    return tokens == 0 ? 0 : rows;
}

START_TEST(predicted_bytes_are_allocated_bytes_at_every_step) {
    const Growth growth = (Growth)_i;
    Cache *cache = open_growing(growth, 1, CAPACITY);
    const size_t metadata = cache_bytes(cache).metadata;
    size_t rows = 0, peak = 0, growths = 0;
    for (size_t n = 0; n <= CAPACITY; n++) {
        if (n > 0) append(cache, 0, 1);
        if (n > rows) {
            const size_t next = formula_grown_rows(growth, rows, n, CAPACITY);
            if (peak < rows + next) peak = rows + next; /* old and new at once */
            rows = next;
            growths++;
        }
        size_t predicted;
        ck_assert(formula_cache_bytes(&shape, &rule, 1, rows, &predicted));
        const CacheBytes bytes = cache_bytes(cache);
        const size_t by_hand = held_by_hand(growth, n) * LAYERS * ROW;
        if (predicted != by_hand || bytes.reserved != predicted ||
            bytes.live != n * LAYERS * ROW || bytes.metadata != metadata ||
            bytes.wasted != bytes.reserved - bytes.live ||
            memory.live != predicted + metadata ||
            cache->payload.peak != peak * LAYERS * ROW ||
            cache->payload.allocations != growths * 2 * LAYERS)
            ck_abort_msg("step %zu: %zu reserved, %zu predicted, peak %zu for %zu", n,
                         bytes.reserved, predicted, cache->payload.peak,
                         peak * LAYERS * ROW);
    }
    /* Concatenating: 2047 old rows and 2048 new ones; doubling: 1024 and 2048. */
    static const size_t most[] = {4095, 3072, 3840}, times[] = {2048, 12, 8};
    ck_assert_uint_eq(peak, most[_i]);
    ck_assert_uint_eq(growths, times[_i]);
    close_growing(cache);
}
END_TEST

START_TEST(doubling_stops_at_the_capacity) {
    Cache *cache = open_growing(GROWTH_DOUBLE, 1, 100);
    for (size_t n = 0; n < 100; n++) append(cache, 0, 1);
    ck_assert_uint_eq(cache_bytes(cache).reserved, 100 * LAYERS * ROW);
    ck_assert_uint_eq(cache_bytes(cache).wasted, 0);
    close_growing(cache);
    cache = open_growing(GROWTH_256, 1, 300);
    append(cache, 0, 257);
    ck_assert_uint_eq(cache_bytes(cache).reserved, 300 * LAYERS * ROW);
    close_growing(cache);
}
END_TEST

START_TEST(a_crop_keeps_the_room_and_an_empty_sequence_gives_it_back) {
    Error err = {0};
    Cache *cache = grown_to(GROWTH_DOUBLE, 40);
    ck_assert(cache_crop(cache, 0, 3, &err));
    ck_assert_uint_eq(cache_bytes(cache).reserved, 64 * LAYERS * ROW);
    const size_t copied = cache->rows_copied;
    append(cache, 0, 61);
    ck_assert_uint_eq(cache->rows_copied, copied);
    cache_remove(cache, 0);
    ck_assert_uint_eq(cache_bytes(cache).reserved, 0);
    append(cache, 0, 5);
    ck_assert_uint_eq(cache_bytes(cache).reserved, 5 * LAYERS * ROW);
    close_growing(cache);
}
END_TEST

START_TEST(a_fork_copies_its_rows_and_holds_only_those) {
    Error err = {0};
    Cache *cache = open_growing(GROWTH_EACH, 3, CAPACITY);
    append(cache, 1, 10);
    ck_assert_msg(cache_fork(cache, 1, 2, &err), "%s", err.text);
    ck_assert_uint_eq(cache->rows_copied, 10 * LAYERS);
    ck_assert_uint_eq(cache_bytes(cache).reserved, 20 * LAYERS * ROW);
    ck_assert_msg(cache_check(cache, &err), "%s", err.text);
    close_growing(cache);
}
END_TEST

/* Old and new at once: where one sequence cannot grow, none has. */
START_TEST(a_step_gets_room_for_all_its_sequences_or_for_none) {
    Error err = {0};
    Cache *cache = open_growing(GROWTH_EACH, 2, CAPACITY);
    const size_t seq[] = {0, 1}, rows[] = {4, 4};
    append(cache, 0, 3);
    append(cache, 1, 3);
    const CacheBytes before = cache_bytes(cache);
    for (size_t fail = 1; fail <= 4 * LAYERS; fail++) {
        memory.fail_at = memory.allocations + fail;
        ck_assert(!cache_reserve(cache, 2, seq, rows, &err));
        ck_assert_uint_eq(cache_bytes(cache).reserved, before.reserved);
        ck_assert_msg(cache_check(cache, &err), "%s", err.text);
    }
    ck_assert(cache_reserve(cache, 2, seq, rows, &err));
    cache_commit(cache);
    ck_assert_uint_eq(cache_bytes(cache).live, 14 * LAYERS * ROW);
    close_growing(cache);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("growing");
    TCase *tests = tcase_create("growing");
    tcase_set_timeout(tests, 60);
    const TTest *const all[] = {
        concatenating_copies_n_times_n_minus_1_by_2_rows,
        doubling_copies_fewer_than_two_n_rows,
        growing_by_256_copies_7168_rows_on_the_way_to_2048,
        a_prompt_in_one_step_copies_nothing,
        doubling_stops_at_the_capacity,
        a_crop_keeps_the_room_and_an_empty_sequence_gives_it_back,
        a_fork_copies_its_rows_and_holds_only_those,
        a_step_gets_room_for_all_its_sequences_or_for_none};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tcase_add_test(tests, all[i]);
    tcase_add_loop_test(tests, predicted_bytes_are_allocated_bytes_at_every_step, 0, 3);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
