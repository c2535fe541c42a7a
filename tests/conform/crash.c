/* A cache that dies as soon as a step begins. */
#define scattered_open open_honest
#include "tests/scattered.c" /* NOLINT: all of it, but for reserve */

#include <signal.h>

static bool reserve_and_die(Cache *cache, const size_t *pending, Error *err) {
    (void)cache;
    (void)pending;
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return error_set(err, "still alive");
}

Cache *kvstep_cache_open(const CacheConfig *config, Memory *memory, Error *err);

Cache *kvstep_cache_open(const CacheConfig *config, Memory *memory, Error *err) {
    static CacheOps deadly;
    Cache *cache = open_honest(config, memory, err);
    if (!cache) return NULL;
    deadly = *cache->ops;
    deadly.reserve = reserve_and_die;
    cache->ops = &deadly;
    return cache;
}
