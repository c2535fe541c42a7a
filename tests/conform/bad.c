/* A cache that forks without copying: the branch has rows that nobody wrote. */
#define scattered_open open_honest
#include "tests/scattered.c" /* NOLINT: all of it, but for the fork */

static bool fork_without_rows(Cache *cache, size_t from, size_t to, Error *err) {
    Scattered *s = (Scattered *)cache;
    if (cache->length[from] > s->free_count) return error_set(err, "no slots are free");
    for (size_t p = 0; p < cache->length[from]; p++) {
        take(s, to, p);
        memset(s->pool + (size_t)*entry(s, to, p) * s->slot_bytes, 0, s->slot_bytes);
    }
    return true;
}

Cache *kvstep_cache_open(const CacheConfig *config, Memory *memory, Error *err);

Cache *kvstep_cache_open(const CacheConfig *config, Memory *memory, Error *err) {
    static CacheOps forgetful;
    Cache *cache = open_honest(config, memory, err);
    if (!cache) return NULL;
    forgetful = *cache->ops;
    forgetful.fork = fork_without_rows;
    cache->ops = &forgetful;
    return cache;
}
