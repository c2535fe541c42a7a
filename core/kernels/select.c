/* Which build of which kernel set runs on this machine. */
#include "core/base/memory.h"
#include "core/kernels/kernels.h"

#include <string.h>

extern const Kernels naive_kernels_base;
#ifdef KERNELS_HAVE_FMA
extern const Kernels naive_kernels_fma;
#endif

static const Kernels *naive_here(void) {
#ifdef KERNELS_HAVE_FMA
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &naive_kernels_fma;
#endif
    return &naive_kernels_base;
}

const Kernels *kernels_select(const char *name, Error *err) {
    if (strcmp(name, "naive") == 0) return naive_here();
    error_set(err, "no kernel set is called '%s'; there is: naive", name);
    return NULL;
}

const char *part_name(Part part) {
    static const char *const names[PARTS] = {
        [PART_QKV] = "qkv",       [PART_SCORES] = "scores", [PART_VALUES] = "values",
        [PART_OUTPUT] = "output", [PART_MLP] = "mlp",       [PART_LOGITS] = "logits"};
    return names[part];
}

bool attention_scratch(const LayerShape *shape, size_t keys, size_t *floats) {
    size_t wide = shape->k_size > shape->v_size ? shape->k_size : shape->v_size;
    size_t rows = shape->heads, tile = shape->kv_heads;
    return size_times(&rows, keys) && size_times(&tile, wide) &&
           !__builtin_add_overflow(rows, tile, floats) &&
           !__builtin_add_overflow(*floats, shape->v_size + shape->heads, floats);
}
