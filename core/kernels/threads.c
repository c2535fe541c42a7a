#include "core/kernels/threads.h"

#ifdef _OPENMP
#include <omp.h>

void threads_run(size_t threads, ThreadsWork *work, void *context) {
    if (threads <= 1) {
        work(context, 0, 1);
        return;
    }
#pragma omp parallel num_threads((int)threads)
    work(context, (size_t)omp_get_thread_num(), (size_t)omp_get_num_threads());
}

size_t threads_available(void) {
    return (size_t)omp_get_max_threads();
}

#else

void threads_run(size_t threads, ThreadsWork *work, void *context) {
    (void)threads;
    work(context, 0, 1);
}

size_t threads_available(void) {
    return 1;
}

#endif
