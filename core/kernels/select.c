/* Which build of which kernel set runs on this machine. */
#include "core/base/memory.h"
#include "core/kernels/fast.h"

#include <string.h>

extern const Kernels naive_kernels_base;
#ifdef KERNELS_HAVE_FMA
extern const Kernels naive_kernels_fma, fast_kernels_fma, fast_kernels_avx512;

static bool has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

static bool has_fma(void) {
    return __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("fma"); /* so f16c */
}
#endif

static const Kernels *naive_here(void) {
#ifdef KERNELS_HAVE_FMA
    if (has_fma()) return &naive_kernels_fma;
#endif
    return &naive_kernels_base;
}

static const Kernels *fast_here(void) {
#ifdef KERNELS_HAVE_FMA
    if (has_avx512()) return &fast_kernels_avx512;
    if (has_fma()) return &fast_kernels_fma;
#endif
    return &fast_kernels_base;
}

const Kernels *kernels_select(const char *name, Error *err) {
    if (strcmp(name, "naive") == 0) return naive_here();
    if (strcmp(name, "fast") == 0) return fast_here();
    error_set(err, "no kernel set is called '%s'; there are: naive fast", name);
    return NULL;
}

const char *part_name(Part part) {
    static const char *const names[PARTS] = {
        [PART_QKV] = "qkv",       [PART_SCORES] = "scores", [PART_VALUES] = "values",
        [PART_OUTPUT] = "output", [PART_MLP] = "mlp",       [PART_LOGITS] = "logits"};
    return names[part];
}

/* The fast set needs more than the naive one. */
bool attention_scratch(const LayerShape *shape, size_t keys, size_t threads,
                       size_t *floats) {
    return FAST(fast_attention_scratch)(shape, keys, floats) &&
           size_times(floats, threads);
}

bool matmul_scratch(size_t cols, size_t threads, size_t *floats) {
    return FAST(fast_matmul_scratch)(cols, floats) && size_times(floats, threads);
}
