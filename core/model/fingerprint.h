/* One number for a model: its shape and the stored bytes of all its weights. A snapshot of
 * one model is refused by another. 0 in the MINIMAL build. */
#ifndef KVSTEP_MODEL_FINGERPRINT_H
#define KVSTEP_MODEL_FINGERPRINT_H

#include "core/model/weights.h"

uint64_t weights_fingerprint(const Weights *weights);

#endif
