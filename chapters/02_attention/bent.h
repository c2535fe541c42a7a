/* Kernels bent from outside, to show what a rule is good for: without the mask, or with
 * positions that are later by a constant. The core itself has no such switch. */
#ifndef KVSTEP_CHAPTERS_ATTENTION_BENT_H
#define KVSTEP_CHAPTERS_ATTENTION_BENT_H

#include "core/base/memory.h"
#include "core/kernels/kernels.h"

typedef struct {
    Kernels table; /* hand &table to an engine */
    const Kernels *real;
    bool no_mask;     /* every query sees every row of the call */
    size_t shift;     /* added to the positions that are turned to, ... */
    size_t first;     /* ... from this token of a batch on */
    size_t *position; /* [room] */
    Memory *memory;
} Bent;

/* room: most tokens of a batch. */
bool bent_open(Bent *bent, const Kernels *real, size_t room, Memory *memory,
               Error *err);
void bent_close(Bent *bent);

#endif
