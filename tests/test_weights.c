/* Where weights come from: drawn at random, found by name in a file, opened as a model. */
#include "core/model/model.h"
#include "tests/check_main.h"

#include <math.h>
#include <string.h>

START_TEST(random_weights_are_exact_and_do_not_depend_on_the_order_of_keys) {
    Memory memory = {0};
    Error err = {0};
    Weights a, b;
    ck_assert(weights_random(&a, "dim=8,heads=2,kv_heads=1,seed=4", &memory, &err));
    ck_assert(weights_random(&b, "seed=4,kv_heads=1,heads=2,dim=8", &memory, &err));
    size_t floats = (size_t)weights_parameters(&a.shape);
    ck_assert_mem_eq(a.arena, b.arena, floats * sizeof(float));
    double sum = 0, squares = 0;
    const float *q = a.layer[0].q.data;
    for (size_t i = 0; i < 64; i++) {
        float scaled = q[i] * 0x1p12f;
        ck_assert(scaled == truncf(scaled)); /* an integer times a power of two */
        sum += (double)q[i];
        squares += (double)q[i] * (double)q[i];
    }
    ck_assert(fabs(sum / 64) < 0.1);
    ck_assert(squares / 64 * 8 > 0.4 && squares / 64 * 8 < 1.6); /* rows of about 1 */
    weights_close(&a);
    weights_close(&b);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(a_bad_random_model_is_refused_by_name) {
    static const char *const bad[][2] = {
        {"dim=0", "dim must be 1 to"},
        {"dim=-4", "'dim=-4'"},
        {"dim=64x", "'dim=64x'"},
        {"dim=", "'dim='"},
        {"dim", "'dim' is not known"},
        {"dims=64", "'dims=64' is not known"},
        {"dim=64,", "a ',' at the end"},
        {",", "'' is not known"},
        {"dim=64,dim=64", "dim is given twice"},
        {"dim=64,heads=3", "dim 64 is not a multiple of heads 3"},
        {"heads=4,kv_heads=3", "heads 4 is not a multiple of kv_heads 3"},
        {"rot=3", "rotary size is 3"},
        {"rot=18", "rotary size is 18"},
        {"vocab=1", "vocab must be 2"},
        {"tied=2", "tied must be 0 to 1"},
        {"layers=257", "layers must be 1 to 256"},
        {"dim=99999999999999999999", "dim must be"},
        {"dim=1048576,heads=1,kv_heads=1", "parameters; at most"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Memory memory = {0};
        Error err = {0};
        Weights weights;
        ck_assert_msg(!weights_random(&weights, bad[i][0], &memory, &err), "%s",
                      bad[i][0]);
        ck_assert_msg(strstr(err.text, bad[i][1]) != NULL, "%s: %s", bad[i][0],
                      err.text);
        ck_assert_uint_eq(memory.live, 0);
    }
}
END_TEST

/* A loader for weights_from_tensors: the tensors of a random model, as if from a file.
 */
static Tensors as_tensors(const Weights *w, Memory *memory) {
    const Shape *s = &w->shape;
    const LayerShape *l = &s->layer[0];
    const MetaNumber numbers[] = {
        {"llama.embedding_length", (double)s->dim},
        {"llama.block_count", (double)s->layers},
        {"llama.vocab_size", (double)s->vocab},
        {"llama.context_length", (double)s->context},
        {"llama.rope.dimension_count", (double)s->rot},
        {"llama.feed_forward_length", (double)l->hidden},
        {"llama.attention.head_count", (double)l->heads},
        {"llama.attention.head_count_kv", (double)l->kv_heads},
    };
    Error err = {0};
    Tensors t = {
        .path = "made.bin", .memory = memory, .numbers = 8, .tensors = 2 + 2 * 9 + 1};
    t.number = memory_new(memory, t.numbers, sizeof *t.number, &err);
    t.tensor = memory_new(memory, t.tensors, sizeof *t.tensor, &err);
    memcpy(t.number, numbers, sizeof numbers);
    Tensor *next = t.tensor;
    const Matrix norm = {NULL, &format_f32, 1, s->dim};
#define PUT(matrix_, ...)                                                              \
    do {                                                                               \
        next->matrix = matrix_;                                                        \
        snprintf(next->name, sizeof next->name, __VA_ARGS__);                          \
        next++;                                                                        \
    } while (0)
    PUT(w->embedding, "token_embd.weight");
    PUT(norm, "output_norm.weight");
    next[-1].matrix.data = w->final_norm;
    PUT(w->output, "output.weight");
    for (size_t i = 0; i < s->layers; i++) {
        const LayerWeights *layer = &w->layer[i];
        PUT(layer->q, "blk.%zu.attn_q.weight", i);
        PUT(layer->k, "blk.%zu.attn_k.weight", i);
        PUT(layer->v, "blk.%zu.attn_v.weight", i);
        PUT(layer->o, "blk.%zu.attn_output.weight", i);
        PUT(layer->gate, "blk.%zu.ffn_gate.weight", i);
        PUT(layer->up, "blk.%zu.ffn_up.weight", i);
        PUT(layer->down, "blk.%zu.ffn_down.weight", i);
        PUT(norm, "blk.%zu.attn_norm.weight", i);
        next[-1].matrix.data = layer->attention_norm;
        PUT(norm, "blk.%zu.ffn_norm.weight", i);
        next[-1].matrix.data = layer->mlp_norm;
    }
#undef PUT
    return t;
}

START_TEST(weights_are_found_by_name_and_checked_by_size) {
    Error err = {0};
    Weights made, found;
    Memory memory = {0};
    ck_assert(weights_random(&made,
                             "dim=24,layers=2,heads=4,kv_heads=2,hidden=20,"
                             "vocab=17,ctx=32",
                             &memory, &err));
    ck_assert_msg(
        weights_from_tensors(&found, as_tensors(&made, &memory), &memory, &err), "%s",
        err.text);
    ck_assert_ptr_eq(found.layer[1].down.data, made.layer[1].down.data);
    ck_assert_mem_eq(&found.shape, &made.shape, sizeof found.shape);
    weights_close(&found);
    for (size_t i = 0; i < 21; i++) {
        Tensors t = as_tensors(&made, &memory);
        char name[TENSOR_NAME_MAX];
        strcpy(name, t.tensor[i].name);
        t.tensor[i].matrix.cols++;
        ck_assert(!weights_from_tensors(&found, t, &memory, &err));
        ck_assert_msg(strstr(err.text, name) != NULL, "%s", err.text);
        t = as_tensors(&made, &memory);
        t.tensor[i].name[0] = 'X';
        bool tied_instead = strcmp(name, "output.weight") == 0; /* optional */
        bool opened = weights_from_tensors(&found, t, &memory, &err);
        ck_assert_int_eq(opened, tied_instead);
        if (opened) weights_close(&found);
    }
    for (size_t i = 0; i < 8; i++)
        for (int wrong = 0; wrong < 4; wrong++) {
            Tensors t = as_tensors(&made, &memory);
            t.number[i].value = (const double[]){0, -1, 1e30, 2.5}[wrong];
            bool rot_of_zero = i == 4 && wrong == 0; /* no rotation is a shape */
            bool opened = weights_from_tensors(&found, t, &memory, &err);
            ck_assert_int_eq(opened, rot_of_zero);
            if (opened) weights_close(&found);
        }
    weights_close(&made);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(a_model_is_opened_by_name) {
    Memory memory = {0};
    Error err = {0};
    Model model;
    ck_assert_msg(model_open(&model, MODEL_DEFAULT, NULL, &memory, &err), "%s",
                  err.text);
    ck_assert_uint_eq(model.weights.shape.vocab, 256);
    ck_assert_int_eq(model.tokenizer->bos, 1);
    model_close(&model);
    ck_assert(!model_open(&model, "random:", "tok.bin", &memory, &err));
    ck_assert(!model_open(&model, "/dev/null", NULL, &memory, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "give --tokenizer FILE"));
    ck_assert(!model_open(&model, "/nowhere.bin", "/nowhere.tok", &memory, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "/nowhere.bin: no such model file"));
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("weights");
    TCase *tests = tcase_create("weights");
    tcase_add_test(tests,
                   random_weights_are_exact_and_do_not_depend_on_the_order_of_keys);
    tcase_add_test(tests, a_bad_random_model_is_refused_by_name);
    tcase_add_test(tests, weights_are_found_by_name_and_checked_by_size);
    tcase_add_test(tests, a_model_is_opened_by_name);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
