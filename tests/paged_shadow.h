/* A paged cache of any block size and pool under a shadow: what the tests of paged do to
 * it and demand after every step. */
#ifndef KVSTEP_TESTS_PAGED_SHADOW_H
#define KVSTEP_TESTS_PAGED_SHADOW_H

#include "core/cache/paged.h"
#include "core/conform/shadow.h"
#include "tests/check_main.h"

static size_t block_size, blocks;

static inline Cache *open_paged(const CacheConfig *config, Memory *memory, Error *err) {
    CacheConfig own = *config;
    own.block_size = block_size;
    own.blocks = blocks;
    return paged_open(&own, memory, err);
}

static const ConformTarget paged = {"paged", open_paged, 0, false};
static Shadow shadow; /* 4 sequences of at most 24 tokens, 3 layers, rows that differ */
static Memory memory;

enum { FULL, WINDOWS, SINKS, MIXED }; /* variants of the shadow's rule */

static inline void open_shadow(size_t tokens_in_block, size_t in_pool,
                               uint64_t variant) {
    Error err = {0};
    block_size = tokens_in_block;
    blocks = in_pool;
    memory = (Memory){0};
    ck_assert_msg(shadow_open(&shadow, &paged, variant, &memory, &err), "%s", err.text);
}

static inline void close_shadow(void) {
    shadow_close(&shadow);
    ck_assert_uint_eq(memory.live, 0);
}

static inline void demand_agreement(void) {
    Error err = {0};
    ck_assert_msg(shadow_check(&shadow, &err), "%s", err.text);
}

static inline void append(size_t seq, size_t n) {
    Error err = {0};
    size_t rows[SHADOW_SEQUENCES] = {0};
    rows[seq] = n;
    ck_assert_msg(shadow_append(&shadow, rows, &err), "%s", err.text);
    demand_agreement();
}

static inline void do_fork(size_t from, size_t to) {
    Error err = {0};
    ck_assert_msg(cache_fork(shadow.cache, from, to, &err), "%s", err.text);
    shadow_forked(&shadow, from, to);
    demand_agreement();
}

static inline void drop(size_t seq) {
    cache_remove(shadow.cache, seq);
    shadow_cropped(&shadow, seq, 0);
    demand_agreement();
}

static inline size_t free_blocks(void) {
    return paged_free_blocks(shadow.cache);
}

static inline size_t row_bytes(void) {
    size_t bytes = 0;
    for (size_t l = 0; l < shadow.shape.layers; l++)
        bytes += formula_row_bytes(&shadow.shape.layer[l], &shadow.rule.layer[l]);
    return bytes;
}

#endif
