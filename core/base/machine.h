/* What the fixed bits rest on: round to nearest, subnormals kept, floats of 32 bits, an
 * fma that rounds once. */
#ifndef KVSTEP_BASE_MACHINE_H
#define KVSTEP_BASE_MACHINE_H

#include "core/base/error.h"

/* Call once, before the first step; one line on what this machine or build lacks. */
bool machine_check(Error *err);

#endif
