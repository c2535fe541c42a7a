/* A kernel table that shows each call to a listener after the real one has run: how a
 * chapter opens the model up without a second forward pass. The engines do not know. */
#ifndef KVSTEP_COUNT_OBSERVED_H
#define KVSTEP_COUNT_OBSERVED_H

#include "core/kernels/kernels.h"

typedef enum {
    CALL_EMBED,
    CALL_NORM,
    CALL_MATMUL,
    CALL_ROPE,
    CALL_ATTENTION,
    CALL_SWIGLU,
    CALL_ADD
} CallKind;

/* One kernel call that has just run. Pointers are good until the listener returns. */
typedef struct {
    CallKind kind;
    Part part;           /* of a matmul */
    size_t n;            /* rows of the batch, 1 where the kernel sees elements only */
    size_t in, out;      /* values per row going in and coming out */
    const float *result; /* [n][out] */
    uint64_t multiply_adds;
    const Attention *attention; /* of CALL_ATTENTION, with probs; else NULL */
} KernelCall;

typedef void KernelListener(const KernelCall *call, void *data);

typedef struct {
    Kernels table; /* hand &table to an engine */
    const Kernels *real;
    KernelListener *listener;
    void *data;
    float *probs; /* where attention's weights go: the caller's [n][heads][end]; may be
                     NULL */
} Observed;

void observed_init(Observed *observed, const Kernels *real, KernelListener *listener,
                   void *data, float *probs);

#endif
