/* Random trials: small models of every shape under every kind of rule, run through both
 * engines at once. Here are their making and their running; what a run must satisfy
 * stands in test_meaning.c, what a wrong one must not in test_mutants.c.
 *
 * A trial depends on its index alone. Prompts of several sequences arrive in random
 * chunks; now and then a chunk is a draft, that is, other tokens which are cropped
 * again. Every step of the cached engine is held against the recomputing one. */
#ifndef KVSTEP_TESTS_TRIALS_H
#define KVSTEP_TESTS_TRIALS_H

#include "core/base/random.h"
#include "core/kernels/rule.h"
#include "core/model/weights.h"
#include "tests/check_main.h"

#include <math.h>
#include <string.h>

enum {
    TRIALS = 60,
    TRIAL_KINDS = 6, /* of rules, by turns */
    TRIAL_FORMATS = 6,
    FORMAT_TRIALS = TRIAL_KINDS * TRIAL_FORMATS * TRIAL_FORMATS,
    TRIAL_SEQUENCES = 3,
    TRIAL_LENGTH = 20,
    TRIAL_LAYERS = 3,
    TRIAL_VOCAB = 40,
    TRIAL_HEADS = 16,
    TRIAL_ROWS = TRIAL_SEQUENCES * TRIAL_LENGTH,
};

typedef struct {
    size_t index;
    char spec[160];
    Memory memory;
    Weights weights;
    Rule rule;
    bool dense;
    size_t sequences, length[TRIAL_SEQUENCES];
    int token[TRIAL_SEQUENCES][TRIAL_LENGTH];
} Trial;

/* least to most, by the trial and a name for what is drawn */
static inline size_t trial_draw(const Trial *trial, const char *what, size_t i,
                                size_t least, size_t most) {
    uint64_t stream = i;
    for (; *what; what++) stream = stream * 257 + (unsigned char)*what;
    return least +
           (size_t)(random_draw(trial->index + 1, stream, 0) % (most - least + 1));
}

static inline void trial_fill(const Trial *trial, float *to, size_t count,
                              size_t stream, float least, float most) {
    for (size_t i = 0; i < count; i++)
        to[i] = least +
                (most - least) * random_unit(random_draw(trial->index + 99, stream, i));
}

/* Norms of a random: model are 1, which would hide a norm that is left out. Norms are
 * read-only views of the arena. */
static inline void trial_bend_norms(const Trial *trial) {
    const Weights *w = &trial->weights;
    const size_t dim = w->shape.dim;
    trial_fill(trial, w->arena + (w->final_norm - w->arena), dim, 1000, 0.5f, 1.5f);
    for (size_t l = 0; l < w->shape.layers; l++) {
        const LayerWeights *layer = &w->layer[l];
        trial_fill(trial, w->arena + (layer->attention_norm - w->arena), dim, 1001 + l,
                   0.5f, 1.5f);
        trial_fill(trial, w->arena + (layer->mlp_norm - w->arena), dim, 2001 + l, 0.5f,
                   1.5f);
    }
}

static inline void trial_place(const Trial *trial, Matrix *m, float **next) {
    m->data = *next;
    m->format = &format_f32;
    float most = sqrtf(3.0f / (float)m->cols); /* rows of about unit length */
    trial_fill(trial, *next, m->rows * m->cols, (size_t)(*next - trial->weights.arena),
               -most, most);
    *next += m->rows * m->cols;
}

/* Rows of K and V in whole blocks: 32 or 64 values, in 1 to 4 heads. */
static inline void trial_draw_blocks(const Trial *trial, size_t l, LayerShape *s) {
    s->kv_heads = (size_t)1 << trial_draw(trial, "blocks kv", l, 0, 2);
    s->heads = s->kv_heads * trial_draw(trial, "blocks group", l, 1, 3);
    s->k_size = 32 / s->kv_heads * trial_draw(trial, "blocks k", l, 1, 2);
    s->v_size = 32 / s->kv_heads * trial_draw(trial, "blocks v", l, 1, 2);
    s->hidden = trial_draw(trial, "uneven hidden", l, 1, 40);
}

/* Replaces the layers, which `random:` makes all alike, by layers of different heads,
 * sizes of K and V, and hidden widths. */
static inline void trial_make_uneven(Trial *trial, bool blocks) {
    Weights *w = &trial->weights;
    Shape shape = w->shape;
    weights_close(w);
    for (size_t l = 0; l < shape.layers; l++) {
        LayerShape *s = &shape.layer[l];
        s->kv_heads = trial_draw(trial, "uneven kv", l, 1, 3);
        s->heads = s->kv_heads * trial_draw(trial, "uneven group", l, 1, 4);
        s->k_size = shape.rot + trial_draw(trial, "uneven k", l, 2, 9);
        s->v_size = trial_draw(trial, "uneven v", l, 1, 20);
        s->hidden = trial_draw(trial, "uneven hidden", l, 1, 40);
        if (blocks) trial_draw_blocks(trial, l, s);
    }
    *w = (Weights){.shape = shape, .format = &format_f32, .memory = &trial->memory};
    w->layer = memory_new(&trial->memory, shape.layers, sizeof *w->layer, NULL);
    w->arena =
        memory_new(&trial->memory, weights_parameters(&shape), sizeof(float), NULL);
    ck_assert(w->layer && w->arena);
    float *next = w->arena;
    weights_shape_ends(&shape, &w->embedding, &w->output);
    trial_place(trial, &w->embedding, &next);
    w->output = w->embedding;
    if (!shape.tied) {
        w->output.data = NULL;
        trial_place(trial, &w->output, &next);
    }
    for (size_t l = 0; l < shape.layers; l++) {
        LayerWeights *layer = &w->layer[l];
        weights_shape_layer(&shape, l, layer);
        Matrix *all[] = {&layer->q,    &layer->k,  &layer->v,   &layer->o,
                         &layer->gate, &layer->up, &layer->down};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            trial_place(trial, all[i], &next);
        layer->attention_norm = next;
        layer->mlp_norm = next + shape.dim;
        next += 2 * shape.dim;
    }
    w->final_norm = next;
}

static inline void trial_open_spec(Trial *trial, size_t index, const char *spec) {
    *trial = (Trial){.index = index};
    Error err = {0};
    snprintf(trial->spec, sizeof trial->spec, "%s", spec);
    ck_assert_msg(weights_random(&trial->weights, spec, &trial->memory, &err), "%s",
                  err.text);
}

/* Rules by turns: full, dense, windows, sinks, keys turned when read, and a mixture. */
static inline void trial_make_rule(Trial *trial) {
    Shape *shape = &trial->weights.shape;
    const size_t kind = trial->index % TRIAL_KINDS;
    for (size_t l = 0; kind == 2 && l < shape->layers;
         l++) /* the model's own windows */
        shape->layer[l].window = trial_draw(trial, "window", l, 0, 3)
                                     ? trial_draw(trial, "wide", l, 1, 9)
                                     : SHAPE_NO_WINDOW;
    rule_full(&trial->rule, shape, &format_f32);
    trial->dense = kind == 1 || (kind == 4 && trial_draw(trial, "dense", 0, 0, 1));
    for (size_t l = 0; l < shape->layers; l++) {
        LayerRule *rule = &trial->rule.layer[l];
        bool mixed = kind == 5 && trial_draw(trial, "mixed", l, 0, 2);
        if (kind == 3 || mixed) {
            rule->sinks = trial_draw(trial, "sinks", l, 1, 3);
            rule->recent = trial_draw(trial, "recent", l, 1, 6);
        }
        if (kind == 4 || mixed) rule->keys_turned = false;
    }
}

/* Dense scores are for the full rule, whose keys may be turned when read. */
static inline bool trial_may_be_dense(const Trial *trial) {
    bool full = true;
    for (size_t l = 0; l < trial->rule.layers; l++)
        full &= trial->rule.layer[l].recent == RULE_ALL && !trial->rule.layer[l].sinks;
    return full;
}

static inline void trial_draw_tokens(Trial *trial, size_t sequences, size_t least) {
    trial->sequences = sequences;
    for (size_t s = 0; s < sequences; s++) {
        trial->length[s] = trial_draw(trial, "length", s, least, TRIAL_LENGTH);
        for (size_t p = 0; p < trial->length[s]; p++)
            trial->token[s][p] = (int)trial_draw(trial, "token", s * 100 + p, 0,
                                                 trial->weights.shape.vocab - 1);
    }
}

static inline void trial_open(Trial *trial, size_t index) {
    *trial = (Trial){.index = index};
    size_t kv = trial_draw(trial, "kv", 0, 1, 3),
           head = trial_draw(trial, "head", 0, 2, 40);
    size_t group = trial_draw(trial, "group", 0, 1, 4), rot = head - head % 2;
    if (trial_draw(trial, "how much turns", 0, 0, 2) == 0)
        rot = 2 * trial_draw(trial, "rot", 0, 0, head / 2);
    if (trial_draw(trial, "how much turns", 1, 0, 5) == 0) rot = 0;
    char spec[sizeof trial->spec];
    snprintf(spec, sizeof spec,
             "dim=%zu,layers=%zu,heads=%zu,kv_heads=%zu,head=%zu,rot=%zu,hidden=%zu,"
             "vocab=%zu,ctx=64,tied=%zu,seed=%zu",
             trial_draw(trial, "dim", 0, 3, 48),
             trial_draw(trial, "layers", 0, 1, TRIAL_LAYERS), kv * group, kv, head, rot,
             trial_draw(trial, "hidden", 0, 1, 60),
             trial_draw(trial, "vocab", 0, 2, TRIAL_VOCAB),
             trial_draw(trial, "tied", 0, 0, 1), index);
    trial_open_spec(trial, index, spec);
    trial->weights.shape.rope_base =
        trial_draw(trial, "base", 0, 0, 1) ? 10000.0 : 50.0;
    if (trial_draw(trial, "even", 0, 0, 2) == 0) trial_make_uneven(trial, false);
    trial_bend_norms(trial);
    trial_make_rule(trial);
    trial_draw_tokens(trial, trial_draw(trial, "sequences", 0, 1, TRIAL_SEQUENCES), 1);
}

/* Full (dense by turns), window, sinks, mixed, and the first and the third with keys
 * turned when read. */
static inline void trial_make_format_rule(Trial *trial, size_t kind, const Format *k,
                                          const Format *v) {
    rule_full(&trial->rule, &trial->weights.shape, k);
    trial->dense = (kind == 0 || kind == 4) && trial->index % 2;
    for (size_t l = 0; l < trial->rule.layers; l++) {
        LayerRule *rule = &trial->rule.layer[l];
        const size_t here = kind == 3 ? trial_draw(trial, "mixed", l, 0, 2) : kind;
        rule->v = v;
        rule->keys_turned = kind < 4;
        if (here == 1 || here == 2 || here == 5)
            rule->recent = trial_draw(trial, "recent", l, 1, 6);
        if (here == 2 || here == 5) rule->sinks = trial_draw(trial, "sinks", l, 1, 3);
    }
}

/* Every kind of rule with every two formats for K and V; layers of different shapes. */
static inline void trial_open_formats(Trial *trial, size_t index) {
    static const Format *const formats[TRIAL_FORMATS] = {&format_f32,  &format_f16,
                                                         &format_bf16, &format_q8_0,
                                                         &format_q4_0, &format_fp8};
    const size_t pair = index % (TRIAL_FORMATS * TRIAL_FORMATS);
    const size_t kind = index / (TRIAL_FORMATS * TRIAL_FORMATS);
    char spec[sizeof trial->spec];
    snprintf(spec, sizeof spec,
             "dim=%zu,layers=%zu,heads=1,kv_heads=1,head=8,hidden=9,vocab=30,ctx=64,"
             "tied=0,rot=%zu",
             3 + index % 30, kind == 3 ? TRIAL_LAYERS : 1 + index % 2,
             index % 5 ? (size_t)8 : 4);
    trial_open_spec(trial, 1000 + index + kind, spec);
    trial_make_uneven(trial, true);
    trial_bend_norms(trial);
    trial_make_format_rule(trial, kind, formats[pair / TRIAL_FORMATS],
                           formats[pair % TRIAL_FORMATS]);
    trial_draw_tokens(trial, 1 + index % 2, 12);
}

static inline void trial_close(Trial *trial) {
    weights_close(&trial->weights);
    ck_assert_uint_eq(trial->memory.live, 0);
}

#endif
