/* Number formats that are wrong. */
#include "tests/mutants.h"

#include <math.h>
#include <string.h>

/* Each block is packed beside the row's largest value, and that one put right again. */
bool mutant_scale_per_row(const Kernels *kernels, const Format *format,
                          const float *row, size_t heads, size_t size, void *to) {
    enum { VALUES = 32, BYTES = 34 };
    const Kernels *real = wrapped(kernels)->real;
    if (format != &format_q8_0) return real->store(real, format, row, heads, size, to);
    size_t largest = 0;
    for (size_t i = 0; i < heads * size; i++)
        if (fabsf(row[i]) > fabsf(row[largest])) largest = i;
    bool finite = true;
    for (size_t b = 0; b < heads * size / VALUES; b++) {
        float block[VALUES];
        char with_first[BYTES], with_second[BYTES], *stored = (char *)to + b * BYTES;
        memcpy(block, row + b * VALUES, sizeof block);
        block[0] = row[largest];
        finite &= real->store(real, format, block, 1, VALUES, with_first);
        block[0] = row[b * VALUES];
        block[1] = row[largest];
        finite &= real->store(real, format, block, 1, VALUES, with_second);
        memcpy(stored, with_first, BYTES);
        stored[2] = with_second[2]; /* the code of value 0 by the row's scale */
    }
    return finite;
}
