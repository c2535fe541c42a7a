/* The oracle with a rule: every kind of cache, with every two formats, under windows and
 * sinks, in chunks of every size and with several sequences, gives the bits of
 * recomputing under the same rule. A part of it always, all of it with LONG=1. */
#include "core/conform/pair.h"
#include "tests/check_main.h"
#include "tests/kinds.h"

#include <string.h>

/* All of kinds, and then a ring that is opened with room for the chunk and no more. */
enum { TIGHT_RING = KINDS, ALL_KINDS };

static ConformTarget target_of(int kind, size_t chunk) {
    return kind == TIGHT_RING ? (ConformTarget){"ring with room for the chunk",
                                                ring_open, chunk, false}
                              : kinds[kind];
}

static const char *const formats[] = {"f32", "f16", "bf16", "q8_0", "q4_0", "fp8"};
enum { FORMATS = 6, PAIRS = FORMATS * FORMATS };

/* Rows of K and V are one block of two heads. */
#define SPEC "dim=6,heads=4,kv_heads=2,head=16,rot=6,hidden=5,vocab=11,ctx=64,tied=0"

typedef struct {
    PairRule rule;
    size_t width;  /* of the window: chunks are 1 to twice as long */
    size_t tokens; /* of the longest sequence: more than three windows */
} Case;

static const Case cases[] = {
    {{.spec = SPEC ",layers=2"}, 3, 20},
    {{.spec = SPEC ",layers=2", .recent = 1}, 1, 9},
    {{.spec = SPEC ",layers=2", .recent = 2}, 2, 11},
    {{.spec = SPEC ",layers=2", .recent = 4}, 4, 17},
    {{.spec = SPEC ",layers=2", .recent = 16}, 16, 52},
    {{.spec = SPEC ",layers=2", .sinks = 4, .recent = 8}, 8, 40},
    {{.spec = SPEC ",layers=3", .recent = 4, .full_layers = 1}, 4, 17},
    {{.spec = SPEC ",layers=2", .turned_when_read = true}, 2, 13},
    {{.spec = SPEC ",layers=2", .sinks = 4, .recent = 8, .turned_when_read = true},
     8,
     40},
};
enum { CASES = sizeof cases / sizeof *cases, SEQUENCES = 3 };

/* The next chunk of every sequence in one batch, in another order each time. False when
 * there is nothing left. */
static bool add_chunks(Pair *p, size_t chunk, size_t tokens, size_t step) {
    for (size_t i = 0; i < SEQUENCES; i++) {
        const size_t s = (i + step) % SEQUENCES;
        const size_t left = tokens - s - p->length[s]; /* ragged at the end */
        if (left > 0) pair_add(p, s, left < chunk ? left : chunk, 7);
    }
    return p->batch_n > 0;
}

static bool check_all(Pair *p, Error *err) {
    for (size_t s = 0; s < SEQUENCES; s++)
        if (!pair_check(p, s, err)) return false;
    return true;
}

/* Logits and rows against the oracle at every `every`-th step and at the end. */
static void demand_oracle(int kind, const Case *c, size_t pair, size_t chunk,
                          size_t every) {
    Memory memory = {0};
    Pair p;
    Error err = {0};
    PairRule rule = c->rule;
    rule.k = formats[pair / FORMATS];
    rule.v = formats[pair % FORMATS];
    const ConformTarget target = target_of(kind, chunk);
    bool holds = pair_open(&p, &target, &rule, SEQUENCES, c->tokens, &memory, &err);
    ck_assert_msg(holds, "%s", err.text);
    for (size_t step = 0; holds && add_chunks(&p, chunk, c->tokens, step); step++)
        holds =
            pair_step(&p, &err) && (step % every != every - 1 || check_all(&p, &err));
    holds = holds && check_all(&p, &err);
    ck_assert_msg(holds, "%s, K %s, V %s, sinks %zu, window %zu, chunks of %zu: %s",
                  target.name, rule.k, rule.v, rule.sinks, rule.recent, chunk,
                  err.text);
    pair_close(&p);
    ck_assert_uint_eq(memory.live, 0);
}

START_TEST(every_rule_and_chunking_gives_the_bits_of_the_oracle) {
    size_t turn = (size_t)_i;
    for (size_t c = 0; c < CASES; c++)
        for (size_t chunk = 1; chunk <= 2 * cases[c].width; chunk++)
            demand_oracle(_i, &cases[c], (turn += 7) % PAIRS, chunk, 12);
}
END_TEST

/* `turn` above goes through the pairs as it comes; here each meets one window. */
START_TEST(every_two_formats_give_the_bits_of_the_oracle) {
    for (size_t pair = 0; pair < PAIRS; pair++)
        demand_oracle(_i, &cases[3], pair, 1 + pair % 8, 3);
}
END_TEST

START_TEST(everything_together_gives_the_bits_of_the_oracle) {
    for (size_t c = 0; c < CASES; c++)
        for (size_t chunk = 1; chunk <= 2 * cases[c].width; chunk++)
            for (size_t pair = 0; pair < PAIRS; pair++)
                demand_oracle(_i, &cases[c], pair, chunk, 4);
}
END_TEST

/* ---- Two rules side by side ------------------------------------------------------ */

/* The first step whose logits differ under two rules, over caches of this kind; tokens
 * if none does. */
static size_t first_difference(int kind, const PairRule *a, const PairRule *b,
                               size_t tokens) {
    Memory memory = {0};
    Error err = {0};
    Pair p[2];
    const PairRule *rules[] = {a, b};
    const ConformTarget target = target_of(kind, 1);
    size_t step = 0;
    for (size_t i = 0; i < 2; i++)
        ck_assert_msg(pair_open(&p[i], &target, rules[i], 1, tokens, &memory, &err),
                      "%s", err.text);
    for (; step < tokens; step++) {
        for (size_t i = 0; i < 2; i++)
            ck_assert_msg(pair_feed(&p[i], 0, 1, 3, &err) && pair_check(&p[i], 0, &err),
                          "%s", err.text);
        if (memcmp(p[0].logits, p[1].logits,
                   p[0].weights.shape.vocab * sizeof *p[0].logits) != 0)
            break;
    }
    for (size_t i = 0; i < 2; i++) pair_close(&p[i]);
    ck_assert_uint_eq(memory.live, 0);
    return step;
}

START_TEST(f32_without_a_window_is_the_full_model) {
    Memory memory = {0};
    Pair p;
    Error err = {0};
    const ConformTarget target = target_of(_i, 0);
    ck_assert(pair_open(&p, &target, &cases[0].rule, 1, 20, &memory, &err));
    Rule full;
    rule_full(&full, &p.weights.shape, &format_f32);
    EngineConfig config = {.weights = &p.weights,
                           .rule = &full,
                           .kernels = kernels_select("naive", &err),
                           .rows = 20,
                           .positions = 20,
                           .memory = &memory};
    Recompute *model = recompute_open(&config, &err);
    ck_assert_ptr_nonnull(model);
    for (size_t n = 1; n <= 20; n++) {
        float logits[16];
        bool want[20] = {false};
        size_t seq[20] = {0}, pos[20];
        for (size_t i = 0; i < n; i++) pos[i] = i;
        want[n - 1] = true;
        ck_assert_msg(pair_feed(&p, 0, 1, 5, &err), "%s", err.text);
        const Batch all = {n, p.token, seq, pos, want};
        ck_assert_msg(recompute_step(model, &all, logits, &err), "%s", err.text);
        ck_assert_mem_eq(p.logits, logits, p.weights.shape.vocab * sizeof *logits);
    }
    recompute_close(model);
    pair_close(&p);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(a_rule_differs_from_the_full_model_from_the_first_dropped_key_on) {
    PairRule full = cases[0].rule;
    for (size_t f = 0; f < FORMATS; f++) {
        full.k = full.v = formats[f];
        for (size_t window = 1; window <= 16; window *= 2) {
            PairRule rule = full;
            rule.recent = window;
            ck_assert_uint_eq(first_difference(_i, &full, &rule, 20), window);
            rule.recent = 20;
            ck_assert_uint_eq(first_difference(_i, &full, &rule, 20), 20);
        }
        PairRule sinks = full;
        sinks.sinks = 4;
        sinks.recent = 8; /* 12 rows: all that a query sees until there are 13 */
        ck_assert_uint_eq(first_difference(_i, &full, &sinks, 20), 12);
    }
}
END_TEST

/* Turning before or after storing is the same arithmetic where storing rounds nothing. */
START_TEST(f32_keys_turned_when_read_give_the_bits_of_keys_turned_when_stored) {
    for (size_t c = 0; c < CASES; c++) {
        PairRule after = cases[c].rule, before = cases[c].rule;
        after.turned_when_read = false;
        before.turned_when_read = true;
        for (size_t v = 0; v < FORMATS; v++) {
            after.v = before.v = formats[v];
            const size_t n = cases[c].tokens < 20 ? cases[c].tokens : 20;
            ck_assert_uint_eq(first_difference(_i, &after, &before, n), n);
        }
        if (after.recent == 1) continue; /* one key has all the weight, turned or not */
        after.k = before.k = "f16";      /* rounded: position 1 is not the same */
        ck_assert_uint_lt(first_difference(_i, &after, &before, 4), 4);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("rules");
    TCase *tests = tcase_create("oracle");
    tcase_set_timeout(tests, getenv("LONG") ? 1200 : 60);
    const TTest *const all[] = {
        every_rule_and_chunking_gives_the_bits_of_the_oracle,
        every_two_formats_give_the_bits_of_the_oracle,
        f32_without_a_window_is_the_full_model,
        a_rule_differs_from_the_full_model_from_the_first_dropped_key_on,
        f32_keys_turned_when_read_give_the_bits_of_keys_turned_when_stored};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tcase_add_loop_test(tests, all[i], 0, ALL_KINDS);
    if (getenv("LONG"))
        tcase_add_loop_test(tests, everything_together_gives_the_bits_of_the_oracle, 0,
                            ALL_KINDS);
    else
        printf("skipped: every rule x chunking x two formats at once (LONG=1)\n");
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
