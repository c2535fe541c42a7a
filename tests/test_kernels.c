/* The naive kernels, bit by bit, against the arithmetic as it is written down
 * (counting/plain.h), in every build that runs here; and the rule against brute force.
 */
#define _GNU_SOURCE /* dladdr in objects.h */
#include "core/base/machine.h"
#include "tests/objects.h"
#include "tests/plain.h"

enum { CASES = 160 };

extern const Kernels naive_kernels_base;
extern const Kernels naive_kernels_fma __attribute__((weak)); /* not on every machine */

/* The builds of the naive set that run here; NULL ends the list. */
static const Kernels *const *builds(void) {
    static const Kernels *list[3];
    list[0] = &naive_kernels_base;
    const Kernels *selected = kernels_select("naive", NULL);
    if (&naive_kernels_fma && selected == &naive_kernels_fma) list[1] = selected;
    return list;
}

START_TEST(the_machine_rounds_as_the_bits_demand) {
    Error err = {0};
    ck_assert_msg(machine_check(&err), "%s", err.text);
    ck_assert_ptr_null(kernels_select("fastest", &err));
    ck_assert(strstr(err.text, "fastest") && strstr(err.text, "naive"));
    const Kernels *selected = kernels_select("naive", &err);
    ck_assert(selected == builds()[0] || selected == builds()[1]);
}
END_TEST

START_TEST(a_dot_product_keeps_sixteen_sums_whatever_its_tail) {
    for (const Kernels *const *k = builds(); *k; k++)
        for (size_t cols = 1; cols <= 56; cols++)
            ck_assert_msg(plain_matmul_agrees(*k, cols), "%zu columns", cols);
}
END_TEST

/* Another order of the same terms gives other bits, or these tests would see nothing.
 */
START_TEST(the_order_of_a_sum_shows_in_its_bits) {
    size_t differ = 0;
    for (size_t n = 17; n < 57; n++) {
        float a[56], b[56], rising = 0;
        plain_fill(a, n, n, 2);
        plain_fill(b, n, n + 1000, 2);
        for (size_t i = 0; i < n; i++) rising = fmaf(a[i], b[i], rising);
        differ += rising != plain_dot(a, b, n);
    }
    ck_assert_uint_gt(differ, 20);
}
END_TEST

START_TEST(embedding_copies_the_row_of_each_token) {
    float table[7 * 5], out[4 * 5];
    const int token[] = {6, 0, 3, 6};
    plain_fill(table, 35, 1, 2);
    table[30] = -0.0f;
    table[31] = 0x1p-149f;
    Matrix matrix = {table, &format_f32, 7, 5};
    for (const Kernels *const *k = builds(); *k; k++) {
        (*k)->embed(*k, &matrix, token, 4, out);
        for (size_t t = 0; t < 4; t++)
            ck_assert(memcmp(out + 5 * t, table + 5 * token[t], 5 * sizeof *out) == 0);
    }
}
END_TEST

START_TEST(a_norm_multiplies_by_one_rounded_reciprocal) {
    for (const Kernels *const *k = builds(); *k; k++)
        for (size_t n = 1; n <= 70; n++) {
            float x[2 * 70], w[70], out[2 * 70], right[70];
            plain_fill(x, 2 * n, n, 3);
            plain_fill(w, n, n + 500, 2);
            (*k)->rms_norm(*k, x, w, 1e-5f, 2, n, out);
            for (size_t t = 0; t < 2; t++) {
                plain_norm(x + t * n, w, 1e-5f, n, right);
                ck_assert(memcmp(right, out + t * n, n * sizeof *out) == 0);
            }
            (*k)->rms_norm(*k, x, w, 1e-5f, 2, n, x); /* out may be x */
            ck_assert(memcmp(x, out, 2 * n * sizeof *out) == 0);
        }
}
END_TEST

START_TEST(rotation_turns_the_first_pairs_and_leaves_the_rest) {
    enum { SIZE = 10, HEADS = 3, N = 4, POSITIONS = 9 };
    const size_t position[N] = {0, 2, 5, 8};
    for (const Kernels *const *k = builds(); *k; k++)
        for (size_t rot = 0; rot <= SIZE; rot += 2) {
            float c[POSITIONS * SIZE], s[POSITIONS * SIZE];
            float x[N * HEADS * SIZE], right[N * HEADS * SIZE];
            plain_fill(c, POSITIONS * SIZE, rot, 1);
            plain_fill(s, POSITIONS * SIZE, rot + 20, 1);
            plain_fill(x, N * HEADS * SIZE, rot + 40, 2);
            memcpy(right, x, sizeof x);
            RopeTable table = {rot, POSITIONS, c, s};
            for (size_t i = 0; i < N * HEADS; i++)
                plain_turn(&table, position[i / HEADS], right + i * SIZE);
            bool turned = memcmp(right, x, sizeof x) != 0;
            ck_assert(turned == (rot > 0));
            (*k)->rope(*k, &table, position, N, HEADS, SIZE, x);
            ck_assert(memcmp(right, x, sizeof x) == 0);
        }
}
END_TEST

START_TEST(swiglu_and_the_residual_round_after_each_operation) {
    enum { COUNT = 2000 };
    static float gate[COUNT], up[COUNT], right[COUNT], sum[COUNT];
    static const float edges[] = {0, -0.0f, 100, -100, 88.8f, -88.8f, 0x1p-140f};
    for (const Kernels *const *k = builds(); *k; k++) {
        plain_fill(gate, COUNT, 1, 20);
        plain_fill(up, COUNT, 2, 3);
        memcpy(gate, edges, sizeof edges);
        for (size_t i = 0; i < COUNT; i++) {
            right[i] = plain_swiglu(gate[i], up[i]);
            sum[i] = gate[i] + up[i];
        }
        float *x = malloc(sizeof gate);
        ck_assert_ptr_nonnull(x);
        memcpy(x, gate, sizeof gate);
        (*k)->add(*k, x, up, COUNT);
        ck_assert(memcmp(x, sum, sizeof sum) == 0);
        free(x);
        (*k)->swiglu(*k, gate, up, COUNT);
        ck_assert(memcmp(gate, right, sizeof right) == 0);
    }
}
END_TEST

/* All rules by turns, rows side by side and each somewhere else. */
START_TEST(attention_has_the_written_bits_under_every_rule) {
    for (const Kernels *const *k = builds(); *k; k++)
        for (size_t i = 0; i < CASES; i++) {
            PlainCase *c = plain_case(i);
            ck_assert_msg(plain_attention_agrees(*k, c), "%s, case %zu", (*k)->name, i);
            plain_case_free(c);
        }
}
END_TEST

START_TEST(dense_scores_change_no_bit) {
    for (const Kernels *const *k = builds(); *k; k++)
        for (size_t i = 0; i < CASES; i += 4) { /* the full rule */
            PlainCase *causal = plain_case(i), *dense = plain_case(i);
            dense->a.dense = true;
            (*k)->attention(*k, &causal->a);
            (*k)->attention(*k, &dense->a);
            ck_assert(memcmp(causal->out, dense->out, sizeof dense->out) == 0);
            ck_assert(memcmp(causal->probs, dense->probs, sizeof dense->probs) == 0);
            plain_case_free(causal);
            plain_case_free(dense);
        }
}
END_TEST

/* Rows that no query of the call sees: older than every window, newer than the newest
 * query. Dense computes the latter and drops them. */
START_TEST(rows_that_nobody_sees_may_hold_anything) {
    size_t poisoned = 0;
    for (const Kernels *const *k = builds(); *k; k++)
        for (size_t i = 0; i < CASES; i++) {
            PlainCase *clean = plain_case(i), *poison = plain_case(i);
            Attention *a = &poison->a;
            const size_t moved = poison->position[0] < 3 ? poison->position[0] : 3;
            for (size_t t = 0; t < a->n; t++) {
                clean->position[t] -= moved;
                poison->position[t] -= moved;
            }
            for (size_t key = 0; key < a->rows->end; key++) {
                bool seen = false;
                for (size_t t = 0; t < a->n; t++)
                    seen |= plain_sees(a->rule, a->position[t], key);
                if (seen) continue;
                size_t row = plain_row_of(&poison->rows, key);
                memset(poison->rows.k[row], 0xff, sizeof poison->rows.k[row]);
                memset(poison->rows.v[row], 0xff, sizeof poison->rows.v[row]);
                poisoned++;
            }
            (*k)->attention(*k, &clean->a);
            (*k)->attention(*k, &poison->a);
            ck_assert(memcmp(clean->out, poison->out, sizeof clean->out) == 0);
            ck_assert(memcmp(clean->probs, poison->probs, sizeof clean->probs) == 0);
            plain_case_free(clean);
            plain_case_free(poison);
        }
    ck_assert_uint_gt(poisoned, 500);
}
END_TEST

START_TEST(a_query_that_sees_nothing_gives_zeros) {
    for (const Kernels *const *k = builds(); *k; k++)
        for (size_t i = 0; i < 8; i++) {
            PlainCase *c = plain_case(i);
            c->rule.sinks = c->rule.recent = 0;
            ck_assert(plain_attention_agrees(*k, c));
            for (size_t j = 0; j < c->a.n * c->a.heads * c->a.v_size; j++)
                ck_assert(c->out[j] == 0 && !signbit(c->out[j]));
            for (size_t j = 0; j < c->a.n * c->a.heads * c->a.rows->end; j++)
                ck_assert(c->probs[j] == 0);
            plain_case_free(c);
        }
}
END_TEST

/* A group that shares a KV head is the same as heads with a copy of it each. */
START_TEST(grouped_heads_equal_copied_heads) {
    for (const Kernels *const *k = builds(); *k; k++)
        for (size_t i = 0; i < CASES; i++) {
            PlainCase *grouped = plain_case(i), *copied = plain_case(i);
            Attention *a = &copied->a;
            const size_t group = a->heads / a->kv_heads;
            for (size_t key = 0; key < a->rows->end; key++) {
                size_t row = plain_row_of(&copied->rows, key);
                for (size_t h = 0; h < a->heads; h++) {
                    memcpy(copied->rows.k[row] + h * a->k_size,
                           grouped->rows.k[row] + h / group * a->k_size,
                           a->k_size * sizeof(float));
                    memcpy(copied->rows.v[row] + h * a->v_size,
                           grouped->rows.v[row] + h / group * a->v_size,
                           a->v_size * sizeof(float));
                }
            }
            a->kv_heads = a->heads;
            free(a->scratch); /* the rows are wider now */
            size_t floats;
            LayerShape wide = {a->heads, a->heads, a->k_size, a->v_size, 1, RULE_ALL};
            ck_assert(attention_scratch(&wide, a->rows->end, 1, &floats));
            a->scratch = malloc(floats * sizeof(float));
            ck_assert_ptr_nonnull(a->scratch);
            (*k)->attention(*k, &grouped->a);
            (*k)->attention(*k, &copied->a);
            ck_assert(memcmp(grouped->out, copied->out, sizeof copied->out) == 0);
            plain_case_free(grouped);
            plain_case_free(copied);
        }
}
END_TEST

START_TEST(attention_needs_no_probabilities_to_be_asked_for) {
    for (const Kernels *const *k = builds(); *k; k++)
        for (size_t i = 0; i < 8; i++) {
            PlainCase *with = plain_case(i), *without = plain_case(i);
            without->a.probs = NULL;
            (*k)->attention(*k, &with->a);
            (*k)->attention(*k, &without->a);
            ck_assert(memcmp(with->out, without->out, sizeof with->out) == 0);
            plain_case_free(with);
            plain_case_free(without);
        }
}
END_TEST

START_TEST(f32_stores_every_finite_number_as_it_is_and_refuses_the_rest) {
    ck_assert_ptr_eq(format_find("f32"), &format_f32);
    ck_assert_ptr_null(format_find("f33"));
    ck_assert_ptr_null(format_find(""));
    ck_assert_uint_eq(format_f32.row_bytes(3, 5), 60);
    ck_assert_uint_eq(format_f32.row_bytes(SIZE_MAX / 2, 3), 0);
    ck_assert_uint_eq(format_f32.row_bytes(SIZE_MAX / 4, 2), 0);
    const float edges[] = {0, -0.0f, 0x1p-149f, -0x1p-126f, 0x1.fffffep127f, 1};
    float stored[6], refused[6];
    ck_assert(format_f32.pack(edges, 2, 3, stored));
    ck_assert(memcmp(stored, edges, sizeof edges) == 0);
    const float bad[] = {INFINITY, -INFINITY, NAN, -NAN};
    for (size_t i = 0; i < 4; i++)
        for (size_t at = 0; at < 6; at++) {
            float row[6];
            memcpy(row, edges, sizeof row);
            row[at] = bad[i];
            ck_assert(!format_f32.pack(row, 3, 2, refused));
            ck_assert(!naive_kernels_base.store(&naive_kernels_base, &format_f32, row,
                                                1, 6, refused));
        }
}
END_TEST

START_TEST(f32_unpacks_rows_that_stand_apart) {
    enum { ROWS = 16, WIDE = 6, STEP = 9 };
    float stored[ROWS * STEP], tile[ROWS * WIDE + 1];
    plain_fill(stored, ROWS * STEP, 3, 2);
    for (size_t rows = 1; rows <= ROWS; rows++) {
        memset(tile, 0xff, sizeof tile);
        format_f32.unpack(stored, STEP * sizeof(float), rows, 2, 3, tile);
        for (size_t r = 0; r < rows; r++)
            ck_assert(memcmp(tile + r * WIDE, stored + r * STEP, WIDE * 4) == 0);
        ck_assert(tile[rows * WIDE] != tile[rows * WIDE]); /* not one number more */
    }
}
END_TEST

START_TEST(the_rule_shows_what_its_sentence_says) {
    static const size_t sizes[] = {0, 1, 2, 3, 7, RULE_ALL - 1, RULE_ALL};
    const size_t kinds = sizeof sizes / sizeof *sizes;
    for (size_t i = 0; i < kinds * kinds; i++) {
        LayerRule rule = {sizes[i / kinds], sizes[i % kinds], &format_f32, &format_f32,
                          true};
        for (size_t p = 0; p < 20 && rule.recent > 0; p++) {
            size_t visible = 0;
            for (size_t key = 0; key < 22; key++) {
                ck_assert(rule_sees(&rule, p, key) == plain_sees(&rule, p, key));
                visible += plain_sees(&rule, p, key);
            }
            ck_assert_uint_eq(rule_visible(&rule, p), visible);
            /* From S + R - 1 on: the place the newest row has in a cache of S + R. */
            ck_assert_uint_eq(rule_sink_position(&rule, p), visible - 1);
        }
    }
}
END_TEST

START_TEST(scratch_of_attention_that_overflows_is_refused) {
    size_t floats;
    LayerShape shape = {4, 2, 6, 8, 1, SHAPE_NO_WINDOW};
    ck_assert(attention_scratch(&shape, 10, 1, &floats));
    ck_assert_uint_eq(floats, 8 * 4 * 16 + 8 * 4 + 17 * 8 + 2 * 8);
    ck_assert(!attention_scratch(&shape, SIZE_MAX / 3, 1, &floats));
    shape.heads = 1;
    ck_assert(!attention_scratch(&shape, SIZE_MAX - 5, 1, &floats));
}
END_TEST

/* ---- What the objects call ------------------------------------------------------ */

START_TEST(objects_call_nothing_of_libm_but_fmaf_and_sqrtf) {
    const char *build = getenv("KVSTEP_OBJECTS");
    void *libm = dlopen("libm.so.6", RTLD_NOW);
    if (!build || !libm) {
        printf("skipped: what objects call; %s\n",
               build ? "there is no libm.so.6" : "KVSTEP_OBJECTS names no folder");
        return;
    }
    ck_assert(is_in_libm(libm, "cosf") && is_in_libm(libm, "roundf"));
    ck_assert(!is_in_libm(libm, "memcpy"));
    ck_assert_uint_gt(demand_folder(libm, build, "core/kernels"), 5);
    ck_assert_uint_gt(demand_folder(libm, build, "core/model"), 20);
    dlclose(libm);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("kernels");
    TCase *tests = tcase_create("kernels");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, the_machine_rounds_as_the_bits_demand);
    tcase_add_test(tests, a_dot_product_keeps_sixteen_sums_whatever_its_tail);
    tcase_add_test(tests, the_order_of_a_sum_shows_in_its_bits);
    tcase_add_test(tests, embedding_copies_the_row_of_each_token);
    tcase_add_test(tests, a_norm_multiplies_by_one_rounded_reciprocal);
    tcase_add_test(tests, rotation_turns_the_first_pairs_and_leaves_the_rest);
    tcase_add_test(tests, swiglu_and_the_residual_round_after_each_operation);
    tcase_add_test(tests, attention_has_the_written_bits_under_every_rule);
    tcase_add_test(tests, dense_scores_change_no_bit);
    tcase_add_test(tests, rows_that_nobody_sees_may_hold_anything);
    tcase_add_test(tests, a_query_that_sees_nothing_gives_zeros);
    tcase_add_test(tests, grouped_heads_equal_copied_heads);
    tcase_add_test(tests, attention_needs_no_probabilities_to_be_asked_for);
    tcase_add_test(tests, f32_stores_every_finite_number_as_it_is_and_refuses_the_rest);
    tcase_add_test(tests, f32_unpacks_rows_that_stand_apart);
    tcase_add_test(tests, the_rule_shows_what_its_sentence_says);
    tcase_add_test(tests, scratch_of_attention_that_overflows_is_refused);
    tcase_add_test(tests, objects_call_nothing_of_libm_but_fmaf_and_sqrtf);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
