/* The rotation tables: the only place in core that calls pow, cos and sin. */
#ifndef KVSTEP_MODEL_ROPE_H
#define KVSTEP_MODEL_ROPE_H

#include "core/base/memory.h"
#include "core/kernels/kernels.h"

/* cos and sin for positions 0 to positions - 1, of angle = position * base^(-2 i /
 * rot), both in double, rounded once to float. Made before the first step. */
bool rope_open(RopeTable *table, size_t rot, double base, size_t positions,
               Memory *memory, Error *err);
void rope_close(RopeTable *table, Memory *memory);

#endif
