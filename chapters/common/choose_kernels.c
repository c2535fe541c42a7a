#include "chapters/common/choose_kernels.h"
#include "core/kernels/threads.h"

bool choose_kernels(const Options *options, Kernels *kernels, Error *err) {
    const Kernels *set = kernels_select(options->kernels, err);
    if (!set) return false;
    *kernels =
        kernels_on(set, options->threads ? options->threads : threads_available());
    return true;
}
