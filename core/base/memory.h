/* Tracked memory: every byte of a run is asked for here, so that "predicted =
 * allocated" can be checked to the byte and every allocation can be made to fail.
 *
 * A Memory counts; a parent counts what its children hold, too. A cache keeps one child
 * for payload and one for metadata and so knows what it reserved without a formula. Not
 * for several threads at once: kernels allocate nothing. */
#ifndef KVSTEP_BASE_MEMORY_H
#define KVSTEP_BASE_MEMORY_H

#include "core/base/error.h"
#include <stddef.h>

typedef struct Memory {
    struct Memory *parent; /* NULL at the top */
    size_t live, peak;     /* bytes asked for and not yet freed; their maximum */
    size_t allocations;    /* successful and failed ones, so far */
    size_t fail_at;        /* the allocation with this number (from 1) fails; 0: none */
} Memory;

/* count x size zeroed bytes on a 64-byte border; a product that overflows, more than
 * the machine has left beside what is held at the top, and memory that is not there are errors. Zero bytes give a pointer
 * that is freed as usual. memory NULL: the block is not tracked. */
void *memory_new(Memory *memory, size_t count, size_t size, Error *err);

/* Gives a block back to the Memory it came from; NULL does nothing. */
void memory_free(Memory *memory, void *block);

/* *product *= factor; false if that overflows (*product is then unchanged). */
bool size_times(size_t *product, size_t factor);

/* Fills dead cells with 0xFF, which is NaN in f32, f16, bf16 and fp8 and in the scale
 * of every block format. Only in the checking build (KVSTEP_CHECKING); else nothing. */
void memory_poison(void *cells, size_t bytes);

/* Whether all bytes are still poison; always true outside the checking build. */
bool memory_is_poisoned(const void *cells, size_t bytes);

#endif
