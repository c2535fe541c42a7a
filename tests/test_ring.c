/* The ring cache in particular: its slots, its bytes, what it refuses. What every cache
 * must do is in test_conform.c. */
#include "core/cache/ring.h"
#include "tests/check_main.h"

#include <string.h>

enum { LAYERS = 3, K_ROW = 3 * 4, V_ROW = 2 * 4, ROW = K_ROW + V_ROW };

static Shape shape;
static Rule rule;
static Memory memory;

/* Every layer under (sinks, recent), the last one under `last` instead. */
static Cache *open_ring(size_t sinks, size_t recent, size_t last, size_t chunk,
                        size_t capacity) {
    Error err = {0};
    shape = (Shape){.dim = 6, .vocab = 2, .context = capacity, .layers = LAYERS};
    for (size_t l = 0; l < LAYERS; l++)
        shape.layer[l] = (LayerShape){2, 1, 3, 2, 4, SHAPE_NO_WINDOW};
    rule_full(&rule, &shape, &format_f32);
    for (size_t l = 0; l < LAYERS; l++) {
        rule.layer[l].sinks = sinks;
        rule.layer[l].recent = recent;
    }
    rule.layer[LAYERS - 1].recent = last;
    memory = (Memory){0};
    Cache *cache = ring_open(&(CacheConfig){.shape = &shape,
                                            .rule = &rule,
                                            .sequences = 2,
                                            .capacity = capacity,
                                            .chunk = chunk},
                             &memory, &err);
    ck_assert_msg(cache != NULL, "%s", err.text);
    return cache;
}

static void close_ring(Cache *cache) {
    cache_close(cache);
    ck_assert_uint_eq(memory.live, 0);
}

/* Content of element e of a position's K row; V rows have the negative. */
static float element(size_t seq, size_t layer, size_t position, size_t e) {
    return (float)(1 + position * 64 + layer * 16 + seq * 8 + e);
}

static void write_row(Cache *cache, size_t seq, size_t position) {
    Error err = {0};
    for (size_t l = 0; l < LAYERS; l++) {
        float k[3], v[2];
        for (size_t e = 0; e < 3; e++) k[e] = element(seq, l, position, e);
        for (size_t e = 0; e < 2; e++) v[e] = -element(seq, l, position, e);
        const bool done = cache_write(cache, kernels_select("naive", NULL), l, seq,
                                      position, 1, k, v, &err);
        ck_assert_msg(done, "%s", err.text);
    }
}

static void append(Cache *cache, size_t seq, size_t rows) {
    Error err = {0};
    ck_assert_msg(cache_reserve(cache, 1, &seq, &rows, &err), "%s", err.text);
    for (size_t i = 0; i < rows; i++)
        write_row(cache, seq, cache_length(cache, seq) + i);
    cache_commit(cache);
}

/* Every row that the next query sees holds what was written. */
static void demand_rows(const Cache *cache, size_t seq) {
    Error err = {0};
    ck_assert_msg(cache_check(cache, &err), "%s", err.text);
    for (size_t l = 0; l < LAYERS; l++) {
        const Rows rows = cache_rows(cache, l, seq);
        for (size_t p = 0; p < rows.end; p++) {
            if (!rule_sees(&rule.layer[l], rows.end, p)) continue;
            Span span;
            rows.at(&rows, p, &span);
            const float *k = span.k, *v = span.v;
            for (size_t e = 0; e < 2; e++)
                if (k[e] != element(seq, l, p, e) || v[e] != -element(seq, l, p, e))
                    ck_abort_msg("layer %zu: the row of position %zu", l, p);
        }
    }
}

START_TEST(a_window_takes_w_minus_1_plus_chunk_slots_and_positions_go_round) {
    static const size_t windows[] = {1, 2, 4, 16};
    for (size_t w = 0; w < 4; w++)
        for (size_t chunk = 1; chunk <= 2 * windows[w]; chunk++) {
            const size_t slots = windows[w] - 1 + chunk, n = 3 * slots + 2;
            Cache *cache = open_ring(0, windows[w], windows[w], chunk, n);
            ck_assert_uint_eq(formula_ring_slots(&rule.layer[0], n, chunk), slots);
            ck_assert_uint_eq(cache_bytes(cache).reserved, 2 * LAYERS * slots * ROW);
            for (size_t p = 0; p < n; p++) {
                append(cache, 1, 1);
                ck_assert_uint_eq(cache_slot(cache, 0, 1, p), slots + p % slots);
                demand_rows(cache, 1);
            }
            close_ring(cache);
        }
}
END_TEST

START_TEST(sinks_stay_in_front_and_the_rest_goes_round_behind_them) {
    Cache *cache = open_ring(4, 8, 8, 3, 100);
    for (size_t p = 0; p < 100; p++) {
        append(cache, 0, 1);
        /* C = 4 + 8 - 1 + 3 = 14, of which ten go round */
        ck_assert_uint_eq(cache_slot(cache, 1, 0, p), p < 4 ? p : 4 + (p - 4) % 10);
        demand_rows(cache, 0);
    }
    ck_assert_uint_eq(cache_bytes(cache).reserved, 2 * LAYERS * 14 * ROW);
    close_ring(cache);
}
END_TEST

START_TEST(slots_are_never_more_than_the_capacity) {
    Cache *cache = open_ring(0, 90, 90, 20, 100);
    ck_assert_uint_eq(cache_bytes(cache).reserved, 2 * LAYERS * 100 * ROW);
    close_ring(cache);
    cache = open_ring(0, 4, 4, 0, 10); /* no chunk named: a whole prompt at once */
    append(cache, 0, 10);
    demand_rows(cache, 0);
    ck_assert_uint_eq(cache_bytes(cache).reserved, 2 * LAYERS * 10 * ROW);
    close_ring(cache);
    cache = open_ring(12, 3, 3, 2, 8); /* more sinks than room: all are pinned */
    for (size_t i = 0; i < 4; i++) append(cache, 0, 2);
    demand_rows(cache, 0);
    close_ring(cache);
}
END_TEST

START_TEST(memory_stays_the_same_however_long_the_text) {
    Cache *cache = open_ring(2, 5, 5, 2, 20000);
    const size_t live = memory.live, allocations = memory.allocations;
    size_t predicted;
    ck_assert(formula_ring_bytes(&shape, &rule, 2, 20000, 2, &predicted));
    ck_assert_uint_eq(predicted, 2 * LAYERS * 8 * ROW);
    for (size_t i = 0; i < 10000; i++) append(cache, i % 2, 2);
    ck_assert_uint_eq(memory.live, live);
    ck_assert_uint_eq(memory.peak, live);
    ck_assert_uint_eq(memory.allocations, allocations);
    const CacheBytes bytes = cache_bytes(cache);
    ck_assert_uint_eq(bytes.reserved, predicted);
    ck_assert_uint_eq(bytes.live, 2 * LAYERS * 7 * ROW);
    ck_assert_uint_eq(live, bytes.reserved + bytes.metadata);
    demand_rows(cache, 0);
    demand_rows(cache, 1);
    close_ring(cache);
}
END_TEST

START_TEST(a_layer_without_a_window_keeps_every_row) {
    Cache *cache = open_ring(0, 4, RULE_ALL, 3, 50);
    ck_assert_uint_eq(cache_bytes(cache).reserved, 2 * (6 + 6 + 50) * ROW);
    for (size_t i = 0; i < 16; i++) append(cache, 0, 3);
    demand_rows(cache, 0);
    ck_assert_uint_eq(cache_bytes(cache).live, (4 + 4 + 48) * ROW);
    close_ring(cache);
}
END_TEST

/* Pairs of a chunk whose key stands where a newer row of the chunk stands, too. */
static size_t lost_pairs(const Cache *cache, size_t window, size_t first, size_t m) {
    size_t lost = 0;
    for (size_t query = first; query < first + m; query++)
        for (size_t key = query + 1 - window; key <= query; key++)
            for (size_t newer = key + 1; newer < first + m; newer++)
                lost += cache_slot(cache, 0, 0, key) == cache_slot(cache, 0, 0, newer);
    return lost;
}

START_TEST(w_slots_would_lose_m_times_m_minus_1_by_2_pairs_of_a_chunk_of_m) {
    enum { W = 16 };
    for (size_t m = 1; m <= 8; m++) {
        Cache *cache = open_ring(0, W, W, 1, 200);                       /* C = W */
        ck_assert_uint_eq(lost_pairs(cache, W, 50, m), m * (m - 1) / 2); /* 1, 6, 28 */
        close_ring(cache);
        cache = open_ring(0, W, W, m, 200);
        ck_assert_uint_eq(lost_pairs(cache, W, 50, m), 0);
        close_ring(cache);
    }
}
END_TEST

START_TEST(a_chunk_that_is_too_long_is_refused_by_name) {
    Error err = {0};
    Cache *cache = open_ring(0, 4, 4, 3, 50);
    const size_t seq[] = {1, 0}, rows[] = {3, 4};
    append(cache, 0, 3);
    ck_assert(!cache_reserve(cache, 2, seq, rows, &err));
    ck_assert_str_eq(err.text,
                     "sequence 0: 4 new tokens in one step; this ring has room "
                     "for 3 (--chunk)");
    demand_rows(cache, 0);
    ck_assert_uint_eq(cache_length(cache, 1), 0);
    close_ring(cache);
}
END_TEST

/* C slots hold the last W - 1 + chunk rows: a crop by `chunk` tokens finds its window. */
START_TEST(a_crop_to_overwritten_rows_is_refused_by_name_with_nothing_changed) {
    Error err = {0};
    for (size_t w = 2; w <= 16; w *= 2)
        for (size_t chunk = 1; chunk <= 6; chunk++) {
            const size_t n = 4 * w + 10;
            Cache *cache = open_ring(0, w, w, chunk, 100);
            for (size_t p = 0; p < n; p++) append(cache, 0, 1);
            for (size_t back = n - 1; back > chunk; back--) {
                char text[200];
                const size_t reach = n - back < w ? 0 : n - back - w + 1;
                snprintf(text, sizeof text,
                         "sequence 0 cannot go back to %zu tokens: the window of layer "
                         "0 reaches position %zu, which is overwritten",
                         n - back, reach);
                ck_assert(!cache_crop(cache, 0, n - back, &err));
                ck_assert_str_eq(err.text, text);
                ck_assert_uint_eq(cache_length(cache, 0), n);
            }
            demand_rows(cache, 0);
            ck_assert_msg(cache_crop(cache, 0, n - chunk, &err), "%s", err.text);
            demand_rows(cache, 0);
            append(cache, 0, 1);
            demand_rows(cache, 0);
            ck_assert(cache_crop(cache, 0, 0, &err));
            append(cache, 0, 1);
            demand_rows(cache, 0);
            close_ring(cache);
        }
}
END_TEST

/* The sinks are still there; what lies between them and the window is not. */
START_TEST(one_layer_that_cannot_go_back_keeps_all_where_they_are) {
    Error err = {0};
    Cache *cache = open_ring(0, RULE_ALL, 4, 2, 60);
    for (size_t p = 0; p < 30; p++) append(cache, 1, 1);
    ck_assert(!cache_crop(cache, 1, 20, &err));
    ck_assert_str_eq(err.text, "sequence 1 cannot go back to 20 tokens: the window of "
                               "layer 2 reaches position 17, which is overwritten");
    demand_rows(cache, 1);
    close_ring(cache);
    cache = open_ring(3, 4, 4, 1, 60);
    for (size_t p = 0; p < 30; p++) append(cache, 1, 1);
    ck_assert(!cache_crop(cache, 1, 5, &err)); /* 2 to 4: of these 2 is a sink */
    ck_assert_ptr_nonnull(strstr(err.text, "reaches position 3, which"));
    ck_assert(cache_crop(cache, 1, 3, &err)); /* sinks alone */
    demand_rows(cache, 1);
    append(cache, 1, 1);
    demand_rows(cache, 1);
    close_ring(cache);
}
END_TEST

START_TEST(a_window_of_1_needs_no_older_row_and_can_always_go_back) {
    Error err = {0};
    Cache *cache = open_ring(0, 1, 1, 1, 60);
    ck_assert_uint_eq(cache_bytes(cache).reserved, 2 * LAYERS * 1 * ROW);
    for (size_t p = 0; p < 30; p++) append(cache, 0, 1);
    ck_assert_uint_eq(cache_slot(cache, 0, 0, 29), 0);
    for (size_t length = 29; length > 4; length -= 4) {
        ck_assert_msg(cache_crop(cache, 0, length, &err), "%s", err.text);
        demand_rows(cache, 0);
        append(cache, 0, 1);
        demand_rows(cache, 0);
    }
    close_ring(cache);
}
END_TEST

START_TEST(bytes_go_by_the_formats_of_k_and_v) {
    size_t bytes;
    Cache *cache = open_ring(0, 4, 4, 1, 60);
    close_ring(cache);
    for (size_t l = 0; l < LAYERS; l++)
        shape.layer[l] = (LayerShape){2, 2, 32, 16, 4, SHAPE_NO_WINDOW};
    for (size_t l = 0; l < LAYERS; l++) rule.layer[l].k = &format_q8_0;
    for (size_t l = 0; l < LAYERS; l++) rule.layer[l].v = &format_q4_0;
    ck_assert(formula_ring_bytes(&shape, &rule, 3, 60, 5, &bytes));
    ck_assert_uint_eq(bytes, 3 * LAYERS * 8 * (2 * 34 + 18));
    /* Mistral-7B, f16, 32768 tokens: 512 MiB under its window of 4096, 4096 without. */
    shape.layers = rule.layers = 32;
    shape_all_layers(&shape, &(LayerShape){32, 8, 128, 128, 14336, SHAPE_NO_WINDOW});
    rule_full(&rule, &shape, &format_f16);
    ck_assert(formula_ring_bytes(&shape, &rule, 1, 32768, 1, &bytes));
    ck_assert_uint_eq(bytes, (size_t)4096 << 20);
    for (size_t l = 0; l < 32; l++) rule.layer[l].recent = 4096;
    ck_assert(formula_ring_bytes(&shape, &rule, 1, 32768, 1, &bytes));
    ck_assert_uint_eq(bytes, (size_t)512 << 20);
    ck_assert(!formula_ring_bytes(&shape, &rule, SIZE_MAX / 2, 32768, 1, &bytes));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("ring");
    TCase *tests = tcase_create("ring");
    tcase_set_timeout(tests, 60);
    const TTest *const all[] = {
        a_window_takes_w_minus_1_plus_chunk_slots_and_positions_go_round,
        sinks_stay_in_front_and_the_rest_goes_round_behind_them,
        slots_are_never_more_than_the_capacity,
        memory_stays_the_same_however_long_the_text,
        a_layer_without_a_window_keeps_every_row,
        w_slots_would_lose_m_times_m_minus_1_by_2_pairs_of_a_chunk_of_m,
        a_chunk_that_is_too_long_is_refused_by_name,
        a_crop_to_overwritten_rows_is_refused_by_name_with_nothing_changed,
        one_layer_that_cannot_go_back_keeps_all_where_they_are,
        a_window_of_1_needs_no_older_row_and_can_always_go_back,
        bytes_go_by_the_formats_of_k_and_v};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tcase_add_test(tests, all[i]);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
