/* Every cache keeps the contract; and the suite that says so can fail. */
#include "tests/check_main.h"
#include "tests/kinds.h"
#include "tests/scattered.h"

#include <string.h>

static const ConformOptions options = {.operations = 8000, .seed = 1};

/* Beside the kinds that everybody knows. */
static const ConformTarget others[] = {
    {"scattered", scattered_open, 0, false},
    {"ring, one row a step", ring_open, 1, false},
    {"ring, 3 rows a step", ring_open, 3, false},
    {"ring, 12 rows a step", ring_open, 12, false},
};

enum { TARGETS = KINDS + sizeof others / sizeof *others };

START_TEST(every_cache_keeps_every_property_of_the_contract) {
    const size_t i = (size_t)_i % TARGETS;
    const ConformTarget *target = i < KINDS ? &kinds[i] : &others[i - KINDS];
    const ConformProperty *property = &conform_properties[(size_t)_i / TARGETS];
    Error err = {0};
    bool holds = property->check(target, &options, &err);
    ck_assert_msg(holds, "%s: %s: %s", target->name, property->name, err.text);
}
END_TEST

/* 40 rows for four sequences of 24. What is asked of it, and what it has no room for. */
static const CacheOps *right_pool;
static size_t asked, refused;

static bool reserve_and_count(Cache *cache, const size_t *pending, Error *err) {
    bool done = right_pool->reserve(cache, pending, err);
    asked++;
    refused += !done;
    return done;
}

static Cache *open_small_pool(const CacheConfig *config, Memory *memory, Error *err) {
    static CacheOps counted;
    CacheConfig own = *config;
    own.block_size = 4;
    own.blocks = 10;
    Cache *cache = paged_open(&own, memory, err);
    if (!cache) return NULL;
    right_pool = cache->ops;
    counted = *cache->ops;
    counted.reserve = reserve_and_count;
    cache->ops = &counted;
    return cache;
}

START_TEST(a_pool_that_is_too_small_refuses_steps_and_nothing_has_changed) {
    Error err = {0};
    const ConformTarget scarce = {"paged, a small pool", open_small_pool, 0, true};
    ck_assert_msg(conform_shadow(&scarce, &options, &err), "%s", err.text);
    ck_assert_uint_gt(refused, 100);
    ck_assert_uint_gt(asked - refused, 1000);
    const ConformTarget plenty = {"paged, a small pool", open_small_pool, 0, false};
    ck_assert_msg(!conform_shadow(&plenty, &options, &err),
                  "a refusal is no failure even where there must be room");
}
END_TEST

/* Faults from outside: contiguous with one operation exchanged. */
static CacheOps broken;

static Cache *open_broken(const CacheConfig *config, Memory *memory, Error *err) {
    Cache *cache = contiguous_open(config, memory, err);
    if (!cache) return NULL;
    CacheOps right = *cache->ops;
#define TAKE(op)                                                                       \
    if (!broken.op) broken.op = right.op
    TAKE(kind);
    TAKE(reserve);
    TAKE(place);
    TAKE(at);
    TAKE(commit);
    TAKE(abandon);
    TAKE(crop);
    TAKE(fork);
    TAKE(slot);
    TAKE(check);
    TAKE(close);
#undef TAKE
    cache->ops = &broken;
    return cache;
}

/* Where a row stands, whether it is alive or not. */
static void row_of_position(const Cache *c, size_t layer, size_t seq, size_t position,
                            void **k, void **v) {
    c->ops->place((Cache *)(uintptr_t)c, layer, seq, position, k, v);
}

static bool fork_without_v(Cache *c, size_t from, size_t to, Error *err) {
    (void)err;
    for (size_t l = 0; l < c->shape->layers; l++)
        for (size_t p = 0; p < c->length[from]; p++) {
            void *from_k, *from_v, *to_k, *to_v;
            row_of_position(c, l, from, p, &from_k, &from_v);
            row_of_position(c, l, to, p, &to_k, &to_v);
            const LayerShape *s = &c->shape->layer[l];
            memcpy(to_k, from_k,
                   c->rule->layer[l].k->row_bytes(s->kv_heads, s->k_size));
        }
    return true;
}

static bool fork_nothing(Cache *c, size_t from, size_t to, Error *err) {
    (void)c;
    (void)from;
    (void)to;
    (void)err;
    return true;
}

static bool crop_without_forgetting(Cache *c, size_t seq, size_t length, Error *err) {
    (void)c;
    (void)seq;
    (void)length;
    (void)err;
    return true;
}

static void abandon_without_forgetting(Cache *c) {
    (void)c;
}

/* Both of these lean on how contiguous lays out rows: one row on, in every layer. */
static void (*right_at)(const Rows *, size_t, Span *);

static void at_one_row_late(const Rows *rows, size_t position, Span *span) {
    right_at(rows, position, span);
    span->k = (const char *)span->k + span->k_step;
}

static void at_one_row_too_many(const Rows *rows, size_t position, Span *span) {
    right_at(rows, position, span);
    span->count++;
}

static void at_stale_first_row(const Rows *rows, size_t position, Span *span) {
    Rows other = *rows;
    other.seq = 0;
    right_at(position == 0 ? &other : rows, position, span);
    if (position == 0) span->count = 1;
}

static bool reserve_and_lose(Cache *c, const size_t *pending, Error *err) {
    (void)pending;
    void *block = memory_new(&c->payload, 1, 8, err);
    memory_free(&c->payload, block);
    if (!block) c->length[0] = 0; /* changed, and yet failed */
    return block;
}

static const struct {
    const char *fault;
    CacheOps ops;
    bool (*property)(const ConformTarget *, const ConformOptions *, Error *);
} faults[] = {
    {"a fork that copies K but not V", {.fork = fork_without_v}, conform_fork},
    {"a fork that copies nothing", {.fork = fork_nothing}, conform_shadow},
    {"K read one row late", {.at = at_one_row_late}, conform_steps},
    {"a span that is one row too long", {.at = at_one_row_too_many}, conform_shadow},
    {"the first row of another sequence", {.at = at_stale_first_row}, conform_ragged},
    {"a reserve that fails with something changed",
     {.reserve = reserve_and_lose},
     conform_allocations},
#ifdef KVSTEP_CHECKING
    {"a crop that leaves dead rows readable",
     {.crop = crop_without_forgetting},
     conform_crop},
    {"an abandon that leaves dead rows readable",
     {.abandon = abandon_without_forgetting},
     conform_dead_rows},
#endif
};

START_TEST(a_broken_cache_is_found_out) {
    Memory memory = {0};
    Shape shape = {
        .dim = 2, .vocab = 2, .context = 2, .layers = 1, .layer = {{1, 1, 2, 2, 2, 9}}};
    Rule rule;
    rule_full(&rule, &shape, &format_f32);
    Cache *cache = contiguous_open(
        &(CacheConfig){.shape = &shape, .rule = &rule, .sequences = 1, .capacity = 2},
        &memory, NULL);
    right_at = cache->ops->at;
    cache_close(cache);

    broken = faults[_i].ops;
    Error err = {0};
    ConformTarget target = {"broken", open_broken, 0, false};
    ck_assert_msg(!faults[_i].property(&target, &options, &err), "%s was not found",
                  faults[_i].fault);
    ck_assert_uint_gt(strlen(err.text), 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("conform");
    TCase *tests = tcase_create("contract");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, every_cache_keeps_every_property_of_the_contract, 0,
                        TARGETS * (int)conform_count);
    tcase_add_test(tests,
                   a_pool_that_is_too_small_refuses_steps_and_nothing_has_changed);
    tcase_add_loop_test(tests, a_broken_cache_is_found_out, 0,
                        sizeof faults / sizeof *faults);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
