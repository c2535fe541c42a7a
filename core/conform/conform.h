/* The conformance suite: what every cache must do, as properties that can fail.
 *
 * Used by the tests on our own kinds, and meant for a cache that somebody else wrote
 * against cache.h. Each property opens its own caches through the target, drives them
 * and compares with the recomputing oracle or with a shadow model; the first broken one
 * is told in one line. Run it in the checking build too: there dead cells hold NaN. */
#ifndef KVSTEP_CONFORM_CONFORM_H
#define KVSTEP_CONFORM_CONFORM_H

#include "core/cache/cache.h"

/* The cache under test. */
typedef struct {
    const char *name;
    Cache *(*open)(const CacheConfig *, Memory *, Error *);
    size_t chunk; /* most new tokens of a sequence in one step that it takes; 0: any */
    bool scarce;  /* has not room for all sequences at their full length: a step may be
                     refused, and then nothing has changed */
} ConformTarget;

typedef struct {
    size_t operations; /* random operations of the shadow driver */
    uint64_t seed;
} ConformOptions;

typedef struct {
    const char *name; /* a sentence */
    bool (*check)(const ConformTarget *, const ConformOptions *, Error *);
} ConformProperty;

extern const ConformProperty conform_properties[];
extern const size_t conform_count;

/* The properties, by file: with_engines.c */
bool conform_steps(const ConformTarget *, const ConformOptions *, Error *);
bool conform_chunks(const ConformTarget *, const ConformOptions *, Error *);
bool conform_ragged(const ConformTarget *, const ConformOptions *, Error *);
bool conform_crop(const ConformTarget *, const ConformOptions *, Error *);
bool conform_fork(const ConformTarget *, const ConformOptions *, Error *);
bool conform_dead_rows(const ConformTarget *, const ConformOptions *, Error *);
/* shadow.c */
bool conform_shadow(const ConformTarget *, const ConformOptions *, Error *);
/* failures.c */
bool conform_refusals(const ConformTarget *, const ConformOptions *, Error *);
bool conform_allocations(const ConformTarget *, const ConformOptions *, Error *);

#endif
