/* The shadow of a cache: per sequence a plain list of what its rows must hold.
 *
 * A row's content is a function of an id given when it was appended, so the list is
 * only the ids; a fork copies ids, a crop shortens the list. No model runs: thousands
 * of operations take milliseconds. */
#ifndef KVSTEP_CONFORM_SHADOW_H
#define KVSTEP_CONFORM_SHADOW_H

#include "core/conform/conform.h"

enum { SHADOW_SEQUENCES = 4, SHADOW_CAPACITY = 24, SHADOW_MOST_ROW = 96 };

typedef struct {
    Shape shape;
    Rule rule;
    Cache *cache;
    const Kernels *kernels;
    bool scarce;  /* of the target */
    size_t chunk; /* most new tokens of a sequence in one step */
    size_t length[SHADOW_SEQUENCES];
    uint64_t id[SHADOW_SEQUENCES][SHADOW_CAPACITY];
    uint64_t ids; /* given so far */
} Shadow;

/* A small shape whose layers differ; opens the cache. `variant` chooses the rule: full,
 * windows that differ by layer, sinks, number formats. */
bool shadow_open(Shadow *shadow, const ConformTarget *target, uint64_t variant,
                 Memory *memory, Error *err);
void shadow_close(Shadow *shadow);

/* One whole step: n[s] new rows of every sequence with n[s] > 0, committed. A reserve
 * that is refused changes nothing and gives false. */
bool shadow_append(Shadow *shadow, const size_t n[SHADOW_SEQUENCES], Error *err);

/* As shadow_append, but the rows are written with other content and then abandoned. */
bool shadow_abandon(Shadow *shadow, const size_t n[SHADOW_SEQUENCES], Error *err);

/* Saves sequence `from` and loads it into `to`, which must be empty for that to be
 * allowed. False if it went otherwise than it should. */
bool shadow_reload(Shadow *shadow, size_t from, size_t to, Error *err);

/* The lists follow what the cache did. */
void shadow_cropped(Shadow *shadow, size_t seq, size_t length);
void shadow_forked(Shadow *shadow, size_t from, size_t to);

/* True if lengths, every row that is still needed, cache_check and the byte counts
 * agree. */
bool shadow_check(const Shadow *shadow, Error *err);

#endif
