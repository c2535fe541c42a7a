/* What one step of one engine did, in exact units.
 *
 * FLOPs: a multiply-add is 2, by part (Part in kernels.h); their sum is the `total` of
 * tables and JSON. Elements: what norms, RoPE, softmax, SwiGLU and residuals touch; not
 * FLOPs. Bytes: distinct bytes touched by one kernel call, summed over calls, the same
 * for every kernel set; activations and RoPE tables are not counted.
 *
 * elementwise, per row and layer: norm dim (twice), RoPE `rot` per head turned
 * (queries, again for sinks, keys when stored or once per call when turned on reading),
 * softmax one per visible pair and query head, SwiGLU hidden, residual 2 x dim; at the
 * end norm dim per row of logits. */
#ifndef KVSTEP_COUNT_COUNTERS_H
#define KVSTEP_COUNT_COUNTERS_H

#include "core/kernels/kernels.h"

typedef struct {
    uint64_t flops[PARTS];
    uint64_t elementwise;
    uint64_t weight_bytes_read; /* each matrix and norm as stored, once per call; of the
                                   embedding the rows of the distinct tokens */
    uint64_t kv_bytes_read;     /* stored rows that some query of the call may see, once
                                   however many heads and queries share them */
    uint64_t kv_bytes_written;  /* stored rows; both are 0 for recompute: no cache */
} Counters;

uint64_t counters_flops(const Counters *counters);

void counters_add(Counters *sum, const Counters *more);

#endif
