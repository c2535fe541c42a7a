/* Every kind of cache in every configuration, as targets of the conformance suite. */
#ifndef KVSTEP_TESTS_KINDS_H
#define KVSTEP_TESTS_KINDS_H

#include "core/cache/contiguous.h"
#include "core/cache/growing.h"
#include "core/cache/paged.h"
#include "core/cache/ring.h"
#include "core/conform/conform.h"

/* A target has no room for a configuration: one opener for each. */
#define OPENER(name, open, ...)                                                        \
    static Cache *name(const CacheConfig *config, Memory *memory, Error *err) {        \
        CacheConfig own = *config;                                                     \
        __VA_ARGS__;                                                                   \
        return open(&own, memory, err);                                                \
    }
OPENER(open_each, growing_open, own.growth = GROWTH_EACH)
OPENER(open_doubling, growing_open, own.growth = GROWTH_DOUBLE)
OPENER(open_by_256, growing_open, own.growth = GROWTH_256)
OPENER(open_paged_1, paged_open, own.block_size = 1)
OPENER(open_paged_4, paged_open, own.block_size = 4)
OPENER(open_paged_16, paged_open, own.block_size = 16)
OPENER(open_paged_64, paged_open, own.block_size = 64)

/* All that take a step of any length. */
static const ConformTarget kinds[] = {
    {"contiguous", contiguous_open, 0, false},
    {"growing, each step", open_each, 0, false},
    {"growing, doubling", open_doubling, 0, false},
    {"growing, by 256", open_by_256, 0, false},
    {"ring, any step", ring_open, 0, false},
    {"paged by 1", open_paged_1, 0, false},
    {"paged by 4", open_paged_4, 0, false},
    {"paged by 16", open_paged_16, 0, false},
    {"paged by 64", open_paged_64, 0, false},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

#endif
