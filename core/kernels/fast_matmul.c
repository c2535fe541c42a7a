/* Matrix times vectors in register tiles: a few weight rows meet a few vectors, each
 * output in a vector of sixteen running sums of its own. A weight is read from memory once
 * per call: a tile's rows stay in the first cache while all vectors pass. */
#include "core/kernels/fast.h"
#include "core/kernels/lanes.h"

#ifdef LANES_PORTABLE
enum { TILE_ROWS = 2, TILE_VECTORS = 2 };
#elif defined(__AVX512F__)
enum { TILE_ROWS = 4, TILE_VECTORS = 4 }; /* 16 of 32 registers */
#else
enum { TILE_ROWS = 2, TILE_VECTORS = 3 }; /* 12 of 16, two to a sum */
#endif

/* rows x vectors outputs; both are constants after inlining. w: weight rows, cols apart;
 * x: vectors, cols apart; out[v * out_step + r]. */
LANES_INLINE void tile(const float *const *w, const float *x, size_t cols, float *out,
                       size_t out_step, size_t rows, size_t vectors) {
    Lanes sum[TILE_ROWS][TILE_VECTORS];
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++) sum[r][v] = lanes_all(0);
    size_t i = 0;
    for (; i + 16 <= cols; i += 16) {
        Lanes b[TILE_VECTORS];
        for (size_t v = 0; v < vectors; v++) b[v] = lanes_load(x + v * cols + i);
        for (size_t r = 0; r < rows; r++) {
            Lanes a = lanes_load(w[r] + i);
            for (size_t v = 0; v < vectors; v++)
                sum[r][v] = lanes_fma(a, b[v], sum[r][v]);
        }
    }
    const size_t left = cols - i;
    for (size_t r = 0; left > 0 && r < rows; r++) {
        Lanes a = lanes_load_some(w[r] + i, left);
        for (size_t v = 0; v < vectors; v++)
            sum[r][v] = lanes_fma_some(a, lanes_load_some(x + v * cols + i, left),
                                       sum[r][v], left);
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < vectors; v++)
            out[v * out_step + r] = lanes_sum(sum[r][v]);
}

/* All vectors against `rows` weight rows. */
LANES_INLINE void strip(const float *const *w, const float *x, size_t n, size_t cols,
                        float *out, size_t out_step, size_t rows) {
    size_t v = 0;
    for (; v + TILE_VECTORS <= n; v += TILE_VECTORS)
        tile(w, x + v * cols, cols, out + v * out_step, out_step, rows, TILE_VECTORS);
    for (; v < n; v++)
        tile(w, x + v * cols, cols, out + v * out_step, out_step, rows, 1);
}

void FAST(fast_matmul)(const Kernels *kernels, Part part, const Matrix *w,
                       const float *x, size_t n, float *out, float *scratch) {
    (void)kernels;
    (void)part;
    const size_t cols = w->cols;
    const bool as_stored = w->format == &format_f32;
    for (size_t r = 0; r < w->rows;) {
        const float *row[TILE_ROWS];
        const size_t rows = w->rows - r < TILE_ROWS ? 1 : TILE_ROWS;
        if (!as_stored)
            w->format->unpack(matrix_row(w, r), w->format->row_bytes(1, cols), rows, 1,
                              cols, scratch);
        for (size_t i = 0; i < rows; i++)
            row[i] =
                as_stored ? (const float *)matrix_row(w, r + i) : scratch + i * cols;
        if (rows == TILE_ROWS)
            strip(row, x, n, cols, out + r, w->rows, TILE_ROWS);
        else
            strip(row, x, n, cols, out + r, w->rows, 1);
        r += rows;
    }
}
