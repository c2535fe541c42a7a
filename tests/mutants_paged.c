/* A patched copy of the paged cache: its source once more, under other names, and
 * operations that are wrong put in the place of right ones. */
#define paged_open        copied_paged_open
#define paged_free_blocks copied_paged_free_blocks
#include "core/cache/paged.c" // NOLINT(bugprone-suspicious-include)
#undef paged_open
#undef paged_free_blocks

#include "tests/mutants.h"

/* A last block that a crop gives back stands in the free list twice. */
static bool crop_freeing_twice(Cache *cache, size_t seq, size_t length, Error *err) {
    Paged *p = (Paged *)cache;
    const size_t before = p->free_count;
    if (!crop(cache, seq, length, err)) return false;
    if (p->free_count > before && p->free_count < p->blocks)
        put_free(p, p->free[(p->free_head + p->free_count - 1) % p->blocks]);
    return true;
}

static void at_to_block_end(const Rows *rows, size_t position, Span *span) {
    const Paged *p = rows->owner;
    at(rows, position, span);
    span->count = p->block_size - position % p->block_size;
}

/* The other side's blocks, without being counted as a user: nobody copies them before a
 * write, and who leaves first takes them along. */
static bool fork_uncounted(Cache *cache, size_t from, size_t to, Error *err) {
    Paged *p = (Paged *)cache;
    if (!fork_by_sharing(cache, from, to, err)) return false;
    for (size_t b = 0; b < blocks_for(p, cache->length[from]); b++) {
        const uint32_t block = *entry(p, from, b);
        if (block != NO_BLOCK && p->users[block] > 1) p->users[block]--;
    }
    return true;
}

static bool find_nothing(const Cache *cache, Error *err) {
    (void)cache;
    (void)err;
    return true;
}

static Cache *open_with(const CacheOps *ops, const CacheConfig *config, Memory *memory,
                        Error *err) {
    CacheConfig own = *config;
    own.block_size = 4;
    Cache *cache = copied_paged_open(&own, memory, err);
    if (cache) cache->ops = ops;
    return cache;
}

Cache *mutant_paged_freed_twice(const CacheConfig *config, Memory *memory, Error *err) {
    static CacheOps ops;
    ops = operations;
    ops.crop = crop_freeing_twice;
    return open_with(&ops, config, memory, err);
}

Cache *mutant_paged_freed_twice_silently(const CacheConfig *config, Memory *memory,
                                         Error *err) {
    static CacheOps ops;
    ops = operations;
    ops.crop = crop_freeing_twice;
    ops.check = find_nothing;
    return open_with(&ops, config, memory, err);
}

Cache *mutant_paged_to_block_end(const CacheConfig *config, Memory *memory,
                                 Error *err) {
    static CacheOps ops;
    ops = operations;
    ops.at = at_to_block_end;
    return open_with(&ops, config, memory, err);
}

Cache *mutant_paged_uncounted_fork_silently(const CacheConfig *config, Memory *memory,
                                            Error *err) {
    static CacheOps ops;
    ops = operations;
    ops.fork = fork_uncounted;
    ops.check = find_nothing;
    return open_with(&ops, config, memory, err);
}
