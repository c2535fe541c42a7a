/* What must be true of a paged cache at any time, and which of its rows are live. */
#include "core/cache/paged_inside.h"

#include <assert.h>
#include <string.h>

/* Is an earlier sequence's newest query going to read this very row, too? */
static bool is_counted(const Paged *p, size_t layer, size_t seq, size_t position) {
    const uint32_t block = *entry(p, seq, position / p->block_size);
    for (size_t s = 0; s < seq && p->users[block] > 1; s++) {
        const size_t length = p->cache.length[s];
        if (position < length && *entry(p, s, position / p->block_size) == block &&
            rule_sees(&p->cache.rule->layer[layer], length - 1, position))
            return true;
    }
    return false;
}

/* A shared row counts once, one that a crop came back to after it was given back not.
 */
size_t paged_live(const Cache *cache) {
    const Paged *p = (const Paged *)cache;
    size_t bytes = 0;
    for (size_t l = 0; l < cache->shape->layers; l++)
        for (size_t s = 0; s < cache->sequences; s++)
            for (size_t i = 0; i < cache->length[s]; i++)
                if (rule_sees(&cache->rule->layer[l], cache->length[s] - 1, i) &&
                    *entry(p, s, i / p->block_size) != NO_BLOCK &&
                    !is_counted(p, l, s, i))
                    bytes += row_k_bytes(cache, l) + row_v_bytes(cache, l);
    return bytes;
}

static bool rows_are_poisoned(const Paged *p, uint32_t block, size_t first) {
    const size_t row = block * p->block_size + first, n = p->block_size - first;
    for (size_t l = 0; l < p->cache.shape->layers; l++) {
        const size_t k = row_k_bytes(&p->cache, l), v = row_v_bytes(&p->cache, l);
        if (!memory_is_poisoned(p->layer[l].k + row * k, n * k) ||
            !memory_is_poisoned(p->layer[l].v + row * v, n * v))
            return false;
    }
    return true;
}

static bool check_sequence(const Paged *p, size_t seq, Error *err) {
    const size_t end = p->cache.length[seq] + p->cache.pending[seq];
    const size_t blocks = blocks_for(p, end), tail = end % p->block_size;
    for (size_t b = 0; b < p->table_size; b++) {
        const uint32_t block = *entry(p, seq, b);
        if (b >= blocks ? block != NO_BLOCK : block == NO_BLOCK && is_seen(p, end, b))
            return error_set(err, "sequence %zu: entry %zu of its table is %s", seq, b,
                             b >= blocks ? "left over" : "missing");
        if (b + 1 == blocks && tail > 0 && block != NO_BLOCK && p->users[block] == 1 &&
            !rows_are_poisoned(p, block, tail))
            return error_set(err, "sequence %zu: a row past its %zu tokens was written",
                             seq, end);
    }
    return true;
}

/* Users of a block are the table entries that name it. A block without users stands in the
 * free list, once; one with users does not. */
static bool check_blocks(const Paged *p, Error *err) {
    const size_t entries = p->cache.sequences * p->table_size;
    size_t used = 0;
    assert(p->blocks > 0);
    memset(p->seen, 0, p->blocks * sizeof *p->seen);
    for (size_t i = 0; i < entries; i++)
        if (p->table[i] != NO_BLOCK) p->seen[p->table[i]]++;
    for (uint32_t b = 0; b < p->blocks; b++) {
        if (p->seen[b] != p->users[b])
            return error_set(err, "block %u: %u users are counted, %u tables name it",
                             b, p->users[b], p->seen[b]);
        used += p->users[b] > 0;
    }
    if (used + p->free_count != p->blocks)
        return error_set(err, "%zu blocks used and %zu free of %zu", used,
                         p->free_count, p->blocks);
    for (size_t i = 0; i < p->free_count; i++) {
        const uint32_t block = p->free[(p->free_head + i) % p->blocks];
        if (p->seen[block]++ > 0 || !rows_are_poisoned(p, block, 0))
            return error_set(err, "free block %u is in use", block);
    }
    return true;
}

bool paged_check(const Cache *cache, Error *err) {
    const Paged *p = (const Paged *)cache;
    size_t predicted = 0;
    if (!formula_paged_bytes(cache->shape, cache->rule, p->blocks, p->block_size,
                             &predicted) ||
        predicted != cache->payload.live)
        return error_set(err, "%zu bytes are held, %zu were predicted",
                         cache->payload.live, predicted);
    if (!check_blocks(p, err)) return false;
    for (size_t s = 0; s < cache->sequences; s++)
        if (!check_sequence(p, s, err)) return false;
    return true;
}
