#include "chapters/00_forward/run.h"

#include "chapters/common/choose_kernels.h"
#include "chapters/common/prompt.h"
#include "core/cache/cache.h"
#include "core/count/observed.h"
#include "core/model/cached.h"
#include "core/text/utf8.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Per layer: norm, q, k, v, two rotations, attention, W_o, add, norm, gate, up, SwiGLU,
 * down, add. At the ends: embedding, final norm, logits. */
enum { BOXES_PER_LAYER = 15, BOXES_AT_ENDS = 3 };

typedef struct {
    const Options *options;
    ForwardResult *result;
    Memory *memory;
    Prompt prompt;
    Rule rule;
    Kernels kernels;
    Observed observed;
    bool watching; /* the newest token is on its way */
    Cache *cache;
    Cached *cached;
    float *logits; /* [vocab] */
} Run;

static const char *const layer_names[BOXES_PER_LAYER] = {
    "RMSNorm", "W_q",     "W_k",    "W_v",  "rotate q", "rotate k", "attention", "W_o",
    "add",     "RMSNorm", "W_gate", "W_up", "SwiGLU",   "W_down",   "add"};

/* Attention is two products: q . k and weights times V, per pair k_size and v_size. */
static void add_parts(uint64_t part[PARTS], const KernelCall *call) {
    if (call->kind == CALL_MATMUL) part[call->part] += call->multiply_adds;
    if (call->kind != CALL_ATTENTION) return;
    const Attention *a = call->attention;
    const uint64_t pairs = call->multiply_adds / (a->k_size + a->v_size); /* x heads */
    part[PART_SCORES] += pairs * a->k_size;
    part[PART_VALUES] += pairs * a->v_size;
}

/* Stations come in a fixed order, so a count says which one a call is. */
static void take_box(const KernelCall *call, void *data) {
    Run *run = data;
    ForwardResult *r = run->result;
    if (!run->watching) return;
    const size_t layers = r->model.weights.shape.layers;
    const size_t inside = r->boxes == 0 ? 0 : r->boxes - 1;
    const bool in_layer = r->boxes > 0 && inside < layers * BOXES_PER_LAYER;
    assert(r->boxes < layers * BOXES_PER_LAYER + BOXES_AT_ENDS);
    ForwardBox *box = &r->box[r->boxes++];
    *box = (ForwardBox){.name = in_layer ? layer_names[inside % BOXES_PER_LAYER]
                                : call->kind == CALL_EMBED ? "embedding"
                                : call->kind == CALL_NORM  ? "RMSNorm"
                                                           : "logits",
                        .layer = in_layer ? inside / BOXES_PER_LAYER : FORWARD_NO_LAYER,
                        .in = call->in,
                        .out = call->out,
                        .multiply_adds = call->multiply_adds};
    box->numbers = call->out < FORWARD_NUMBERS ? call->out : FORWARD_NUMBERS;
    memcpy(box->number, call->result, box->numbers * sizeof *box->number);
    r->multiply_adds += call->multiply_adds;
    add_parts(r->part, call);
}

static bool open_run(Run *run, Error *err) {
    ForwardResult *r = run->result;
    const Shape *shape = &r->model.weights.shape;
    if (!choose_kernels(run->options, &run->kernels, err)) return false;
    rule_full(&run->rule, shape, &format_f32);
    observed_init(&run->observed, &run->kernels, take_box, run, NULL);
    EngineConfig config = {.weights = &r->model.weights,
                           .rule = &run->rule,
                           .kernels = &run->observed.table,
                           .rows = run->prompt.room,
                           .positions = run->prompt.room,
                           .dense = run->options->dense,
                           .memory = run->memory};
    CacheConfig cache = {.shape = shape,
                         .rule = &run->rule,
                         .sequences = 1,
                         .capacity = run->prompt.room};
    run->cache = cache_open(run->options->cache, &cache, run->memory, err);
    run->cached = run->cache ? cached_open(&config, run->cache, err) : NULL;
    run->logits = memory_new(run->memory, shape->vocab, sizeof *run->logits, err);
    r->box = memory_new(run->memory, shape->layers * BOXES_PER_LAYER + BOXES_AT_ENDS,
                        sizeof *r->box, err);
    r->token = memory_new(run->memory, run->prompt.n, sizeof *r->token, err);
    return run->cached && run->logits && r->box && r->token;
}

static void close_run(Run *run) {
    cached_close(run->cached);
    cache_close(run->cache);
    memory_free(run->memory, run->logits);
    prompt_close(&run->prompt);
}

static void take_tokens(Run *run) {
    ForwardResult *r = run->result;
    const Tokenizer *tokenizer = r->model.tokenizer;
    for (size_t i = 0; i < run->prompt.n; i++) {
        int id = run->prompt.token[i], before = i ? run->prompt.token[i - 1] : id;
        r->token[i] = (ForwardToken){id, tokenizer->piece(tokenizer, before, id)};
    }
    r->tokens = r->context = run->prompt.n;
}

static void take_choices(Run *run) {
    ForwardResult *r = run->result;
    const size_t vocab = r->model.weights.shape.vocab;
    const int newest = run->prompt.token[run->prompt.n - 1];
    double sum = 0;
    r->choices = vocab < FORWARD_CHOICES ? vocab : FORWARD_CHOICES;
    for (size_t c = 0; c < r->choices; c++) {
        int best = -1;
        for (size_t i = 0; i < vocab; i++) {
            bool taken = false;
            for (size_t e = 0; e < c; e++) taken |= r->choice[e].id == (int)i;
            if (!taken && (best < 0 || run->logits[i] > run->logits[best]))
                best = (int)i;
        }
        r->choice[c] = (ForwardChoice){
            .id = best,
            .piece = r->model.tokenizer->piece(r->model.tokenizer, newest, best),
            .logit = run->logits[best]};
    }
    for (size_t i = 0; i < vocab; i++)
        sum += exp((double)run->logits[i] - (double)r->choice[0].logit);
    for (size_t c = 0; c < r->choices; c++)
        r->choice[c].probability =
            exp((double)r->choice[c].logit - (double)r->choice[0].logit) / sum;
}

/* All tokens but the newest fill the cache; then the newest is watched. */
static bool run_tokens(Run *run, Error *err) {
    const size_t older = run->prompt.n - 1;
    if (older > 0) {
        Batch before = prompt_batch(&run->prompt, 0, older, false);
        if (!cached_step(run->cached, &before, NULL, err)) return false;
    }
    run->watching = true;
    Batch newest = prompt_batch(&run->prompt, older, 1, false);
    return cached_step(run->cached, &newest, run->logits, err);
}

static const struct {
    const char *language, *text;
} samples[] = {
    {"English", "The river was high after the rain, and the old bridge was closed. "
                "We took the long way home, past the mill and the three tall poplars."},
    {"Chinese",
     "雨后河水很高，旧桥已经关闭。我们绕远路回家，经过磨坊和三棵高大的杨树。"},
};

static bool count_text(Run *run, const Tokenizer *tokenizer, const char *vocabulary,
                       size_t sample, ForwardText *out, Error *err) {
    const char *text = samples[sample].text;
    const size_t bytes = strlen(text);
    *out = (ForwardText){samples[sample].language, vocabulary, bytes, 0, 0};
    for (size_t i = 0; i < bytes; i += utf8_length(text + i, bytes - i))
        out->characters++;
    int *ids = memory_new(run->memory, bytes + 1, sizeof *ids, err);
    bool done = ids && tokenizer->encode(tokenizer, text, bytes, ids, bytes + 1,
                                         &out->tokens, err);
    memory_free(run->memory, ids);
    return done;
}

static bool count_texts(Run *run, Error *err) {
    Tokenizer *bytes = tokenizer_bytes_open(256, run->memory, err);
    bool done = bytes;
    for (size_t s = 0; done && s < 2; s++)
        done = count_text(run, bytes, "bytes", s, &run->result->text[2 * s], err) &&
               count_text(run, run->result->model.tokenizer, "this model's", s,
                          &run->result->text[2 * s + 1], err);
    tokenizer_close(bytes);
    return done;
}

bool forward_run(const Options *options, ForwardResult *result, Memory *memory,
                 Error *err) {
    *result = (ForwardResult){.memory = memory};
    Options one = *options;
    one.tokens = 1; /* room for the prompt; nothing is drawn */
    Run run = {.options = &one, .result = result, .memory = memory};
    if (!model_open(&result->model, options->model, options->tokenizer, memory, err))
        return false;
    bool done = prompt_open(&run.prompt, &result->model, &one, memory, err) &&
                open_run(&run, err) && run_tokens(&run, err) && count_texts(&run, err);
    if (done) {
        take_tokens(&run);
        take_choices(&run);
    }
    close_run(&run);
    if (!done) forward_result_close(result);
    return done;
}

void forward_result_close(ForwardResult *result) {
    memory_free(result->memory, result->token);
    memory_free(result->memory, result->box);
    model_close(&result->model);
    *result = (ForwardResult){0};
}
