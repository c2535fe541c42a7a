/* What must be refused, and what happens when memory runs out: nothing may change. */
#include "core/conform/shadow.h"

#include <stdio.h>

/* A call that must fail; afterwards the shadow still agrees. */
static bool refused(const Shadow *s, bool succeeded, const char *what, Error *err) {
    if (succeeded) return error_set(err, "%s was not refused", what);
    return shadow_check(s, err) || error_at(err, what);
}

/* One row a step: every cache takes that. */
static bool append_slowly(Shadow *s, size_t seq, size_t n, Error *err) {
    size_t one[SHADOW_SEQUENCES] = {0};
    one[seq] = 1;
    for (size_t i = 0; i < n; i++)
        if (!shadow_append(s, one, err)) return false;
    return true;
}

bool conform_refusals(const ConformTarget *target, const ConformOptions *o,
                      Error *err) {
    Memory memory = {0};
    Shadow s;
    Error why;
    if (!shadow_open(&s, target, 4 * o->seed, &memory, err)) return false;
    const size_t zero = 0, one = 1, over = SHADOW_CAPACITY + 1, none = SHADOW_SEQUENCES;
    const size_t two_seq[] = {2, 1}, too_many[] = {3, SHADOW_CAPACITY}, same[] = {1, 1};
    bool holds =
        append_slowly(&s, 0, 7, err) && append_slowly(&s, 1, 5, err) &&
        refused(&s, cache_reserve(s.cache, 1, &zero, &over, &why), "a row too many",
                err) &&
        refused(&s, cache_reserve(s.cache, 1, &none, &one, &why), "a sequence too high",
                err) &&
        refused(&s, cache_reserve(s.cache, 1, &one, &zero, &why), "no row", err) &&
        refused(&s, cache_reserve(s.cache, 2, same, same, &why), "a sequence twice",
                err) &&
        /* The second of two does not fit: the first must not have got its rows. */
        refused(&s, cache_reserve(s.cache, 2, two_seq, too_many, &why), "half a step",
                err) &&
        refused(&s, cache_fork(s.cache, 0, 1, &why), "a fork onto tokens", err) &&
        refused(&s, cache_fork(s.cache, 0, 0, &why), "a fork onto itself", err) &&
        refused(&s, cache_crop(s.cache, none, 0, &why), "a crop of no sequence", err) &&
        append_slowly(&s, 0, SHADOW_CAPACITY - 7, err) &&
        append_slowly(&s, 2, 1, err) && shadow_check(&s, err);
    shadow_close(&s);
    return holds;
}

/* Opens, appends, forks and appends again, with allocation number `fail_at` failing.
 * When a call fails its state must be as before; repeated, it must work. */
static bool survive(const ConformTarget *target, const ConformOptions *o,
                    size_t fail_at, bool *failed, Error *err) {
    Memory memory = {.fail_at = fail_at};
    Shadow s;
    Error why;
    bool holds = true;
    if (!shadow_open(&s, target, o->seed + fail_at, &memory, &why) &&
        !(holds = memory.live == 0))
        error_set(err, "a failed open kept %zu bytes", memory.live);
    for (size_t round = 0; holds && s.cache && round < 4; round++) {
        size_t n[SHADOW_SEQUENCES] = {s.chunk < 3 ? 1 : 3, round % 2, 0, 0};
        holds = shadow_append(&s, n, &why) ||
                (shadow_check(&s, err) && shadow_append(&s, n, err));
        holds = holds && shadow_check(&s, err);
    }
    if (holds && s.cache) {
        holds = cache_fork(s.cache, 0, 3, &why) ||
                (shadow_check(&s, err) && cache_fork(s.cache, 0, 3, err));
        shadow_forked(&s, 0, 3);
        holds = holds && shadow_check(&s, err);
    }
    *failed = memory.allocations >= fail_at;
    shadow_close(&s);
    if (holds && memory.live != 0)
        holds = error_set(err, "%zu bytes were never freed", memory.live);
    return holds;
}

bool conform_allocations(const ConformTarget *target, const ConformOptions *o,
                         Error *err) {
    bool failed = true;
    for (size_t fail_at = 1; failed; fail_at++)
        if (!survive(target, o, fail_at, &failed, err)) {
            char where[40];
            snprintf(where, sizeof where, "allocation %zu fails", fail_at);
            return error_at(err, where);
        }
    return true;
}
