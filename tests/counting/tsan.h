/* Which bytes the instrumented kernels touch.
 *
 * gcc -fsanitize=thread puts a call of __tsan_readN or __tsan_writeN in front of each
 * load and store. tsan.c is those functions, and nothing of the race detector: a byte
 * inside a registered range is marked, all others are ignored. */
#ifndef KVSTEP_TESTS_COUNTING_TSAN_H
#define KVSTEP_TESTS_COUNTING_TSAN_H

#include <stddef.h>
#include <stdint.h>

/* What a range holds. */
enum { TOUCHED_WEIGHTS, TOUCHED_RECOMPUTE_ROWS, TOUCHED_CACHED_ROWS, TOUCHED_KINDS };

/* Different bytes read and written since touched_restart(). */
typedef struct {
    size_t read, written;
} Touched;

extern uint64_t counting_madds;

void touched_register(int kind, const void *start, size_t bytes);
void touched_forget(void); /* all ranges */

/* From here on every byte counts as new. */
void touched_restart(void);
Touched touched(int kind);

#endif
