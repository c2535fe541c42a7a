/* What paged.c and paged_check.c share: the structure and its three plainest questions. */
#ifndef KVSTEP_CACHE_PAGED_INSIDE_H
#define KVSTEP_CACHE_PAGED_INSIDE_H

#include "core/cache/paged.h"
#include "core/cache/row.h"

#include <stdint.h>

#define NO_BLOCK UINT32_MAX

typedef struct {
    char *k, *v; /* [blocks][block_size] stored rows of one layer */
} PagedLayer;

typedef struct {
    Cache cache; /* first member: the contract's view */
    size_t block_size, blocks, table_size;
    uint32_t
        *table; /* [sequences][table_size]; NO_BLOCK: none, or left of every window */
    uint32_t *users; /* [blocks] entries of tables that name the block */
    uint32_t *free;  /* [blocks] a queue in a circle, from free_head on */
    size_t free_head, free_count;
    uint32_t *seen;     /* [blocks] for check alone */
    PagedLayer layer[]; /* [layers] */
} Paged;

static inline uint32_t *entry(const Paged *p, size_t seq, size_t block) {
    return &p->table[seq * p->table_size + block];
}

static inline size_t blocks_for(const Paged *p, size_t tokens) {
    return tokens / p->block_size + (tokens % p->block_size != 0);
}

/* Whether a query at `position`, or a later one, may see a key of this block. */
static inline bool is_seen(const Paged *p, size_t position, size_t block) {
    const size_t first = block * p->block_size, last = first + p->block_size - 1;
    for (size_t l = 0; l < p->cache.shape->layers; l++) {
        const LayerRule *rule = &p->cache.rule->layer[l];
        if (first < rule->sinks || last > position || rule_sees(rule, position, last))
            return true;
    }
    return false;
}

/* Bytes of rows that are live: CacheOps.live. */
size_t paged_live(const Cache *cache);

/* The invariants: CacheOps.check. */
bool paged_check(const Cache *cache, Error *err);

#endif
