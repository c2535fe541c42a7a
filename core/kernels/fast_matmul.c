/* Matrix times vectors in register tiles. Each output has a vector of sixteen running sums of
 * its own, and sixteen outputs are summed together. One vector: sixteen rows side by side,
 * which also keeps sixteen streams from memory busy. Many: tiles of 4 rows x 4 vectors, in
 * blocks that stay in the second cache while all vectors pass, eight at a time.
 *
 * A stored weight is read once per call and widened in registers; where many vectors meet
 * it, once per block. Threads share the rows. */
#include "core/base/memory.h"
#include "core/kernels/fast.h"
#include "core/kernels/fast_widen.h"
#include "core/kernels/threads.h"

enum {
    MANY = 8,     /* vectors worth widening a block for */
    PIECE = 1024, /* columns; the sums of longer rows are put aside between pieces */
};

typedef struct {
    const Matrix *w;
    const float *x; /* [n][w->cols] */
    size_t n;
    float *out; /* [n][w->rows] */
    float *scratch;
    size_t scratch_each; /* floats a thread */
} Product;

/* Some rows of w, as stored or widened, and where their outputs go. */
typedef struct {
    const char *row;
    size_t rows, step; /* bytes to the next row */
    size_t cols;
    float *out;
    size_t out_step; /* to the output of the next vector */
    float *aside;    /* running sums between pieces */
} Block;

/* Adds columns first to first + count - 1 to the sums s[v * rows + r] of `many` rows from r on
 * and `wide` vectors from v on; many, wide and rows are constants after inlining. */
LANES_INLINE void add_products(Stored as, const char *w, size_t step, const float *x,
                               size_t cols, size_t first, size_t count, size_t r,
                               size_t many, size_t v, size_t wide, size_t rows,
                               Lanes *s) {
    const size_t end = first + count / 16 * 16, left = count % 16;
    const size_t halves = as == AS_Q8_0 ? 2 : 1; /* a block's scale is widened once */
    w += r * step;
    x += v * cols;
    s += v * rows + r;
    for (size_t i = first; i < end; i += 16 * halves) {
        Lanes b[2][4], scale = lanes_all(0);
        LANES_UNROLL for (size_t h = 0; h < halves; h++)
            LANES_UNROLL for (size_t t = 0; t < wide; t++) b[h][t] =
                lanes_load(x + t * cols + i + 16 * h);
        LANES_UNROLL for (size_t j = 0; j < many; j++) {
            const char *row = w + j * step;
            if (as == AS_Q8_0) scale = q8_scale(q8_block(row, i));
            LANES_UNROLL for (size_t h = 0; h < halves; h++) {
                const Lanes a = as == AS_Q8_0
                                    ? q8_values(q8_block(row, i), 16 * h, scale)
                                    : widened(as, row, i);
                LANES_UNROLL for (size_t t = 0; t < wide; t++) s[t * rows + j] =
                    lanes_fma(a, b[h][t], s[t * rows + j]);
            }
        }
    }
    if (left == 0) return;
    LANES_UNROLL for (size_t j = 0; j < many; j++) {
        const Lanes a = widened_some(as, w + j * step, end, left);
        LANES_UNROLL for (size_t t = 0; t < wide; t++) s[t * rows + j] = lanes_fma_some(
            a, lanes_load_some(x + t * cols + end, left), s[t * rows + j], left);
    }
}

/* All rows x vectors sums: at once where they fit into the registers, else four at a
 * time. */
LANES_INLINE void add_tile(Stored as, const char *w, size_t step, const float *x,
                           size_t cols, size_t first, size_t count, size_t rows,
                           size_t vectors, Lanes *s) {
    const size_t many = REGISTERS > 1 ? (vectors > 1 ? 2 : 4) : rows < 8 ? rows : 8;
    const size_t wide = REGISTERS > 1 ? (vectors > 1 ? 2 : 1) : vectors;
    LANES_UNROLL for (size_t r = 0; r < rows; r += many)
        LANES_UNROLL for (size_t v = 0; v < vectors; v += wide)
            add_products(as, w, step, x, cols, first, count, r,
                         rows - r < many ? rows - r : many, v,
                         vectors - v < wide ? vectors - v : wide, rows, s);
}

LANES_INLINE void finish_tile(const Lanes *s, float *out, size_t step, size_t rows,
                              size_t vectors) {
    float sum[16];
    const bool alone = rows * vectors < 16;
    if (!alone) lanes_store(sum, lanes_sums(s));
    for (size_t v = 0; v < vectors; v++)
        for (size_t r = 0; r < rows; r++)
            out[v * step + r] = alone ? lanes_sum(s[v * rows + r]) : sum[v * rows + r];
}

/* Where tile j of `count` items begins: the last one steps back, so that it is whole, and
 * computes a few outputs again. */
static inline size_t tile_at(size_t j, size_t size, size_t count) {
    return j * size < count - size ? j * size : count - size;
}

/* A whole block in tiles; it has at least `rows` rows and there are at least `vectors`. */
LANES_INLINE void run_tiles(Stored as, const Block *b, const float *x, size_t n,
                            size_t rows, size_t vectors) {
    const size_t down = (b->rows + rows - 1) / rows;
    const size_t across = (n + vectors - 1) / vectors, together = MANY / vectors;
    const size_t pieces = vectors < 4 ? 1 : (b->cols + PIECE - 1) / PIECE;
    const size_t piece = (b->cols / 32 / pieces + 1) * 32;
    for (size_t t = 0; t < across; t += together)
        for (size_t first = 0; first < b->cols; first += piece) {
            const bool last = b->cols - first <= piece;
            float *aside = b->aside;
            for (size_t j = 0; j < down; j++)
                for (size_t k = t; k < across && k < t + together; k++, aside += 256) {
                    const size_t r = tile_at(j, rows, b->rows);
                    const size_t v = tile_at(k, vectors, n);
                    Lanes s[16];
                    LANES_UNROLL for (size_t i = 0; i < 16; i++) s[i] =
                        first ? lanes_load(aside + 16 * i) : lanes_all(0);
                    add_tile(as, b->row + r * b->step, b->step, x + v * b->cols,
                             b->cols, first, last ? b->cols - first : piece, rows,
                             vectors, s);
                    if (!last)
                        LANES_UNROLL for (size_t i = 0; i < 16; i++)
                            lanes_store(aside + 16 * i, s[i]);
                    else
                        finish_tile(s, b->out + v * b->out_step + r, b->out_step, rows,
                                    vectors);
                }
        }
}

/* One function per way of storing and size of tile; [as][one vector, two or three, more]. */
typedef void Tiles(const Block *, const float *x, size_t n);
#define TILES(as, rows, vectors)                                                       \
    static __attribute__((noinline)) void as##_##rows##x##vectors(                     \
        const Block *b, const float *x, size_t n) {                                    \
        run_tiles(as, b, x, n, rows, vectors);                                         \
    }
#ifdef LANES_WIDE
#define TILES_OF(as)    TILES(as, 16, 1) TILES(as, 8, 2) TILES(as, 4, 4)
#define TILES_NAMED(as) [as] = {as##_16x1, as##_8x2, as##_4x4}
static const size_t tile_rows[3] = {16, 8, 4};
#else /* four registers to a sum: compilers take minutes over sixteen of them */
#define TILES_OF(as)    TILES(as, 4, 1) TILES(as, 2, 2)
#define TILES_NAMED(as) [as] = {as##_4x1, as##_2x2, as##_2x2}
static const size_t tile_rows[3] = {4, 2, 2};
#endif
TILES_OF(AS_F32)
TILES_OF(AS_F16)
TILES_OF(AS_BF16)
TILES_OF(AS_Q8_0)
TILES(AS_F32, 1, 1)
static Tiles *const all_tiles[AS_OTHER][3] = {TILES_NAMED(AS_F32), TILES_NAMED(AS_F16),
                                              TILES_NAMED(AS_BF16),
                                              TILES_NAMED(AS_Q8_0)};

/* Which of the three a call of n vectors takes, and the rows of its tiles. */
static size_t size_for(size_t n) {
    return n < 2 ? 0 : n < 4 ? 1 : 2;
}

/* Rows of a block: 512 KB of floats at most, which a second cache holds. */
static size_t block_rows(size_t cols) {
    const size_t rows = 131072 / (cols | 1) / 16 * 16;
    return rows < 16 ? 16 : rows > 256 ? 256 : rows;
}

LANES_INLINE void widen_rows(Stored as, const Matrix *w, size_t first, size_t rows,
                             float *to) {
    for (size_t r = 0; r < rows; r++, to += w->cols) {
        const void *row = matrix_row(w, first + r);
        const size_t whole = w->cols / 16 * 16, left = w->cols - whole;
        for (size_t i = 0; i < whole; i += 16) lanes_store(to + i, widened(as, row, i));
        if (left)
            lanes_store_some(to + whole, widened_some(as, row, whole, left), left);
    }
}

static void widen_block(Stored as, const Matrix *w, size_t first, size_t rows,
                        float *to) {
    if (as == AS_F16) {
        widen_rows(AS_F16, w, first, rows, to);
    } else if (as == AS_BF16) {
        widen_rows(AS_BF16, w, first, rows, to);
    } else {
        for (size_t r = 0; r < rows; r++)
            w->format->unpack(matrix_row(w, first + r), 0, 1, 1, w->cols,
                              to + r * w->cols);
    }
}

static void run_rows(const Product *p, size_t first, size_t rows, float *scratch) {
    const Matrix *w = p->w;
    Stored as = stored_as(w->format);
    const size_t bytes = w->format->row_bytes(1, w->cols),
                 most = block_rows(w->cols) + 15;
    Block b = {.row = matrix_row(w, first),
               .rows = rows,
               .step = bytes,
               .cols = w->cols,
               .out = p->out + first,
               .out_step = w->rows,
               .aside = scratch};
    const bool few = rows < tile_rows[size_for(p->n)];
    if (as == AS_OTHER || (as != AS_F32 && (few || p->n >= MANY))) {
        b.aside = scratch + most * w->cols;
        b.row = (const char *)scratch;
        b.step = w->cols * sizeof *scratch;
        widen_block(as, w, first, rows, scratch);
        as = AS_F32;
    }
    (few ? AS_F32_1x1 : all_tiles[as][size_for(p->n)])(&b, p->x, p->n);
}

static void run_share(void *context, size_t part, size_t parts) {
    const Product *p = context;
    if (p->n == 0) return;
    const Share share = threads_share(p->w->rows, 16, part, parts);
    const size_t most = block_rows(p->w->cols);
    for (size_t r = share.first, rows; r < share.end; r += rows) {
        rows = share.end - r < most + 16 ? share.end - r : most;
        run_rows(p, r, rows, p->scratch + part * p->scratch_each);
    }
}

bool FAST(fast_matmul_scratch)(size_t cols, size_t *floats) {
    const size_t rows = block_rows(cols) + 15;
    size_t tiles = (rows + 3) / 4 * 2;
    *floats = rows;
    return size_times(floats, cols) && size_times(&tiles, 256) &&
           !__builtin_add_overflow(*floats, cols > PIECE ? tiles : 0, floats);
}

void FAST(fast_matmul)(const Kernels *kernels, Part part, const Matrix *w,
                       const float *x, size_t n, float *out, float *scratch) {
    (void)part;
    Product p = {.w = w, .x = x, .n = n, .out = out, .scratch = scratch};
    FAST(fast_matmul_scratch)(w->cols, &p.scratch_each);
    threads_run(threads_worth(kernels->threads, n * w->rows * w->cols), run_share, &p);
}
