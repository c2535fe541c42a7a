/* Known faults of caches, windows and formats, each from outside, and the check that
 * turns red: a property of the conformance suite by its name, memcmp with the oracle, or
 * the second opinion. None is red for the original. */
#include "core/cache/contiguous.h"
#include "core/cache/paged.h"
#include "core/cache/ring.h"
#include "core/conform/pair.h"
#include "core/conform/shadow.h"
#include "tests/plain.h"
#include "tests/runs.h"

static const ConformOptions options = {.operations = 3000, .seed = 1};

static Cache *open_by_4(const CacheConfig *config, Memory *memory, Error *err) {
    CacheConfig own = *config;
    own.block_size = 4;
    return paged_open(&own, memory, err);
}

/* ---- Kernels over a cache, against the oracle ------------------------------------ */

#define SPEC                                                                           \
    "dim=6,layers=2,heads=4,kv_heads=2,head=16,rot=6,hidden=5,vocab=11,ctx=64,tied=0"

enum { TOKENS = 40 };

/* The first step after which something is wrong; TOKENS if nothing is. The cached engine
 * runs on `kernels`, if there are any. */
static size_t first_red(const ConformTarget *target, const PairRule *rule, size_t chunk,
                        const Kernels *kernels, Error *err) {
    Memory memory = {0};
    Pair p;
    ck_assert_msg(pair_open(&p, target, rule, 2, TOKENS, &memory, err), "%s",
                  err->text);
    if (kernels) {
        const EngineConfig config = {.weights = &p.weights,
                                     .rule = &p.rule,
                                     .kernels = kernels,
                                     .rows = 2 * TOKENS,
                                     .positions = TOKENS,
                                     .memory = &memory};
        cached_close(p.cached);
        p.cached = cached_open(&config, p.cache, err);
        ck_assert_ptr_nonnull(p.cached);
    }
    size_t n = 0;
    for (; n < TOKENS; n += chunk) /* sequence 1, so that slots and positions differ */
        if (!pair_feed(&p, 1, chunk, 9, err) || !pair_check(&p, 1, err)) break;
    pair_close(&p);
    ck_assert_uint_eq(memory.live, 0);
    return n;
}

/* Green for the original; for the mutant green up to `last_right` tokens and then red in
 * these words. */
static void demand_oracle_sees(const ConformTarget *target, const PairRule *rule,
                               size_t chunk, const Kernels *mutant, size_t last_right,
                               const char *words) {
    Error err = {0};
    size_t red = first_red(target, rule, chunk, NULL, &err);
    ck_assert_msg(red == TOKENS, "%s: the original: %s", target->name, err.text);
    red = first_red(target, rule, chunk, mutant, &err);
    ck_assert_msg(red < TOKENS && strstr(err.text, words), "%s: not seen: '%s'",
                  target->name, err.text);
    ck_assert_msg(red >= last_right && red < last_right + 12, "%s: red after %zu: %s",
                  target->name, red, err.text);
}

static const char differs[] = "the oracle's";

START_TEST(w_plus_1_keys_for_w_are_seen_by_memcmp_with_the_oracle) {
    static const ConformTarget targets[] = {{"contiguous", contiguous_open, 0, false},
                                            {"ring", ring_open, 0, false},
                                            {"ring", ring_open, 2, false}};
    Wrapped wrong;
    wrapped_init(&wrong, kernels_select("naive", NULL), NULL);
    wrong.table.attention = mutant_window_plus_1;
    for (size_t window = 1; window <= 16; window *= 2)
        for (size_t i = 0; i < 3; i++) {
            const PairRule rule = {.spec = SPEC, .recent = window};
            demand_oracle_sees(&targets[i], &rule, 1, &wrong.table, window, differs);
        }
}
END_TEST

START_TEST(slots_for_positions_are_seen_by_memcmp_as_soon_as_the_ring_wraps) {
    Wrapped wrong;
    wrapped_init(&wrong, kernels_select("naive", NULL), NULL);
    wrong.table.attention = mutant_slots;
    for (size_t chunk = 1; chunk <= 4; chunk *= 2) {
        const ConformTarget ring = {"ring", ring_open, chunk, false};
        const PairRule window = {.spec = SPEC, .recent = 8};
        const PairRule sinks = {.spec = SPEC, .sinks = 3, .recent = 5};
        const size_t slots = 8 - 1 + chunk;
        demand_oracle_sees(&ring, &window, chunk, &wrong.table, slots / chunk * chunk,
                           differs);
        demand_oracle_sees(&ring, &sinks, chunk, &wrong.table, slots / chunk * chunk,
                           differs);
    }
}
END_TEST

static bool all_attentions_agree(const Kernels *kernels) {
    bool agree = true;
    for (size_t index = 0; index < 60; index++) {
        PlainCase *c = plain_case(index);
        c->a.probs = NULL; /* the mutant renumbers them */
        if (c->rule.keys_turned) {
            kernels->attention(kernels, &c->a);
            for (size_t t = 0; t < c->a.n; t++)
                for (size_t h = 0; h < c->a.heads; h++) {
                    float out[PLAIN_SIZE], probs[PLAIN_END];
                    plain_attend(&c->a, t, h, out, probs);
                    agree &= memcmp(out, c->a.out + (t * c->a.heads + h) * c->a.v_size,
                                    c->a.v_size * sizeof *out) == 0;
                }
        }
        plain_case_free(c);
    }
    return agree;
}

/* No meaning is lost, only bits: both engines with it agree with the second opinion. */
START_TEST(
    ranks_for_positions_in_the_denominator_are_seen_by_memcmp_once_keys_are_gone) {
    const Kernels *naive = kernels_select("naive", NULL);
    const ConformTarget ring = {"ring", ring_open, 1, false};
    const PairRule sinks = {.spec = SPEC, .sinks = 4, .recent = 8};
    const PairRule full = {.spec = SPEC};
    Wrapped wrong;
    Error err = {0};
    wrapped_init(&wrong, naive, NULL);
    wrong.table.attention = mutant_ranks;
    demand_oracle_sees(&ring, &sinks, 1, &wrong.table, 12, differs);
    ck_assert_uint_eq(first_red(&ring, &full, 1, &wrong.table, &err), TOKENS);
    ck_assert(all_attentions_agree(naive)); /* the written arithmetic */
    ck_assert(!all_attentions_agree(&wrong.table));
}
END_TEST

#ifdef KVSTEP_CHECKING
START_TEST(a_part_block_read_to_its_end_is_stopped_by_poison) {
    static const size_t block = 4;
    const ConformTarget paged = {"paged by 4", open_by_4, 0, false};
    const PairRule full = {.spec = SPEC};
    Wrapped wrong;
    wrapped_init(&wrong, kernels_select("naive", NULL), (void *)(uintptr_t)&block);
    wrong.table.attention = mutant_to_block_end;
    demand_oracle_sees(&paged, &full, 1, &wrong.table, 0, "not finite");
}
END_TEST
#endif

/* ---- Formats --------------------------------------------------------------------- */

/* K and V of 64 values: two blocks a row. */
START_TEST(one_scale_for_a_row_of_blocks_is_seen_by_the_second_opinion) {
    Trial trial;
    trial_open_spec(&trial, 4,
                    "dim=21,layers=2,heads=4,kv_heads=2,head=32,hidden=19,vocab=32,"
                    "ctx=32,tied=0,seed=5");
    rule_full(&trial.rule, &trial.weights.shape, &format_q8_0);
    trial_draw_tokens(&trial, 2, 12);
    Wrapped wrong;
    wrapped_init(&wrong, kernels_select("naive", NULL), NULL);
    Verdict v = trial_run(&trial, NULL);
    ck_assert(v.ran && v.same_bits && v.same_rows && v.same_meaning);
    TrialChange both = {.kernels = {&wrong.table, &wrong.table}};
    TrialChange one = {.kernels = {NULL, &wrong.table}};
    wrong.table.store = mutant_scale_per_row;
    v = trial_run(&trial, &both);
    ck_assert_msg(v.ran && v.same_bits && v.same_rows, "they do not share this fault");
    ck_assert_msg(v.row_off > 100 * SECOND_OPINION_BOUND, "hardly seen: %g", v.row_off);
    v = trial_run(&trial, &one);
    ck_assert(v.ran && !v.same_rows && !v.same_bits);
    trial_close(&trial);
}
END_TEST

/* ---- Caches, by properties of the suite ------------------------------------------ */

static CacheOps broken;
static const CacheOps *right;
static size_t stale[SHADOW_SEQUENCES]; /* of the cache that is open */

static Cache *open_broken(const CacheConfig *config, Memory *memory, Error *err) {
    Cache *cache = contiguous_open(config, memory, err);
    if (!cache) return NULL;
    memset(stale, 0, sizeof stale);
    cache->ops = &broken;
    return cache;
}

static bool find_nothing(const Cache *cache, Error *err) {
    (void)cache;
    (void)err;
    return true;
}

/* Rows are forgotten, but the next step begins where the old text ended. */
static bool crop_remembering(Cache *cache, size_t seq, size_t length, Error *err) {
    if (length == 0) stale[seq] = cache->length[seq];
    return right->crop(cache, seq, length, err);
}

static bool reserve_after_stale_rows(Cache *cache, const size_t *pending, Error *err) {
    for (size_t s = 0; s < cache->sequences; s++) {
        if (pending[s] == 0 || cache->length[s] > 0) continue;
        if (stale[s] + pending[s] <= cache->capacity) cache->length[s] = stale[s];
        stale[s] = 0;
    }
    return right->reserve(cache, pending, err);
}

/* V keeps its rows and its end; where those of new tokens would pass the capacity, they
 * go to their right place. */
static bool crop_k_alone(Cache *cache, size_t seq, size_t length, Error *err) {
    const size_t dead = cache->length[seq] - length;
    for (size_t l = 0; l < cache->shape->layers; l++) {
        const LayerShape *shape = &cache->shape->layer[l];
        void *k, *v;
        right->place(cache, l, seq, length, &k, &v);
        memory_poison(k, dead * cache->rule->layer[l].k->row_bytes(shape->kv_heads,
                                                                   shape->k_size));
    }
    stale[seq] = length == 0 ? 0 : stale[seq] + dead;
    (void)err;
    return true;
}

static void place_v_at_its_end(Cache *cache, size_t layer, size_t seq, size_t position,
                               void **k, void **v) {
    void *ignored;
    right->place(cache, layer, seq, position, k, v);
    if (position + stale[seq] < cache->capacity)
        right->place(cache, layer, seq, position + stale[seq], &ignored, v);
}

static const struct {
    const char *fault;
    const char *property;                                   /* its name in the suite */
    const char *words;                                      /* of what it says */
    CacheOps ops;                                           /* over contiguous, */
    Cache *(*open)(const CacheConfig *, Memory *, Error *); /* or this cache */
    Cache *(*original)(const CacheConfig *, Memory *, Error *);
} faults[] = {
    {.fault = "a reset that keeps the length",
     .property = "random operations agree with a list of rows",
     .words = "tokens, not",
     .ops = {.crop = crop_remembering, .reserve = reserve_after_stale_rows},
     .original = contiguous_open},
    {.fault = "a crop of K but not of V",
     .property = "after a crop, other tokens give what a fresh run gives",
     .words = "differs from the oracle's",
     .ops = {.crop = crop_k_alone, .place = place_v_at_its_end, .check = find_nothing},
     .original = contiguous_open},
    {.fault = "a crop of K but not of V",
     .property = "random operations agree with a list of rows",
     .words = "is not the one that was written",
     .ops = {.crop = crop_k_alone, .place = place_v_at_its_end, .check = find_nothing},
     .original = contiguous_open},
    {.fault = "a block freed twice",
     .property = "random operations agree with a list of rows",
     .words = "free of",
     .open = mutant_paged_freed_twice,
     .original = open_by_4},
    {.fault = "a block freed twice, and no check of the pool",
     .property = "random operations agree with a list of rows",
     .words = "is not the one that was written",
     .open = mutant_paged_freed_twice_silently,
     .original = open_by_4},
    {.fault = "a fork that is not counted, and no check of the pool",
     .property = "both branches of a fork give what fresh runs give",
     .words = "differs from the oracle's",
     .open = mutant_paged_uncounted_fork_silently,
     .original = open_by_4},
    {.fault = "a part block read to its end",
     .property = "random operations agree with a list of rows",
     .words = "the span of position",
     .open = mutant_paged_to_block_end,
     .original = open_by_4},
};

static const ConformProperty *property_called(const char *name) {
    for (size_t i = 0; i < conform_count; i++)
        if (strcmp(conform_properties[i].name, name) == 0)
            return &conform_properties[i];
    ck_abort_msg("no property is called '%s'", name);
    return NULL;
}

static void make_broken(const CacheOps *ops) {
    static Shape shape = {
        .dim = 2, .vocab = 2, .context = 2, .layers = 1, .layer = {{1, 1, 2, 2, 2, 9}}};
    Memory memory = {0};
    Rule rule;
    rule_full(&rule, &shape, &format_f32);
    Cache *cache = contiguous_open(
        &(CacheConfig){.shape = &shape, .rule = &rule, .sequences = 1, .capacity = 2},
        &memory, NULL);
    right = cache->ops;
    broken = *right;
    if (ops->crop) broken.crop = ops->crop;
    if (ops->place) broken.place = ops->place;
    if (ops->reserve) broken.reserve = ops->reserve;
    if (ops->check) broken.check = ops->check;
    cache_close(cache);
}

START_TEST(a_fault_of_a_cache_turns_the_property_of_that_name_red) {
    const ConformProperty *property = property_called(faults[_i].property);
    const ConformTarget original = {"original", faults[_i].original, 0, false};
    Error err = {0};
    ck_assert_msg(property->check(&original, &options, &err), "the original: %s",
                  err.text);
    make_broken(&faults[_i].ops);
    const ConformTarget mutant = {
        "mutant", faults[_i].open ? faults[_i].open : open_broken, 0, false};
    ck_assert_msg(!property->check(&mutant, &options, &err), "%s: not seen",
                  faults[_i].fault);
    ck_assert_msg(strstr(err.text, faults[_i].words) != NULL, "%s: %s",
                  faults[_i].fault, err.text);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("cache_mutants");
    TCase *tests = tcase_create("mutants");
    tcase_set_timeout(tests, 60);
    const TTest *const all[] = {
        w_plus_1_keys_for_w_are_seen_by_memcmp_with_the_oracle,
        slots_for_positions_are_seen_by_memcmp_as_soon_as_the_ring_wraps,
        ranks_for_positions_in_the_denominator_are_seen_by_memcmp_once_keys_are_gone,
#ifdef KVSTEP_CHECKING
        a_part_block_read_to_its_end_is_stopped_by_poison,
#endif
        one_scale_for_a_row_of_blocks_is_seen_by_the_second_opinion};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tcase_add_test(tests, all[i]);
    tcase_add_loop_test(tests, a_fault_of_a_cache_turns_the_property_of_that_name_red,
                        0, sizeof faults / sizeof *faults);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
