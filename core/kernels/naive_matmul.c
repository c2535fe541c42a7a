/* Matrix times vectors: one dot product per output, in the order of sum.h. A weight row
 * is widened once and then meets every vector of the batch. */
#include "core/kernels/naive.h"
#include "core/kernels/sum.h"

void NAIVE(naive_matmul)(const Kernels *kernels, Part part, const Matrix *w,
                         const float *x, size_t n, float *out, float *scratch) {
    (void)kernels;
    (void)part;
    for (size_t j = 0; j < w->rows; j++) {
        w->format->unpack(matrix_row(w, j), 0, 1, 1, w->cols, scratch);
        for (size_t t = 0; t < n; t++)
            out[t * w->rows + j] = dot(scratch, x + t * w->cols, w->cols);
    }
}
