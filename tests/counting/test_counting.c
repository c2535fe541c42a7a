/* The counters are proved: what the naive kernels execute and touch is what is counted.
 *
 * Build: core/kernels/naive_*.c f32.c format.c by gcc -O1
 * -fno-tree-loop-distribute-patterns -fsanitize=thread -include tests/counting/sum.h
 * -DKERNEL_TARGET=base -ffp-contract=off -c, select.c without KERNELS_HAVE_FMA, the
 * rest as ever, this file; link without -fsanitize. */
#include "core/count/counted.h"
#include "tests/counting/tsan.h"
#include "tests/runs.h"

#include <stdarg.h>

/* Stands in front of Counted and compares, call by call, what Counted added with what
 * happened meanwhile. */
typedef struct {
    Wrapped table; /* first member */
    Counted counted;
    Counters counters, before;
    int engine;
    size_t calls, faults;
    char first_fault[200];
} Proof;

static Proof *proof_of(const Kernels *kernels) {
    return wrapped(kernels)->data;
}

static void begin(Proof *proof) {
    proof->before = proof->counters;
    counting_madds = 0;
    touched_restart();
}

static void demand(Proof *proof, uint64_t got, uint64_t counted, const char *format,
                   ...) {
    if (got == counted) return;
    if (proof->faults++ > 0) return;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(proof->first_fault, 100, format, args);
    va_end(args);
    snprintf(proof->first_fault + n, 100, ": %llu, counted %llu",
             (unsigned long long)got, (unsigned long long)counted);
}

/* inside: multiply-adds of this call that belong to `elementwise` */
static void end(Proof *proof, const char *kernel, uint64_t inside) {
    const Counters *now = &proof->counters, *before = &proof->before;
    Touched weights = touched(TOUCHED_WEIGHTS);
    Touched rows[ENGINES] = {touched(TOUCHED_RECOMPUTE_ROWS),
                             touched(TOUCHED_CACHED_ROWS)};
    const Touched *own = &rows[proof->engine], *other = &rows[!proof->engine];
    uint64_t flops = counters_flops(now) - counters_flops(before);
    demand(proof, 2 * (counting_madds - inside), flops, "%s: FLOPs", kernel);
    demand(proof, weights.read, now->weight_bytes_read - before->weight_bytes_read,
           "%s: bytes of weights", kernel);
    demand(proof, own->read, now->kv_bytes_read - before->kv_bytes_read,
           "%s: bytes of rows read", kernel);
    demand(proof, own->written, now->kv_bytes_written - before->kv_bytes_written,
           "%s: bytes of rows written", kernel);
    demand(proof, other->read + other->written + weights.written, 0,
           "%s: bytes that are not its own", kernel);
    proof->calls++;
}

static void prove_embed(const Kernels *k, const Matrix *table, const int *token,
                        size_t n, float *out) {
    Proof *proof = proof_of(k);
    begin(proof);
    wrapped(k)->real->embed(wrapped(k)->real, table, token, n, out);
    end(proof, "embed", 0);
}

static void prove_rms_norm(const Kernels *k, const float *x, const float *w, float eps,
                           size_t n, size_t size, float *out) {
    Proof *proof = proof_of(k);
    begin(proof);
    wrapped(k)->real->rms_norm(wrapped(k)->real, x, w, eps, n, size, out);
    end(proof, "rms_norm", n * size);
    demand(proof, n * size, proof->counters.elementwise - proof->before.elementwise,
           "rms_norm: elements");
}

static void prove_matmul(const Kernels *k, Part part, const Matrix *w, const float *x,
                         size_t n, float *out, float *scratch) {
    Proof *proof = proof_of(k);
    begin(proof);
    wrapped(k)->real->matmul(wrapped(k)->real, part, w, x, n, out, scratch);
    end(proof, part_name(part), 0);
    demand(proof, 2 * counting_madds,
           proof->counters.flops[part] - proof->before.flops[part],
           "%s: under another name", part_name(part));
}

static void prove_rope(const Kernels *k, const RopeTable *table, const size_t *position,
                       size_t n, size_t heads, size_t size, float *x) {
    Proof *proof = proof_of(k);
    begin(proof);
    wrapped(k)->real->rope(wrapped(k)->real, table, position, n, heads, size, x);
    end(proof, "rope", 0);
}

static bool prove_store(const Kernels *k, const Format *format, const float *row,
                        size_t heads, size_t size, void *to) {
    Proof *proof = proof_of(k);
    begin(proof);
    bool done = wrapped(k)->real->store(wrapped(k)->real, format, row, heads, size, to);
    end(proof, "store", 0);
    return done;
}

static void prove_attention(const Kernels *k, const Attention *a) {
    Proof *proof = proof_of(k);
    begin(proof);
    wrapped(k)->real->attention(wrapped(k)->real, a);
    end(proof, "attention", 0);
}

static void prove_swiglu(const Kernels *k, float *gate, const float *up, size_t count) {
    Proof *proof = proof_of(k);
    begin(proof);
    wrapped(k)->real->swiglu(wrapped(k)->real, gate, up, count);
    end(proof, "swiglu", 0);
}

static void prove_add(const Kernels *k, float *x, const float *y, size_t count) {
    Proof *proof = proof_of(k);
    begin(proof);
    wrapped(k)->real->add(wrapped(k)->real, x, y, count);
    end(proof, "add", 0);
}

/* Both engines count their rows here: recompute's are touched just so, though it has no
 * cache and a real run leaves them out. */
static void proof_init(Proof *proof, int engine, const Kernels *real) {
    *proof = (Proof){.engine = engine};
    counted_init(&proof->counted, real, &proof->counters, true);
    wrapped_init(&proof->table, &proof->counted.table, proof);
    Kernels *table = &proof->table.table;
    table->embed = prove_embed;
    table->rms_norm = prove_rms_norm;
    table->matmul = prove_matmul;
    table->rope = prove_rope;
    table->store = prove_store;
    table->attention = prove_attention;
    table->swiglu = prove_swiglu;
    table->add = prove_add;
}

static void register_rows(int kind, Rows rows, size_t end_row) {
    Span span;
    rows.end = end_row;
    rows.at(&rows, 0, &span);
    ck_assert_uint_eq(span.count, end_row);
    touched_register(kind, span.k, end_row * span.k_step);
    touched_register(kind, span.v, end_row * span.v_step);
}

static void register_all(TrialRun *run, void *data) {
    (void)data;
    const Weights *w = run->weights;
    touched_forget();
    touched_register(TOUCHED_WEIGHTS, w->arena,
                     (size_t)weights_parameters(&w->shape) * sizeof(float));
    for (size_t l = 0; l < w->shape.layers; l++) {
        register_rows(TOUCHED_RECOMPUTE_ROWS, recompute_rows(run->recompute, l, 0, 1),
                      TRIAL_ROWS);
        for (size_t s = 0; s < TRIAL_SEQUENCES; s++)
            register_rows(TOUCHED_CACHED_ROWS, cache_rows(run->cache, l, s),
                          TRIAL_LENGTH);
    }
}

/* Runs a trial with these kernels under proof in both engines. */
static void prove(const Trial *trial, size_t chunk, const Kernels *real,
                  Proof proof[ENGINES]) {
    for (int e = 0; e < ENGINES; e++) proof_init(&proof[e], e, real);
    TrialChange change = {.kernels = {&proof[0].table.table, &proof[1].table.table},
                          .chunk = chunk,
                          .opened = register_all};
    Verdict v = trial_run(trial, &change);
    touched_forget();
    ck_assert_msg(v.ran && v.same_bits && v.same_meaning, "trial %zu: %s", trial->index,
                  v.error);
}

static size_t demand_proved(const Trial *trial, size_t chunk) {
    Proof proof[ENGINES];
    Error err = {0};
    prove(trial, chunk, kernels_select("naive", &err), proof);
    for (int e = 0; e < ENGINES; e++) {
        ck_assert_msg(proof[e].faults == 0, "trial %zu (%s), %s: %s", trial->index,
                      trial->spec, e ? "cached" : "recompute", proof[e].first_fault);
        ck_assert(proof[e].counters.kv_bytes_read > 0 &&
                  proof[e].counters.kv_bytes_written > 0 &&
                  proof[e].counters.weight_bytes_read > 0);
    }
    return proof[0].calls + proof[1].calls;
}

/* Instrumented loops are slow: of the trials those with few weights are taken. */
START_TEST(the_kernels_execute_and_touch_exactly_what_is_counted) {
    size_t proved = 0, calls = 0, dense = 0, kinds[TRIAL_KINDS] = {0};
    for (size_t i = 0; proved < 36; i++) {
        Trial trial;
        trial_open(&trial, i);
        trial.dense = false;
        if (weights_parameters(&trial.weights.shape) < 12000) {
            calls += demand_proved(&trial, i % 2 ? 0 : 1 + i % 7);
            trial.dense = trial_may_be_dense(&trial);
            if (trial.dense) dense += demand_proved(&trial, i % 2 ? 3 : 0);
            kinds[i % TRIAL_KINDS]++;
            proved++;
        }
        trial_close(&trial);
    }
    printf("%zu kernel calls of %zu shapes proved\n", calls + dense, proved);
    for (size_t i = 0; i < TRIAL_KINDS; i++)
        ck_assert_msg(kinds[i] >= 3, "rules of kind %zu: %zu trials", i, kinds[i]);
    ck_assert_uint_gt(calls, 10000);
    ck_assert_uint_gt(dense, 5000);
}
END_TEST

/* Each format for K and for V, under two kinds of rules: stored bytes in any form. */
START_TEST(of_rows_in_every_format_exactly_the_counted_bytes_are_touched) {
    size_t calls = 0;
    for (size_t i = 0; i < 2 * TRIAL_FORMATS; i++) {
        const size_t k = i % TRIAL_FORMATS,
                     v = (i + 1 + i / TRIAL_FORMATS) % TRIAL_FORMATS;
        Trial trial;
        trial_open_formats(&trial,
                           ((i + i / TRIAL_KINDS) % TRIAL_KINDS * TRIAL_FORMATS + k) *
                                   TRIAL_FORMATS +
                               v);
        calls += demand_proved(&trial, i % 2 ? 0 : 1 + i % 5);
        trial_close(&trial);
    }
    ck_assert_uint_gt(calls, 1000);
}
END_TEST

/* ---- The proof can fail --------------------------------------------------------- */

static void one_product_twice(const Kernels *k, Part part, const Matrix *w,
                              const float *x, size_t n, float *out, float *scratch) {
    const Kernels *real = wrapped(k)->real;
    Matrix first = *w;
    first.rows = 1;
    float again;
    real->matmul(real, part, w, x, n, out, scratch);
    real->matmul(real, part, &first, x, 1, &again, scratch);
}

/* Reads the row of position 0 though no query of the call may see it. */
static void read_a_masked_row(const Kernels *k, const Attention *a) {
    const Kernels *real = wrapped(k)->real;
    float row[TRIAL_HEADS * 64];
    Span span;
    real->attention(real, a);
    a->rows->at(a->rows, 0, &span);
    a->rule->k->unpack(span.k, span.k_step, 1, a->kv_heads, a->k_size, row);
}

static void norm_without_a_weight(const Kernels *k, const float *x, const float *w,
                                  float eps, size_t n, size_t size, float *out) {
    const Kernels *real = wrapped(k)->real;
    float copy[64];
    memcpy(copy, w, size * sizeof *copy);
    real->rms_norm(real, x, copy, eps, n, size, out);
}

/* One value more than the row, at the place of the next. */
static bool store_too_far(const Kernels *k, const Format *format, const float *row,
                          size_t heads, size_t size, void *to) {
    const Kernels *real = wrapped(k)->real;
    return real->store(real, format, row, heads, size, to) &&
           real->store(real, format, row, 1, 1, (float *)to + heads * size);
}

/* The fault that is found first must be of that kind. */
static void demand_found(const Trial *trial, const Wrapped *wrong, const char *fault) {
    Proof proof[ENGINES];
    prove(trial, 1, &wrong->table, proof);
    for (int e = 0; e < ENGINES; e++)
        ck_assert_msg(strncmp(proof[e].first_fault, fault, strlen(fault)) == 0,
                      "%s was not found, but '%s'", fault, proof[e].first_fault);
}

START_TEST(a_kernel_that_does_more_than_is_counted_is_found) {
    Trial trial;
    Error err = {0};
    trial_open_spec(
        &trial, 0,
        "dim=12,layers=2,heads=4,kv_heads=2,head=6,hidden=9,vocab=20,ctx=32");
    rule_full(&trial.rule, &trial.weights.shape, &format_f32);
    for (size_t l = 0; l < 2; l++) trial.rule.layer[l].recent = 3;
    trial_draw_tokens(&trial, 1, 8);
    Wrapped wrong;
    const Kernels *naive = kernels_select("naive", &err);
    demand_proved(&trial, 1);
    wrapped_init(&wrong, naive, NULL);
    wrong.table.matmul = one_product_twice;
    demand_found(&trial, &wrong, "qkv: FLOPs");
    wrapped_init(&wrong, naive, NULL);
    wrong.table.rms_norm = norm_without_a_weight;
    demand_found(&trial, &wrong, "rms_norm: bytes of weights");
    wrapped_init(&wrong, naive, NULL);
    wrong.table.store = store_too_far;
    demand_found(&trial, &wrong, "store: bytes of rows written");
    wrapped_init(&wrong, naive, NULL);
    wrong.table.attention = read_a_masked_row;
    Proof proof[ENGINES];
    prove(&trial, 1, &wrong.table, proof);
    ck_assert_str_eq(proof[RECOMPUTE].first_fault, ""); /* its first query sees all */
    ck_assert(strncmp(proof[CACHED].first_fault, "attention: bytes of rows read", 29) ==
              0);
    trial_close(&trial);
}
END_TEST

/* Counting builds must not be what they measure. */
START_TEST(without_the_instruments_nothing_would_be_counted) {
    const float a[20] = {1}, b[20] = {2};
    float out, scratch[20];
    Matrix matrix = {a, &format_f32, 1, 20};
    const Kernels *naive = kernels_select("naive", NULL);
    touched_register(TOUCHED_WEIGHTS, a, sizeof a);
    touched_restart();
    counting_madds = 0;
    naive->matmul(naive, PART_MLP, &matrix, b, 1, &out, scratch);
    ck_assert_uint_eq(counting_madds, 20);
    ck_assert_uint_eq(touched(TOUCHED_WEIGHTS).read, sizeof a);
    ck_assert_uint_eq(touched(TOUCHED_WEIGHTS).written, 0);
    touched_forget();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("counting");
    TCase *tests = tcase_create("counting");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, without_the_instruments_nothing_would_be_counted);
    tcase_add_test(tests, the_kernels_execute_and_touch_exactly_what_is_counted);
    tcase_add_test(tests,
                   of_rows_in_every_format_exactly_the_counted_bytes_are_touched);
    tcase_add_test(tests, a_kernel_that_does_more_than_is_counted_is_found);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
