/* Threads: the one place that starts them (OpenMP).
 *
 * Kernels cut their *results* into shares, rows, heads, queries, positions or columns,
 * never a sum, so bits do not depend on how many threads there are. A build without
 * OpenMP (MINIMAL, WebAssembly) has one. */
#ifndef KVSTEP_KERNELS_THREADS_H
#define KVSTEP_KERNELS_THREADS_H

#include <stddef.h>

/* Works on share `part` of `parts`; 0 <= part < parts. */
typedef void ThreadsWork(void *context, size_t part, size_t parts);

/* Calls work for every part at once and returns when all are done. parts is `threads`, or
 * fewer where the system grants fewer. */
void threads_run(size_t threads, ThreadsWork *work, void *context);

/* Processors this process may use, or OMP_NUM_THREADS where that is set; 1 in a build without
 * OpenMP. */
size_t threads_available(void);

/* How many of `threads` are worth waking for that many multiply-adds. Waking two took 1.9 us
 * where this was measured, half of what THREADS_GRAIN of them take out of the third
 * cache. */
enum { THREADS_GRAIN = 65536 };
static inline size_t threads_worth(size_t threads, size_t multiply_adds) {
    const size_t worth = 1 + multiply_adds / THREADS_GRAIN;
    return worth < threads ? worth : threads;
}

/* Items first to end - 1 of `count`: share `part` of `parts`, cut at multiples of `grain`. */
typedef struct {
    size_t first, end;
} Share;

static inline Share threads_share(size_t count, size_t grain, size_t part,
                                  size_t parts) {
    const size_t grains = (count + grain - 1) / grain;
    const size_t each = grains / parts, more = grains % parts;
    const size_t before = part * each + (part < more ? part : more);
    const size_t first = before * grain, end = (before + each + (part < more)) * grain;
    return (Share){first < count ? first : count, end < count ? end : count};
}

#endif
