/* A kernel table that counts and then calls the real one. The engines do not know.
 *
 * It counts from the arguments of each call; tests/counting proves that these counts
 * are what the naive loops execute and touch, and tests/test_count.c that their sums
 * equal the closed formulas of formula.h. Without a real table it only counts: a step
 * of a wide model can be priced for nothing. */
#ifndef KVSTEP_COUNT_COUNTED_H
#define KVSTEP_COUNT_COUNTED_H

#include "core/count/counters.h"

typedef struct {
    Kernels table;       /* hand &table to an engine */
    const Kernels *real; /* NULL: count only */
    Counters *counters;
    bool
        cache; /* rows are cache traffic; false for recompute, whose rows are its own */
} Counted;

/* Both `real` and `counters` must outlive the table; counts are added to *counters. */
void counted_init(Counted *counted, const Kernels *real, Counters *counters,
                  bool cache);

#endif
