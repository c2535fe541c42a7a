/* `random:` models: any shape, no file. Nothing they say makes sense, but they cost
 * what a trained model of their shape costs, and their bits are the same on every
 * machine.
 *
 * Element e of matrix m is (draw >> 52) - 2048, an integer of 12 bits, times 2^-s,
 * where 2^-s is the power of two next below sqrt(3 / cols) / 2048: then the rows have
 * about unit length and activations neither die nor explode. Norms are 1. */
#include "core/base/random.h"
#include "core/model/weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* 2^30 parameters: larger ones are no small experiment. */
#define MOST_PARAMETERS ((uint64_t)1 << 30)

typedef struct {
    size_t dim, layers, heads, kv_heads, head, rot, hidden, vocab, ctx, window, tied,
        seed;
    const char *pattern; /* of window_layers; NULL: every layer has the window */
    size_t pattern_length;
} Spec;

static const struct {
    const char *name;
    size_t offset, least, most;
} keys[] = {
    {"dim", offsetof(Spec, dim), 1, 1 << 20},
    {"layers", offsetof(Spec, layers), 1, SHAPE_MAX_LAYERS},
    {"heads", offsetof(Spec, heads), 1, 1 << 16},
    {"kv_heads", offsetof(Spec, kv_heads), 1, 1 << 16},
    {"head", offsetof(Spec, head), 1, 1 << 16}, /* size of a head; dim / heads */
    {"rot", offsetof(Spec, rot), 0, 1 << 16},   /* rotary size; the even head size */
    {"hidden", offsetof(Spec, hidden), 1, 1 << 20},
    {"vocab", offsetof(Spec, vocab), 2, 1 << 24},
    {"ctx", offsetof(Spec, ctx), 1, 1 << 24},
    {"window", offsetof(Spec, window), 1, 1 << 24},
    {"tied", offsetof(Spec, tied), 0, 1},
    {"seed", offsetof(Spec, seed), 0, SIZE_MAX},
};
enum { KEYS = sizeof keys / sizeof *keys };

static size_t *field(Spec *spec, size_t key) {
    return (size_t *)((char *)spec + keys[key].offset);
}

static size_t find_key(const char *name, size_t length) {
    size_t key = 0;
    while (key < KEYS && (strlen(keys[key].name) != length ||
                          strncmp(keys[key].name, name, length) != 0))
        key++;
    return key;
}

/* Reads "key=number" of `length` bytes. */
static bool read_number(Spec *spec, const char *pair, size_t length, bool *given,
                        Error *err) {
    const char *equals = memchr(pair, '=', length);
    size_t key = equals ? find_key(pair, (size_t)(equals - pair)) : KEYS;
    if (key == KEYS)
        return error_set(err,
                         "random: '%.*s' is not known; keys are dim layers heads "
                         "kv_heads head rot hidden vocab ctx window window_layers tied "
                         "seed",
                         (int)length, pair);
    if (given[key]) return error_set(err, "random: %s is given twice", keys[key].name);
    given[key] = true;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(equals + 1, &end, 10);
    bool digits = equals[1] >= '0' && equals[1] <= '9' && end == pair + length;
    if (!digits || errno == ERANGE || value < keys[key].least || value > keys[key].most)
        return error_set(err, "random: '%.*s': %s must be %zu to %zu", (int)length,
                         pair, keys[key].name, keys[key].least, keys[key].most);
    *field(spec, key) = (size_t)value;
    return true;
}

/* window_layers=PATTERN: one digit a layer, 1 with the window and 0 without, repeated. */
static bool read_pattern(Spec *spec, const char *pattern, size_t length, Error *err) {
    if (spec->pattern) return error_set(err, "random: window_layers is given twice");
    for (size_t i = 0; i < length; i++)
        if (pattern[i] != '0' && pattern[i] != '1') length = 0;
    if (length == 0)
        return error_set(err,
                         "random: window_layers must be digits 0 and 1, one a layer, "
                         "such as 110");
    spec->pattern = pattern;
    spec->pattern_length = length;
    return true;
}

/* Reads "key=value" of `length` bytes. */
static bool read_pair(Spec *spec, const char *pair, size_t length, bool *given,
                      Error *err) {
    static const char pattern[] = "window_layers=";
    const size_t name = sizeof pattern - 1;
    if (length >= name && strncmp(pair, pattern, name) == 0)
        return read_pattern(spec, pair + name, length - name, err);
    return read_number(spec, pair, length, given, err);
}

static bool read_spec(const char *text, Spec *spec, bool *given, Error *err) {
    while (*text) {
        size_t length = strcspn(text, ",");
        if (!read_pair(spec, text, length, given, err)) return false;
        text += length;
        if (*text == ',' && !*++text)
            return error_set(err,
                             "random: a ',' at the end; another key=value is missing");
    }
    return true;
}

static bool shape_of(const Spec *spec, const bool *given, Shape *shape, Error *err) {
    size_t head = spec->head, rot;
    if (spec->pattern && spec->window == SHAPE_NO_WINDOW)
        return error_set(err, "random: window_layers needs window=W");
    if (!given[find_key("head", 4)]) {
        if (spec->dim % spec->heads != 0)
            return error_set(err,
                             "random: dim %zu is not a multiple of heads %zu; change "
                             "one or give head=",
                             spec->dim, spec->heads);
        head = spec->dim / spec->heads;
    }
    rot = given[find_key("rot", 3)] ? spec->rot : head - head % 2;
    LayerShape layer = {.heads = spec->heads,
                        .kv_heads = spec->kv_heads,
                        .k_size = head,
                        .v_size = head,
                        .hidden = spec->hidden,
                        .window = spec->window};
    *shape = (Shape){.dim = spec->dim,
                     .vocab = spec->vocab,
                     .context = spec->ctx,
                     .rot = rot,
                     .rope_base = 10000.0,
                     .eps = 1e-5f,
                     .tied = spec->tied,
                     .layers = spec->layers};
    shape_all_layers(shape, &layer);
    for (size_t l = 0; spec->pattern && l < shape->layers && l < SHAPE_MAX_LAYERS; l++)
        if (spec->pattern[l % spec->pattern_length] == '0')
            shape->layer[l].window = SHAPE_NO_WINDOW;
    if (!shape_check(shape, err)) return error_at(err, "random");
    if (weights_parameters(shape) > MOST_PARAMETERS)
        return error_set(err, "random: %llu parameters; at most %llu are made",
                         (unsigned long long)weights_parameters(shape),
                         (unsigned long long)MOST_PARAMETERS);
    return true;
}

/* Hands out the arena matrix by matrix, filling each from its own stream. */
typedef struct {
    float *next;
    uint64_t seed, stream;
} Maker;

static float scale_for(size_t cols) {
    float scale = 0x1p-11f; /* then (2048 scale)^2 cols <= 3 decides */
    while (scale * 2048 * scale * 2048 * (float)cols > 3.0f) scale /= 2;
    return scale;
}

static void make(Maker *maker, Matrix *matrix) {
    float scale = scale_for(matrix->cols);
    matrix->data = maker->next;
    matrix->format = &format_f32;
    for (size_t e = 0; e < matrix->rows * matrix->cols; e++) {
        uint64_t draw = random_draw(maker->seed, maker->stream, e);
        *maker->next++ = (float)((int)(draw >> 52) - 2048) * scale;
    }
    maker->stream++;
}

static const float *ones(Maker *maker, size_t n) {
    const float *start = maker->next;
    for (size_t i = 0; i < n; i++) *maker->next++ = 1.0f;
    return start;
}

static void make_all(Weights *w, uint64_t seed) {
    Maker maker = {.next = w->arena, .seed = seed};
    weights_shape_ends(&w->shape, &w->embedding, &w->output);
    make(&maker, &w->embedding);
    for (size_t l = 0; l < w->shape.layers; l++) {
        LayerWeights *layer = &w->layer[l];
        weights_shape_layer(&w->shape, l, layer);
        Matrix *all[] = {&layer->q,    &layer->k,  &layer->v,   &layer->o,
                         &layer->gate, &layer->up, &layer->down};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) make(&maker, all[i]);
        layer->attention_norm = ones(&maker, w->shape.dim);
        layer->mlp_norm = ones(&maker, w->shape.dim);
    }
    w->final_norm = ones(&maker, w->shape.dim);
    if (w->shape.tied)
        w->output = w->embedding;
    else
        make(&maker, &w->output);
}

bool weights_random(Weights *weights, const char *text, Memory *memory, Error *err) {
    *weights = (Weights){.memory = memory, .format = &format_f32};
    bool given[KEYS] = {false};
    Spec spec = {.dim = 64,
                 .layers = 2,
                 .heads = 4,
                 .kv_heads = 2,
                 .hidden = 172,
                 .vocab = 256,
                 .ctx = 512,
                 .window = SHAPE_NO_WINDOW,
                 .seed = 1};
    if (!read_spec(text, &spec, given, err)) return false;
    if (!shape_of(&spec, given, &weights->shape, err)) return false;
    weights->layer = memory_new(memory, spec.layers, sizeof *weights->layer, err);
    weights->arena = memory_new(memory, (size_t)weights_parameters(&weights->shape),
                                sizeof(float), err);
    if (!weights->layer || !weights->arena) {
        weights_close(weights);
        return false;
    }
    make_all(weights, spec.seed);
    return true;
}
