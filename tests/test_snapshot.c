/* A snapshot is whole and of this model, or refused with nothing changed; and a text goes
 * on from it as if it had never stopped. */
#include "core/base/hash.h"
#include "core/cache/contiguous.h"
#include "core/cache/growing.h"
#include "core/cache/paged.h"
#include "core/cache/ring.h"
#include "core/cache/snapshot.h"
#include "core/conform/pair.h"
#include "core/model/fingerprint.h"
#include "tests/check_main.h"
#include "tests/fuzz/fuzz_snapshot.c" /* NOLINT: the target itself, for its corpus */

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPEC "dim=64,layers=2,heads=4,kv_heads=2,hidden=20,vocab=17,ctx=64"

enum { SEQUENCES = 3, CAPACITY = 60 };

static const ConformTarget kinds[] = {{"contiguous", contiguous_open, 0, false},
                                      {"growing", growing_open, 0, false},
                                      {"ring", ring_open, 4, false},
                                      {"paged", paged_open, 0, false}};

static const PairRule rules[] = {
    {.spec = SPEC},
    {.spec = SPEC, .recent = 5},
    {.spec = SPEC, .recent = 7, .sinks = 3, .full_layers = 1},
    {.spec = SPEC, .recent = 8, .k = "q8_0", .v = "q4_0"},
    {.spec = SPEC, .k = "fp8", .v = "f16"}};

enum { KINDS = 4, RULES = 5 };

static Memory memory;

static Bytes save(const Pair *p, size_t seq) {
    Error err = {0};
    char *bytes = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&bytes, &size);
    bool saved = cache_save(p->cache, seq, p->token + seq * p->capacity,
                            weights_fingerprint(&p->weights), stream, &err);
    fclose(stream);
    ck_assert_msg(saved, "%s", err.text);
    return (Bytes){(unsigned char *)bytes, size};
}

static bool load(Pair *p, size_t seq, Bytes file, Error *err) {
    int *tokens;
    size_t n;
    bool loaded = cache_load(p->cache, seq, weights_fingerprint(&p->weights), file,
                             &tokens, &n, &memory, err);
    if (!loaded) {
        ck_assert_ptr_null(tokens);
        return false;
    }
    p->length[seq] = n;
    memcpy(p->token + seq * p->capacity, tokens, n * sizeof *tokens);
    memory_free(&memory, tokens);
    return true;
}

static void open_pair(Pair *p, const ConformTarget *kind, const PairRule *rule) {
    Error err = {0};
    ck_assert_msg(pair_open(p, kind, rule, SEQUENCES, CAPACITY, &memory, &err), "%s",
                  err.text);
}

/* Every kind to every kind, under every rule, after windows have wrapped. */
START_TEST(a_text_goes_on_as_if_it_had_never_stopped) {
    const PairRule *rule = &rules[_i % RULES];
    const ConformTarget *from = &kinds[_i / RULES % KINDS],
                        *to = &kinds[_i / RULES / KINDS];
    static const size_t lengths[] = {0, 1, 5, 23, 40};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        Error err = {0};
        Pair a, b;
        open_pair(&a, from, rule);
        open_pair(&b, to, rule);
        ck_assert_msg(pair_feed(&a, 1, lengths[i], 3, &err), "%s", err.text);
        Bytes file = save(&a, 1);
        ck_assert_msg(load(&b, 2, file, &err), "%s", err.text);
        ck_assert_msg(cache_check(b.cache, &err), "%s", err.text);
        Bytes again = save(&b, 2);
        ck_assert_uint_eq(again.size, file.size);
        ck_assert_mem_eq(again.data, file.data, file.size);
        for (size_t step = 0; step < 6; step++) {
            ck_assert(pair_feed(&b, 2, 1, 9, &err));
            ck_assert_msg(pair_check(&b, 2, &err), "%zu tokens from %s to %s: %s",
                          lengths[i], from->name, to->name, err.text);
        }
        free(file.data);
        free(again.data);
        pair_close(&a);
        pair_close(&b);
    }
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(a_fork_that_shares_blocks_is_saved_like_any_other) {
    Error err = {0};
    Pair p;
    open_pair(&p, &kinds[3], &rules[0]);
    ck_assert(pair_feed(&p, 0, 21, 3, &err));
    ck_assert(cache_fork(p.cache, 0, 1, &err));
    pair_forked(&p, 0, 1);
    ck_assert(pair_feed(&p, 1, 2, 4, &err));
    Bytes file = save(&p, 1);
    ck_assert(pair_feed(&p, 1, 5, 5, &err));
    ck_assert_msg(load(&p, 2, file, &err), "%s", err.text);
    ck_assert_uint_eq(p.length[2], 23);
    for (size_t s = 0; s < SEQUENCES; s++) {
        ck_assert(pair_feed(&p, s, 3, 6 + s, &err));
        ck_assert_msg(pair_check(&p, s, &err), "%s", err.text);
    }
    free(file.data);
    pair_close(&p);
}
END_TEST

/* Refused, and the cache as it was: empty sequence, same bytes, no block lost. */
static void demand_refusal(Pair *p, Bytes file, const char *words) {
    Error err = {0};
    const CacheBytes before = cache_bytes(p->cache);
    ck_assert_msg(!load(p, 2, file, &err), "not refused: %s", words);
    ck_assert_msg(strstr(err.text, words) != NULL, "%s: %s", words, err.text);
    const CacheBytes after = cache_bytes(p->cache);
    ck_assert_mem_eq(&before, &after, sizeof before);
    ck_assert_uint_eq(cache_length(p->cache, 2), 0);
    ck_assert_msg(cache_check(p->cache, &err), "%s", err.text);
}

START_TEST(a_file_cut_at_any_byte_or_with_any_bit_flipped_is_refused) {
    Error err = {0};
    Pair p;
    open_pair(&p, &kinds[_i], &rules[2]);
    ck_assert(pair_feed(&p, 0, 11, 3, &err));
    Bytes file = save(&p, 0);
    for (size_t size = 0; size < file.size; size += _i == 0 || size < 300 ? 1 : 17)
        demand_refusal(&p, (Bytes){file.data, size}, "");
    const size_t stride = getenv("LONG") ? 1 : 61; /* all of them in the long tier */
    for (size_t bit = 0; bit < 8 * file.size; bit += bit < 2000 ? 1 : stride) {
        file.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        demand_refusal(&p, file, bit < 64 ? "no snapshot" : "checksum is wrong");
        file.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    ck_assert_msg(load(&p, 2, file, &err), "%s", err.text);
    free(file.data);
    pair_close(&p);
}
END_TEST

/* A changed file whose checksum is right again: the checks behind it must see it. */
static void demand_refusal_at(Pair *p, Bytes file, size_t offset, uint64_t value,
                              size_t n, const char *words) {
    unsigned char kept[8];
    memcpy(kept, file.data + offset, n);
    for (size_t i = 0; i < n; i++)
        file.data[offset + i] = (unsigned char)(value >> (8 * i));
    Hash hash;
    hash_begin(&hash);
    hash_add(&hash, file.data, file.size - 8);
    const uint64_t sum = hash_value(&hash);
    for (size_t i = 0; i < 8; i++)
        file.data[file.size - 8 + i] = (unsigned char)(sum >> (8 * i));
    demand_refusal(p, file, words);
    memcpy(file.data + offset, kept, n);
}

START_TEST(a_lie_with_a_right_checksum_is_refused_by_what_it_is) {
    Error err = {0};
    Pair p;
    open_pair(&p, &kinds[0], &rules[2]);
    ck_assert(pair_feed(&p, 0, 11, 3, &err));
    Bytes file = save(&p, 0);
    const size_t layer = 24, per_layer = 76, tokens = layer + 2 * per_layer;
    demand_refusal_at(&p, file, 8, 2, 4, "has version 2");
    demand_refusal_at(&p, file, 12, 5, 8, "of another model");
    demand_refusal_at(&p, file, 20, 3, 4, "has 3 layers, the cache 2");
    demand_refusal_at(&p, file, layer, 4, 8, "layer 0: the snapshot's kv_heads is 4");
    demand_refusal_at(&p, file, layer + 8, 8, 8, "head size of k is 8");
    demand_refusal_at(&p, file, layer + per_layer + 24, 9, 8,
                      "layer 1: the snapshot's sinks");
    demand_refusal_at(&p, file, layer + per_layer + 32, 9, 8, "window is 9");
    demand_refusal_at(&p, file, layer + 40, 0, 4, "keys are stored before rotation");
    demand_refusal_at(&p, file, layer + 44, 0x363166, 4, "stores K as f16");
    demand_refusal_at(&p, file, layer + 60, 0x363166, 4, "stores V as f16");
    demand_refusal_at(&p, file, tokens, 61, 8, "has 61 tokens; the cache takes 60");
    demand_refusal_at(&p, file, tokens, UINT64_MAX, 8, "tokens; the cache takes 60");
    demand_refusal_at(&p, file, tokens, 10, 8, "");
    demand_refusal_at(&p, file, tokens + 8, 17, 4, "token 17 of the snapshot is not");
    demand_refusal_at(&p, file, tokens + 8 + 44, 12, 8, "holds 12 rows, not 11");
    demand_refusal_at(&p, file, tokens + 8 + 44 + 8, 1, 8, "position 1 stands where 0");
    Bytes longer = {malloc(file.size + 4), file.size + 4};
    memcpy(longer.data, file.data, file.size);
    demand_refusal_at(&p, longer, file.size - 8, 0, 8, "4 bytes too long");
    free(longer.data);
    free(file.data);
    pair_close(&p);
}
END_TEST

START_TEST(another_model_rule_or_format_is_refused_by_name) {
    static const struct {
        PairRule rule;
        const char *words;
    } others[] = {
        {{.spec = SPEC ",seed=2"}, "another model"},
        {{.spec = SPEC, .recent = 5}, "window"},
        {{.spec = SPEC, .recent = 5, .sinks = 1}, "sinks"},
        {{.spec = SPEC, .k = "f16"}, "stores K as f32, the cache as f16"},
        {{.spec = SPEC, .v = "q8_0"}, "stores V as f32, the cache as q8_0"},
        {{.spec = SPEC, .turned_when_read = true}, "stored after rotation"},
    };
    Error err = {0};
    Pair a;
    open_pair(&a, &kinds[0], &rules[0]);
    ck_assert(pair_feed(&a, 0, 11, 3, &err));
    Bytes file = save(&a, 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        Pair b;
        open_pair(&b, &kinds[i % KINDS], &others[i].rule);
        demand_refusal(&b, file, others[i].words);
        pair_close(&b);
    }
    free(file.data);
    pair_close(&a);
}
END_TEST

START_TEST(a_pool_without_room_is_left_as_it_was) {
    Error err = {0};
    Memory own = {0};
    Pair a;
    open_pair(&a, &kinds[0], &rules[0]);
    ck_assert(pair_feed(&a, 0, 40, 3, &err));
    Bytes file = save(&a, 0);
    CacheConfig config = {.shape = &a.weights.shape,
                          .rule = &a.rule,
                          .sequences = 2,
                          .capacity = CAPACITY,
                          .block_size = 4,
                          .blocks = 9};
    Cache *small = paged_open(&config, &own, &err);
    int *tokens;
    size_t n;
    ck_assert(!cache_load(small, 0, weights_fingerprint(&a.weights), file, &tokens, &n,
                          &own, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "needs 10 blocks of 4 tokens; 9 are free"));
    ck_assert_uint_eq(paged_free_blocks(small), 9);
    ck_assert(cache_check(small, &err));
    cache_close(small);
    ck_assert_uint_eq(own.live, 0);
    free(file.data);
    pair_close(&a);
}
END_TEST

static bool write_snapshot(const Pair *p, const char *path, Error *err) {
    FileOut out;
    if (!file_create(path, &out, &memory, err)) return false;
    if (cache_save(p->cache, 0, p->token, weights_fingerprint(&p->weights), out.stream,
                   err))
        return file_commit(&out, err);
    file_discard(&out);
    return false;
}

/* A kill may leave a part of a file: nothing else may be there. Takes it away. */
static size_t remove_parts(const char *folder) {
    size_t parts = 0;
    DIR *dir = opendir(folder);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (*name == '.' || strcmp(name, "text.kv") == 0) continue;
        ck_assert_msg(strncmp(name, "text.kv.part", 12) == 0, "%s was left", name);
        ck_assert_int_eq(unlinkat(dirfd(dir), name, 0), 0);
        parts++;
    }
    closedir(dir);
    return parts;
}

/* A child writes snapshots over and over until it is killed in the middle. */
START_TEST(a_kill_while_writing_leaves_the_old_file) {
    Error err = {0};
    char folder[] = "/tmp/kvstep-snapshot-XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/text.kv", folder);
    Pair p;
    open_pair(&p, &kinds[0], &rules[0]);
    ck_assert(pair_feed(&p, 0, 50, 3, &err));
    ck_assert_msg(write_snapshot(&p, path, &err), "%s", err.text);
    for (unsigned round = 0; round < 12; round++) {
        int status = 0;
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        while (child == 0)
            if (!write_snapshot(&p, path, &err)) _exit(1);
        usleep(20000 + 3371 * round);
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
                      "the child ended by itself: it could not write");
        ck_assert_uint_le(remove_parts(folder), 1);
        Bytes file;
        ck_assert_msg(file_read(path, &file, &memory, &err), "%s", err.text);
        ck_assert_msg(load(&p, 1, file, &err), "%s", err.text);
        ck_assert_uint_eq(p.length[1], 50);
        memory_free(&memory, file.data);
        cache_remove(p.cache, 1);
        pair_cropped(&p, 1, 0);
    }
    pair_close(&p);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(every_allocation_may_fail_while_loading) {
    Error err = {0};
    Pair a;
    open_pair(&a, &kinds[0], &rules[1]);
    ck_assert(pair_feed(&a, 0, 20, 3, &err));
    Bytes file = save(&a, 0);
    CacheConfig config = {.shape = &a.weights.shape,
                          .rule = &a.rule,
                          .sequences = 1,
                          .capacity = CAPACITY};
    size_t failures = 0;
    for (bool loaded = false; !loaded; failures++) {
        Memory own = {0};
        Cache *cache = growing_open(&config, &own, &err);
        int *tokens;
        size_t n;
        own.fail_at = own.allocations + failures + 1;
        loaded = cache_load(cache, 0, weights_fingerprint(&a.weights), file, &tokens,
                            &n, &own, &err);
        ck_assert_uint_eq(cache_length(cache, 0), loaded ? 20 : 0);
        ck_assert_msg(cache_check(cache, &err), "%s", err.text);
        memory_free(&own, tokens);
        cache_close(cache);
        ck_assert_uint_eq(own.live, 0);
    }
    ck_assert_uint_ge(failures, 5);
    free(file.data);
    pair_close(&a);
}
END_TEST

START_TEST(the_corpus_of_the_fuzzer_is_survived) {
    ck_assert_uint_ge(fuzz_replay("tests/fuzz/corpus/snapshot"), 4);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("snapshot");
    TCase *tests = tcase_create("snapshot");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_text_goes_on_as_if_it_had_never_stopped, 0,
                        RULES * KINDS * KINDS);
    tcase_add_test(tests, a_fork_that_shares_blocks_is_saved_like_any_other);
    tcase_add_loop_test(
        tests, a_file_cut_at_any_byte_or_with_any_bit_flipped_is_refused, 0, KINDS);
    tcase_add_test(tests, a_lie_with_a_right_checksum_is_refused_by_what_it_is);
    tcase_add_test(tests, another_model_rule_or_format_is_refused_by_name);
    tcase_add_test(tests, a_pool_without_room_is_left_as_it_was);
    tcase_add_test(tests, a_kill_while_writing_leaves_the_old_file);
    tcase_add_test(tests, every_allocation_may_fail_while_loading);
    tcase_add_test(tests, the_corpus_of_the_fuzzer_is_survived);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
