/* The shadow of a cache: per sequence a plain list of what its rows must hold.
 *
 * A row's content is a function of an id drawn when it was appended, so the list is
 * only the ids; a fork copies ids, a crop shortens the list. No model runs: thousands
 * of operations take milliseconds. */
#ifndef KVSTEP_CONFORM_SHADOW_H
#define KVSTEP_CONFORM_SHADOW_H

#include "core/conform/conform.h"

enum { SHADOW_SEQUENCES = 4, SHADOW_CAPACITY = 24, SHADOW_MOST_ROW = 64 };

typedef struct {
    Shape shape;
    Rule rule;
    Cache *cache;
    const Kernels *kernels;
    size_t length[SHADOW_SEQUENCES];
    uint64_t id[SHADOW_SEQUENCES][SHADOW_CAPACITY];
    uint64_t seed, draws; /* of the driver */
} Shadow;

/* A small shape whose layers differ, under the full rule; opens the cache. */
bool shadow_open(Shadow *shadow, const ConformTarget *target, uint64_t seed,
                 Memory *memory, Error *err);
void shadow_close(Shadow *shadow);

/* The next number below `limit` (1 or more). */
size_t shadow_draw(Shadow *shadow, size_t limit);

/* One whole step: n[s] new rows of every sequence with n[s] > 0, committed. A reserve
 * that is refused changes nothing and gives false. */
bool shadow_append(Shadow *shadow, const size_t n[SHADOW_SEQUENCES], Error *err);

/* True if lengths, every visible row, cache_check and the byte counts agree. */
bool shadow_check(const Shadow *shadow, Error *err);

#endif
