/* Where the rows of one sequence in one layer stand, as a kernel sees them. */
#ifndef KVSTEP_KERNELS_SPAN_H
#define KVSTEP_KERNELS_SPAN_H

#include <stddef.h>

/* Rows side by side in memory: position `first` and the `count` - 1 after it. */
typedef struct {
    const void *k, *v;     /* the stored row of position `first`; v may lie inside k */
    size_t k_step, v_step; /* bytes to the next row */
    size_t first, count;
} Span;

/* Answers where a position stands. Stateless: two passes and many threads may ask, any
 * number of times, until the cache changes. Kernels ask only for positions below `end`
 * that the rule lets some query of the call see. */
typedef struct Rows {
    /* The span that holds position, starting there (span->first == position). */
    void (*at)(const struct Rows *, size_t position, Span *span);
    const void *owner;
    size_t layer, seq;
    size_t end; /* one past the newest row, uncommitted ones included */
} Rows;

#endif
