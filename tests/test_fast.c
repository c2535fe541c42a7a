/* The fast set has the bits of the naive one: kernel by kernel, on random shapes with every
 * kind of tail, from any address, in every build that runs on this machine, with one
 * thread and with several. */
#include "core/base/random.h"
#include "core/model/rope.h"
#include "tests/check_main.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const Kernels fast_kernels_base;
extern const Kernels fast_kernels_fma __attribute__((weak)); /* not on every machine */
extern const Kernels fast_kernels_avx512 __attribute__((weak));

static const size_t thread_counts[] = {1, 2, 3, 8};
enum { BUILDS = 3, THREAD_COUNTS = 4, RUNS = BUILDS * THREAD_COUNTS, CASES = 120 };

/* Build i of the set, or NULL where this machine cannot run it. */
static const Kernels *build(int i) {
    if (i == 0) return &fast_kernels_base;
#if defined(__x86_64__)
    if (i == 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &fast_kernels_fma;
    if (i == 2 && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return &fast_kernels_avx512;
#endif
    return NULL;
}

static const Kernels *naive;
static const Kernels *fast;
static Kernels with_threads;
static uint64_t seed;
static size_t cases;

/* i counts builds and, within each, numbers of threads. */
static void choose(int i) {
    Error err = {0};
    naive = kernels_select("naive", &err);
    fast = build(i / THREAD_COUNTS);
    seed = 1;
    if (!fast) {
        printf("skipped: build %d of the fast set does not run here\n",
               i / THREAD_COUNTS);
        return;
    }
    with_threads = kernels_on(fast, thread_counts[i % THREAD_COUNTS]);
    cases =
        with_threads.threads > 2 ? CASES / 6 : CASES; /* more than processors: slow */
    fast = &with_threads;
}

static size_t draw(size_t least, size_t most) {
    return least + random_draw(7, 0, seed++) % (most - least + 1);
}

/* Values of many sizes, some zero and some minus zero. */
static void fill(float *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t d = random_draw(11, seed, i);
        const float sign = d & 1 ? -1.0f : 1.0f;
        x[i] =
            d % 13 == 0 ? sign * 0.0f : sign * ldexpf(random_unit(d), (int)(d % 9) - 6);
    }
    seed++;
}

/* Ends where a page ends that nobody may touch: a read past the last float is a fault. */
static float *guarded(size_t n) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t pages = (n * sizeof(float) + page - 1) / page + 1;
    char *start = mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(start, MAP_FAILED);
    ck_assert_int_eq(mprotect(start + (pages - 1) * page, page, PROT_NONE), 0);
    return (float *)(start + (pages - 1) * page) - n;
}

static void release(float *x, size_t n) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t pages = (n * sizeof(float) + page - 1) / page + 1;
    munmap((char *)(x + n) - (pages - 1) * page, pages * page);
}

START_TEST(a_matrix_product_has_the_bits_of_the_naive_one) {
    static const char *const formats[] = {"f32", "f32", "f16", "bf16", "q8_0", "q4_0"};
    choose(_i);
    for (size_t i = 0; fast && i < cases; i++) {
        const Format *format = format_find(formats[i % 6]);
        const size_t rows = draw(1, i % 4 ? 40 : 300), n = draw(0, i % 5 ? 13 : 40);
        size_t cols = i % 6 >= 4 ? 32 * draw(1, 9) : draw(1, 300), floats;
        if (i % 20 == 7) cols = 32 * draw(31, 70); /* rows in pieces */
        const size_t bytes = format->row_bytes(1, cols);
        float *x = guarded(n * cols + 1) + 1, *a = guarded(n * rows),
              *b = guarded(n * rows);
        float *plain = malloc(rows * cols * sizeof *plain);
        float *stored = guarded((rows * bytes + 3) / 4), *scratch;
        char *data = (char *)(stored + (rows * bytes + 3) / 4) - rows * bytes;
        if (format == &format_f32) data = (char *)stored;
        ck_assert(matmul_scratch(cols, fast->threads, &floats));
        scratch = guarded(floats);
        fill(x, n * cols);
        fill(plain, rows * cols);
        for (size_t r = 0; r < rows; r++)
            ck_assert(format->pack(plain + r * cols, 1, cols, data + r * bytes));
        const Matrix w = {data, format, rows, cols};
        naive->matmul(naive, PART_MLP, &w, x, n, a, scratch);
        fast->matmul(fast, PART_MLP, &w, x, n, b, scratch);
        ck_assert_msg(memcmp(a, b, n * rows * sizeof *a) == 0,
                      "%s, %zu x %zu, %zu vectors", format->name, rows, cols, n);
        free(plain);
        release(x - 1, n * cols + 1);
        release(a, n * rows);
        release(b, n * rows);
        release(stored, (rows * bytes + 3) / 4);
        release(scratch, floats);
    }
}
END_TEST

START_TEST(the_kernels_of_rows_have_the_bits_of_the_naive_ones) {
    choose(_i);
    for (size_t i = 0; fast && i < cases; i++) {
        const size_t n = draw(0, 5), size = draw(1, 300), all = n * size;
        float *x = guarded(all), *y = guarded(all), *w = guarded(size),
              *a = guarded(all), *b = guarded(all);
        fill(x, all);
        fill(y, all);
        fill(w, size);
        naive->rms_norm(naive, x, w, 1e-5f, n, size, a);
        fast->rms_norm(fast, x, w, 1e-5f, n, size, b);
        ck_assert_msg(memcmp(a, b, all * sizeof *a) == 0, "norm of %zu x %zu", n, size);
        memcpy(a, x, all * sizeof *a);
        memcpy(b, x, all * sizeof *b);
        naive->add(naive, a, y, all);
        fast->add(fast, b, y, all);
        ck_assert_mem_eq(a, b, all * sizeof *a);
        naive->swiglu(naive, a, y, all);
        fast->swiglu(fast, b, y, all);
        ck_assert_msg(memcmp(a, b, all * sizeof *a) == 0, "swiglu of %zu", all);
        release(x, all);
        release(y, all);
        release(w, size);
        release(a, all);
        release(b, all);
    }
}
END_TEST

/* SwiGLU of up = 1 shows exp over its whole range, ends, infinities and NaN too. */
START_TEST(exp_has_the_same_bits_everywhere) {
    choose(_i);
    enum { N = 1000 };
    float a[N], b[N], up[N];
    for (size_t i = 0; i < N; i++) up[i] = 1;
    for (uint32_t block = 0; fast && block < 1000; block++) {
        for (size_t i = 0; i < N; i++) {
            const uint32_t bits = (uint32_t)random_draw(3, block, i);
            memcpy(&a[i], &bits, sizeof bits);
        }
        a[0] = INFINITY, a[1] = -INFINITY, a[2] = NAN, a[3] = 87.33654f,
        a[4] = -88.72283f;
        memcpy(b, a, sizeof b);
        naive->swiglu(naive, a, up, N);
        fast->swiglu(fast, b, up, N);
        for (size_t i = 0; i < N; i++)
            ck_assert_msg(memcmp(&a[i], &b[i], sizeof *a) == 0 ||
                              (isnan(a[i]) && isnan(b[i])),
                          "block %u, value %zu: %a, not %a", block, i, (double)b[i],
                          (double)a[i]);
    }
}
END_TEST

START_TEST(a_rotation_has_the_bits_of_the_naive_one) {
    Memory memory = {0};
    Error err = {0};
    choose(_i);
    for (size_t i = 0; fast && i < cases; i++) {
        const size_t size = draw(1, 70), rot = 2 * draw(0, size / 2),
                     heads = draw(1, 5);
        const size_t n = draw(1, 4), all = n * heads * size;
        size_t position[4];
        float *a = guarded(all), *b = guarded(all);
        RopeTable table;
        ck_assert(rope_open(&table, rot, 10000, 500, &memory, &err));
        for (size_t t = 0; t < n; t++) position[t] = draw(0, 499);
        fill(a, all);
        memcpy(b, a, all * sizeof *b);
        naive->rope(naive, &table, position, n, heads, size, a);
        fast->rope(fast, &table, position, n, heads, size, b);
        ck_assert_msg(memcmp(a, b, all * sizeof *a) == 0, "%zu x %zu, rot %zu", heads,
                      size, rot);
        rope_close(&table, &memory);
        release(a, all);
        release(b, all);
    }
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

/* Rows of one sequence in spans of a few rows each, dead bytes between them. */
typedef struct {
    char *k, *v;
    size_t k_step, v_step, run;
} Store;

static void at(const Rows *rows, size_t position, Span *span) {
    const Store *s = rows->owner;
    const size_t left = rows->end - position, run = s->run - position % s->run;
    *span = (Span){.k = s->k + position * s->k_step,
                   .v = s->v + position * s->v_step,
                   .k_step = s->k_step,
                   .v_step = s->v_step,
                   .first = position,
                   .count = run < left ? run : left};
}

static char *pack_rows(const Format *format, size_t n, size_t heads, size_t size,
                       size_t step) {
    float *row = malloc(heads * size * sizeof *row);
    char *stored = malloc(n * step);
    for (size_t i = 0; i < n; i++) {
        fill(row, heads * size);
        ck_assert(format->pack(row, heads, size, stored + i * step));
    }
    free(row);
    return stored;
}

static void compare_attention(size_t i, Memory *memory) {
    static const char *const names[] = {"f32", "f16", "bf16", "q8_0", "q4_0", "fp8"};
    const Format *kf = format_find(names[i % 6]), *vf = format_find(names[i / 6 % 6]);
    const bool blocks = i % 6 == 3 || i % 6 == 4 || i / 6 % 6 == 3 || i / 6 % 6 == 4;
    const size_t kv = draw(1, 3), heads = kv * draw(1, 4),
                 end = draw(1, i % 7 ? 90 : 700);
    const size_t k_size = blocks ? 32 : draw(1, 70), v_size = blocks ? 32 : draw(1, 70);
    const size_t n = draw(1, end < 20 ? end : 20);
    LayerRule rule = {.recent = RULE_ALL, .k = kf, .v = vf, .keys_turned = i % 4 != 1};
    if (i % 3) rule.recent = draw(1, 40);
    if (i % 3 == 2) rule.sinks = draw(1, 20);
    Error err = {0};
    RopeTable rope;
    ck_assert(rope_open(&rope, k_size / 2 * 2, 10000, end, memory, &err));
    Store store = {.k_step = kf->row_bytes(kv, k_size),
                   .v_step = vf->row_bytes(kv, v_size),
                   .run = draw(1, 33)};
    store.k = pack_rows(kf, end, kv, k_size, store.k_step);
    store.v = pack_rows(vf, end, kv, v_size, store.v_step);
    const Rows rows = {.at = at, .owner = &store, .end = end};
    size_t position[20], floats;
    for (size_t t = 0; t < n; t++) position[t] = end - n + t;
    const LayerShape shape = {heads, kv, k_size, v_size, 1, SHAPE_NO_WINDOW};
    ck_assert(attention_scratch(&shape, end, fast->threads, &floats));
    const size_t qs = n * heads * k_size, outs = n * heads * v_size,
                 ps = n * heads * end;
    float *q = guarded(qs), *q_sink = guarded(qs), *scratch = guarded(floats);
    float *out[2] = {guarded(outs), guarded(outs)},
          *probs[2] = {guarded(ps), guarded(ps)};
    fill(q, qs);
    fill(q_sink, qs);
    for (int set = 0; set < 2; set++) {
        const Kernels *kernels = set ? fast : naive;
        for (size_t s = 0; s < floats; s++)
            scratch[s] = NAN; /* nothing of it is read first */
        Attention a = {n,
                       position,
                       heads,
                       kv,
                       k_size,
                       v_size,
                       0.3f,
                       q,
                       rule.sinks ? q_sink : NULL,
                       &rows,
                       &rule,
                       &rope,
                       i % 3 == 0 && i % 2,
                       out[set],
                       i % 5 ? NULL : probs[set],
                       scratch};
        kernels->attention(kernels, &a);
    }
    ck_assert_msg(memcmp(out[0], out[1], outs * sizeof **out) == 0,
                  "case %zu: %s %s, %zu:%zu heads of %zu and %zu, %zu of %zu keys", i,
                  kf->name, vf->name, heads, kv, k_size, v_size, n, end);
    if (i % 5 == 0) ck_assert_mem_eq(probs[0], probs[1], ps * sizeof **probs);
    rope_close(&rope, memory);
    free(store.k);
    free(store.v);
    release(q, qs);
    release(q_sink, qs);
    release(scratch, floats);
    for (int set = 0; set < 2; set++) {
        release(out[set], outs);
        release(probs[set], ps);
    }
}

START_TEST(attention_has_the_bits_of_the_naive_one) {
    Memory memory = {0};
    choose(_i);
    for (size_t i = 0; fast && i < 4 * cases; i++) compare_attention(i, &memory);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("fast");
    TCase *tests = tcase_create("bits");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, a_matrix_product_has_the_bits_of_the_naive_one, 0, RUNS);
    tcase_add_loop_test(tests, the_kernels_of_rows_have_the_bits_of_the_naive_ones, 0,
                        RUNS);
    tcase_add_loop_test(tests, exp_has_the_same_bits_everywhere, 0, RUNS);
    tcase_add_loop_test(tests, a_rotation_has_the_bits_of_the_naive_one, 0, RUNS);
    tcase_add_loop_test(tests, attention_has_the_bits_of_the_naive_one, 0, RUNS);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
