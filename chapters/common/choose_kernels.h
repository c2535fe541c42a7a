/* The kernel set and the threads that the options name. */
#ifndef KVSTEP_CHAPTERS_CHOOSE_KERNELS_H
#define KVSTEP_CHAPTERS_CHOOSE_KERNELS_H

#include "chapters/common/options.h"
#include "core/kernels/kernels.h"

bool choose_kernels(const Options *options, Kernels *kernels, Error *err);

#endif
