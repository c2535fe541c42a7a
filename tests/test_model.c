/* Engines, sampling, digest: what is refused, and what comes out. That the engines compute
 * the right thing is test_meaning.c's business, equal bits test_conform.c's; where weights
 * come from, test_weights.c's. */
#include "core/cache/cache.h"
#include "core/count/counted.h"
#include "core/model/cached.h"
#include "core/model/digest.h"
#include "core/model/recompute.h"
#include "core/model/sample.h"
#include "tests/check_main.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define SMALL "dim=24,layers=2,heads=4,kv_heads=2,hidden=20,vocab=17,ctx=32"

enum { MOST = 32, VOCAB = 17 };

/* Both engines over one small model. */
static struct {
    Memory memory;
    Weights weights;
    Rule rule;
    Recompute *recompute;
    Cache *cache;
    Cached *cached;
    float logits[MOST * VOCAB], other[MOST * VOCAB];
} m;

static size_t seq_of[MOST], pos_of[MOST];
static int token_of[MOST];
static bool want_of[MOST];

static bool open_all(Error *err) {
    if (!weights_random(&m.weights, SMALL, &m.memory, err)) return false;
    rule_full(&m.rule, &m.weights.shape, &format_f32);
    EngineConfig config = {.weights = &m.weights,
                           .rule = &m.rule,
                           .kernels = kernels_select("naive", err),
                           .rows = MOST,
                           .positions = MOST,
                           .memory = &m.memory};
    CacheConfig cache = {
        .shape = &m.weights.shape, .rule = &m.rule, .sequences = 3, .capacity = MOST};
    m.recompute = recompute_open(&config, err);
    m.cache = m.recompute ? cache_open("contiguous", &cache, &m.memory, err) : NULL;
    m.cached = m.cache ? cached_open(&config, m.cache, err) : NULL;
    return m.cached;
}

static void close_all(void) {
    cached_close(m.cached);
    cache_close(m.cache);
    recompute_close(m.recompute);
    if (m.weights.memory) weights_close(&m.weights);
    ck_assert_uint_eq(m.memory.live, 0);
    memset(&m, 0, sizeof m);
}

static void set_up(void) {
    Error err = {0};
    memset(&m, 0, sizeof m);
    for (size_t i = 0; i < MOST; i++) {
        seq_of[i] = 0;
        pos_of[i] = i;
        token_of[i] = (int)(i * 7 % VOCAB);
        want_of[i] = true;
    }
    ck_assert_msg(open_all(&err), "%s", err.text);
}

static Batch tokens(size_t first, size_t n) {
    return (Batch){n, token_of + first, seq_of + first, pos_of + first,
                   want_of + first};
}

START_TEST(logits_of_every_position_are_those_of_that_step) {
    Error err = {0};
    Batch all = tokens(0, 12);
    ck_assert(recompute_step(m.recompute, &all, m.logits, &err));
    for (size_t i = 0; i < 12; i++) {
        Batch one = tokens(i, 1);
        ck_assert(cached_step(m.cached, &one, m.other, &err));
        ck_assert_mem_eq(m.other, m.logits + i * VOCAB, VOCAB * sizeof(float));
    }
}
END_TEST

START_TEST(only_the_wanted_logits_are_made) {
    Error err = {0};
    Batch all = tokens(0, 9);
    ck_assert(recompute_step(m.recompute, &all, m.logits, &err));
    memset(want_of, 0, sizeof want_of);
    want_of[3] = want_of[8] = true;
    ck_assert_uint_eq(batch_logits(&all), 2);
    m.other[2 * VOCAB] = 42;
    ck_assert(cached_step(m.cached, &all, m.other, &err));
    ck_assert_mem_eq(m.other, m.logits + 3 * VOCAB, VOCAB * sizeof(float));
    ck_assert_mem_eq(m.other + VOCAB, m.logits + 8 * VOCAB, VOCAB * sizeof(float));
    ck_assert(m.other[2 * VOCAB] == 42);
}
END_TEST

START_TEST(a_bad_batch_is_refused_and_the_cache_is_unchanged) {
    Error err = {0};
    Batch good = tokens(0, 4);
    ck_assert(cached_step(m.cached, &good, m.logits, &err));
#define REFUSED(change, words)                                                         \
    do {                                                                               \
        int token[3] = {1, 2, 3};                                                      \
        size_t seq[3] = {0, 0, 1}, pos[3] = {4, 5, 0};                                 \
        bool want[3] = {false};                                                        \
        Batch bad = {3, token, seq, pos, want};                                        \
        change;                                                                        \
        ck_assert(!cached_step(m.cached, &bad, m.logits, &err));                       \
        ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);                \
        ck_assert_uint_eq(cache_length(m.cache, 0), 4);                                \
        ck_assert_uint_eq(cache_length(m.cache, 1), 0);                                \
        ck_assert_msg(cache_check(m.cache, &err), "%s", err.text);                     \
    } while (0)
    REFUSED(bad.n = 0, "a batch of 0 tokens");
    REFUSED(bad.n = MOST + 1, "a batch of 33 tokens");
    REFUSED(token[1] = -1, "token -1 at position 5");
    REFUSED(token[2] = VOCAB, "token 17 at position 0");
    REFUSED(pos[1] = 6, "goes from position 4 to 6");
    REFUSED(pos[0] = pos[1] = MOST, "position 32 is past the last one, 31");
    REFUSED((pos[0] = 3, pos[1] = 4), "goes on at position 3; its cache holds 4");
    REFUSED(pos[2] = 1, "sequence 1 goes on at position 1");
    REFUSED((seq[0] = 1, pos[0] = 0, pos[1] = 4), "sequence 1 comes twice");
    REFUSED(seq[2] = 3, "sequence 3 does not exist");
#undef REFUSED
    Batch next = tokens(4, 3);
    ck_assert(cached_step(m.cached, &next, m.logits, &err));
    Batch late = tokens(2, 4);
    ck_assert(!recompute_step(m.recompute, &late, m.logits, &err));
    ck_assert_ptr_nonnull(
        strstr(err.text, "without a cache all its tokens are needed"));
}
END_TEST

START_TEST(a_residual_that_is_not_finite_names_step_and_layer) {
    Error err = {0};
    Batch good = tokens(0, 4), bad = tokens(4, 2), all = tokens(0, 6);
    ck_assert(cached_step(m.cached, &good, m.logits, &err));
    float *down = (float *)(uintptr_t)m.weights.layer[1].down.data;
    const float kept = down[5];
    down[5] = 3e38f; /* finite itself; the sums are not */
    for (size_t i = 0; i < 20; i++) down[i] = 3e38f;
    m.weights.layer[1].mlp_norm = m.weights.layer[1].attention_norm;
    float *norm = (float *)(uintptr_t)m.weights.layer[1].mlp_norm;
    for (size_t i = 0; i < 24; i++) norm[i] = 100;
    ck_assert(!cached_step(m.cached, &bad, m.logits, &err));
    ck_assert_str_eq(err.text, "step 4, layer 1: the residual is not finite; check the "
                               "weights");
    ck_assert_uint_eq(cache_length(m.cache, 0), 4);
    ck_assert_msg(cache_check(m.cache, &err), "%s", err.text);
    ck_assert(!recompute_step(m.recompute, &all, m.logits, &err));
    down[5] = kept;
}
END_TEST

START_TEST(dense_scores_are_refused_with_a_window_or_sinks) {
    Error err = {0};
    EngineConfig config = {.weights = &m.weights,
                           .rule = &m.rule,
                           .kernels = kernels_select("naive", &err),
                           .rows = 4,
                           .positions = 4,
                           .dense = true,
                           .memory = &m.memory};
    m.rule.layer[1].recent = 3;
    ck_assert_ptr_null(recompute_open(&config, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "layer 1 has a window or sinks"));
    m.rule.layer[1].recent = RULE_ALL;
    m.rule.layer[0].sinks = 1;
    ck_assert_ptr_null(cached_open(&config, m.cache, &err));
    m.rule.layer[0].sinks = 0;
}
END_TEST

/* Every allocation of opening and stepping fails once; nothing leaks, nothing crashes.
 */
START_TEST(every_allocation_may_fail_while_opening) {
    size_t failures = 0;
    for (size_t fail_at = 1;; fail_at++) {
        Error err = {0};
        memset(&m, 0, sizeof m);
        m.memory.fail_at = fail_at;
        bool opened = open_all(&err);
        if (!opened) ck_assert_ptr_nonnull(strstr(err.text, "out of memory"));
        close_all();
        if (opened) break;
        failures++;
    }
    ck_assert_uint_gt(failures, 30);
}
END_TEST

START_TEST(a_step_allocates_nothing) {
    Error err = {0};
    const size_t before = m.memory.allocations;
    for (size_t i = 0; i < 8; i++) {
        Batch one = tokens(i, 1), all = tokens(0, i + 1);
        ck_assert(cached_step(m.cached, &one, m.other, &err));
        ck_assert(recompute_step(m.recompute, &all, m.logits, &err));
        Candidate list[VOCAB];
        sample_token(m.other, VOCAB, &(Sampling){1, 1, 1}, 0, i, list);
    }
    ck_assert_uint_eq(m.memory.allocations, before);
}
END_TEST

START_TEST(greedy_takes_the_largest_logit_and_of_equals_the_lowest_id) {
    const float logits[6] = {-1, 3, 2, 3, -7, 3};
    Candidate list[6];
    ck_assert_int_eq(sample_token(logits, 6, &(Sampling){0, 1, 1}, 0, 0, list), 1);
    const float equal[3] = {-0.0f, 0.0f, 0.0f};
    ck_assert_int_eq(sample_token(equal, 3, &(Sampling){0, 1, 1}, 0, 0, list), 0);
}
END_TEST

START_TEST(draws_follow_the_probabilities) {
    const float logits[4] = {0, logf(2), logf(4), logf(1)};
    size_t count[4] = {0};
    Candidate list[4];
    for (uint64_t p = 0; p < 8000; p++)
        count[sample_token(logits, 4, &(Sampling){1, 1, 9}, 0, p, list)]++;
    const double expected[4] = {1000, 2000, 4000, 1000};
    for (size_t i = 0; i < 4; i++)
        ck_assert_msg(fabs((double)count[i] - expected[i]) < 150, "%zu: %zu", i,
                      count[i]);
    for (uint64_t p = 0; p < 200; p++) { /* 0.5 of the sum is the first alone */
        ck_assert_int_eq(sample_token(logits, 4, &(Sampling){1, 0.5f, 9}, 0, p, list),
                         2);
        int id = sample_token(logits, 4, &(Sampling){1, 0.51f, 9}, 0, p, list);
        ck_assert(id == 2 || id == 1);
    }
}
END_TEST

START_TEST(a_draw_depends_on_seed_request_and_position_alone) {
    float logits[64];
    Candidate list[64];
    for (size_t i = 0; i < 64; i++) logits[i] = (float)(i % 5) * 0.1f;
    int first = sample_token(logits, 64, &(Sampling){1, 1, 5}, 3, 11, list);
    size_t differ = 0;
    for (uint64_t i = 0; i < 40; i++) {
        differ +=
            sample_token(logits, 64, &(Sampling){1, 1, 6 + i}, 3, 11, list) != first;
        differ +=
            sample_token(logits, 64, &(Sampling){1, 1, 5}, 4 + i, 11, list) != first;
        differ +=
            sample_token(logits, 64, &(Sampling){1, 1, 5}, 3, 12 + i, list) != first;
        ck_assert_int_eq(sample_token(logits, 64, &(Sampling){1, 1, 5}, 3, 11, list),
                         first);
    }
    ck_assert_uint_gt(differ, 100);
}
END_TEST

START_TEST(the_digest_is_xxh3_of_the_little_endian_bits) {
    if (!digest_exists()) return;
    Digest a, b;
    float row[1000];
    char text[DIGEST_TEXT];
    for (size_t i = 0; i < 1000; i++) row[i] = (float)i * 0.25f - 3;
    digest_begin(&a);
    digest_text(&a, text);
    ck_assert_str_eq(text, "2d06800538d394c2"); /* XXH3 of nothing, as published */
    digest_add(&a, row, 1000);
    digest_begin(&b);
    for (size_t i = 0; i < 1000; i += 125) digest_add(&b, row + i, 125);
    ck_assert_uint_eq(digest_value(&a), digest_value(&b));
    row[999] += 1;
    digest_begin(&b);
    digest_add(&b, row, 1000);
    ck_assert_uint_ne(digest_value(&a), digest_value(&b));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("model");
    TCase *engines = tcase_create("engines"), *rest = tcase_create("rest");
    tcase_add_checked_fixture(engines, set_up, close_all);
    tcase_add_test(engines, logits_of_every_position_are_those_of_that_step);
    tcase_add_test(engines, only_the_wanted_logits_are_made);
    tcase_add_test(engines, a_bad_batch_is_refused_and_the_cache_is_unchanged);
    tcase_add_test(engines, a_residual_that_is_not_finite_names_step_and_layer);
    tcase_add_test(engines, dense_scores_are_refused_with_a_window_or_sinks);
    tcase_add_test(engines, a_step_allocates_nothing);
    tcase_add_test(rest, every_allocation_may_fail_while_opening);
    tcase_add_test(rest, greedy_takes_the_largest_logit_and_of_equals_the_lowest_id);
    tcase_add_test(rest, draws_follow_the_probabilities);
    tcase_add_test(rest, a_draw_depends_on_seed_request_and_position_alone);
    tcase_add_test(rest, the_digest_is_xxh3_of_the_little_endian_bits);
    suite_add_tcase(suite, engines);
    suite_add_tcase(suite, rest);
    return check_run(suite);
}
