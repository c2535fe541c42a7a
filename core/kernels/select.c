/* Which build of which kernel set runs on this machine. */
#include "core/base/memory.h"
#include "core/kernels/kernels.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
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

bool kernels_check_machine(Error *err) {
    /* volatile: the compiler must not answer from its own arithmetic. */
    volatile float tiny = FLT_MIN, half = 0.5f;
    volatile float a = 1.0f + 0x1p-12f, c = -(1.0f + 0x1p-11f);
    /* 16: _Float16 too has its own width (gcc for AVX512-FP16); float is as in 0. */
    if (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16)
        return error_set(err, "this build keeps floats wider than 32 bits; build for a "
                              "machine with FLT_EVAL_METHOD 0");
#ifdef FE_TONEAREST
    if (fegetround() != FE_TONEAREST)
        return error_set(err,
                         "the rounding mode is not to nearest; the bits would differ");
#endif
    if (tiny * half == 0)
        return error_set(err,
                         "subnormal numbers are flushed to zero here; the bits would "
                         "differ");
    if (fmaf(a, a, c) != 0x1p-24f)
        return error_set(err, "fmaf rounds twice here; the bits would differ");
    return true;
}
