#include "core/base/machine.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

bool machine_check(Error *err) {
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
