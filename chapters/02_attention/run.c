#include "chapters/02_attention/run.h"

#include "chapters/02_attention/bent.h"
#include "chapters/02_attention/looking.h"
#include "chapters/common/choose_kernels.h"
#include "chapters/common/prompt.h"
#include "core/count/formula.h"
#include "core/model/recompute.h"

#include <math.h>

typedef struct {
    const Options *options;
    AttentionResult *result;
    Memory *memory;
    Prompt prompt;
    Rule rule;
    Kernels kernels;
    Bent bent;
    Observed observed;
    Recompute *recompute;
    Looking looking;
    float *logits, *shifted_logits; /* [vocab] */
    float *moved_logits;            /* [vocab]; nobody reads them */
    RopeTable rope;
} Run;

static bool check_choice(const Run *run, Error *err) {
    const Shape *shape = &run->result->model.weights.shape;
    const Options *o = run->options;
    if (run->prompt.n > ATTENTION_MOST_TOKENS)
        return error_set(err,
                         "%zu tokens: attention opens at most %d, because it keeps "
                         "every matrix; shorten --prompt",
                         run->prompt.n, ATTENTION_MOST_TOKENS);
    if (o->layer >= shape->layers)
        return error_set(err, "--layer %zu: the model has layers 0 to %zu", o->layer,
                         shape->layers - 1);
    const LayerShape *layer = &shape->layer[o->layer];
    if (o->head >= layer->heads)
        return error_set(err, "--head %zu: layer %zu has heads 0 to %zu", o->head,
                         o->layer, layer->heads - 1);
    if (o->shift > shape->context - run->prompt.n)
        return error_set(
            err,
            "--shift %zu: %zu tokens would pass the context of %zu; shift by "
            "at most %zu",
            o->shift, run->prompt.n, shape->context, shape->context - run->prompt.n);
    return true;
}

static bool open_result(Run *run, Error *err) {
    AttentionResult *r = run->result;
    const Options *o = run->options;
    const LayerShape *layer = &r->model.weights.shape.layer[o->layer];
    const size_t n = run->prompt.n, row = n * sizeof(float);
    Memory *m = run->memory;
    r->n = n;
    r->layer = o->layer;
    r->head = o->head;
    r->heads = layer->heads;
    r->kv_head = o->head / (layer->heads / layer->kv_heads);
    r->k_size = layer->k_size;
    r->v_size = layer->v_size;
    r->scale = 1.0f / sqrtf((float)layer->k_size);
    r->no_mask = o->no_mask;
    r->shift = o->shift;
    r->rot = r->model.weights.shape.rot;
    r->token = memory_new(m, n, sizeof *r->token, err);
    r->q = memory_new(m, layer->k_size, row, err);
    r->k = memory_new(m, layer->k_size, row, err);
    r->v = memory_new(m, layer->v_size, row, err);
    r->out = memory_new(m, layer->v_size, row, err);
    r->scores = memory_new(m, n, row, err);
    r->weights = memory_new(m, layer->heads * n, row, err);
    r->older = memory_new(m, n, row, err);
    r->same = memory_new(m, n, sizeof *r->same, err);
    r->head_same = memory_new(m, layer->heads, sizeof *r->head_same, err);
    r->turn = memory_new(m, 2, row, err);
    r->slow_turn = memory_new(m, 2, row, err);
    r->shifted = memory_new(m, 1, row, err);
    return r->token && r->q && r->k && r->v && r->out && r->scores && r->weights &&
           r->older && r->same && r->head_same && r->turn && r->slow_turn && r->shifted;
}

static bool open_run(Run *run, Error *err) {
    AttentionResult *r = run->result;
    const Shape *shape = &r->model.weights.shape;
    const size_t n = run->prompt.n;
    if (!choose_kernels(run->options, &run->kernels, err) ||
        !bent_open(&run->bent, &run->kernels, n, run->memory, err))
        return false;
    run->bent.no_mask = run->options->no_mask;
    if (!looking_open(&run->looking, r, run->memory, err)) return false;
    run->logits = memory_new(run->memory, shape->vocab, sizeof(float), err);
    run->shifted_logits = memory_new(run->memory, shape->vocab, sizeof(float), err);
    run->moved_logits = memory_new(run->memory, shape->vocab, sizeof(float), err);
    if (!run->logits || !run->shifted_logits || !run->moved_logits) return false;
    if (!rope_open(&run->rope, shape->rot, shape->rope_base, n, run->memory, err))
        return false;
    rule_full(&run->rule, shape, &format_f32);
    observed_init(&run->observed, &run->bent.table, looking_see, &run->looking,
                  run->looking.probs);
    EngineConfig config = {.weights = &r->model.weights,
                           .rule = &run->rule,
                           .kernels = &run->observed.table,
                           .rows = n,
                           .positions = n + r->shift,
                           .memory = run->memory};
    run->recompute = recompute_open(&config, err);
    return run->recompute;
}

static void close_run(Run *run) {
    Memory *m = run->memory;
    recompute_close(run->recompute);
    rope_close(&run->rope, m);
    bent_close(&run->bent);
    looking_close(&run->looking);
    memory_free(m, run->logits);
    memory_free(m, run->shifted_logits);
    memory_free(m, run->moved_logits);
    prompt_close(&run->prompt);
}

static bool take_step(Run *run, LookingStep which, size_t n, float *logits,
                      Error *err) {
    looking_begin(&run->looking, which);
    run->bent.shift = which >= LOOKING_SHIFTED ? run->result->shift : 0;
    run->bent.first = which == LOOKING_MOVED ? n - 1 : 0;
    run->prompt.n = n;
    Batch batch = prompt_batch(&run->prompt, 0, n, false);
    return recompute_step(run->recompute, &batch, logits, err);
}

static bool run_steps(Run *run, Error *err) {
    const size_t n = run->result->n;
    if (n > 1 && !take_step(run, LOOKING_BEFORE, n - 1, run->logits, err)) return false;
    return take_step(run, LOOKING_NEWEST, n, run->logits, err) &&
           take_step(run, LOOKING_SHIFTED, n, run->shifted_logits, err) &&
           take_step(run, LOOKING_MOVED, n, run->moved_logits, err);
}

/* cos and sin of one pair at each position; without rotation nothing is turned. */
static void take_turn(const Run *run, size_t pair, float *turn) {
    const size_t pairs = run->rope.rot / 2;
    for (size_t p = 0; p < run->result->n; p++) {
        turn[2 * p] = pairs ? run->rope.cos[p * pairs + pair] : 1;
        turn[2 * p + 1] = pairs ? run->rope.sin[p * pairs + pair] : 0;
    }
}

static void take_rotation(const Run *run) {
    AttentionResult *r = run->result;
    const double base = r->model.weights.shape.rope_base;
    take_turn(run, 0, r->turn);
    take_turn(run, r->rot ? r->rot / 2 - 1 : 0, r->slow_turn);
    if (!r->rot) return;
    r->angle = 1; /* base^0: one radian a position */
    r->slow_angle = pow(base, -((double)r->rot - 2) / (double)r->rot);
}

static void take_ranges(const Run *run) {
    AttentionResult *r = run->result;
    float low = run->logits[0], high = low;
    for (size_t i = 0; i < r->model.weights.shape.vocab; i++) {
        const float x = run->logits[i];
        low = x < low ? x : low;
        high = x > high ? x : high;
        const float change = fabsf(x - run->shifted_logits[i]);
        if (change > r->logit_change) r->logit_change = change;
    }
    r->logit_range = high - low;
    r->score_low = r->score_high = r->scores[0];
    for (size_t i = 0; i < r->n * r->n; i++) {
        if (r->scores[i] < r->score_low) r->score_low = r->scores[i];
        if (r->scores[i] > r->score_high) r->score_high = r->scores[i];
    }
}

static void finish(Run *run) {
    AttentionResult *r = run->result;
    const Tokenizer *tokenizer = r->model.tokenizer;
    for (size_t i = 0; i < r->n; i++) {
        int id = run->prompt.token[i], before = i ? run->prompt.token[i - 1] : id;
        r->token[i] = (AttentionToken){id, tokenizer->piece(tokenizer, before, id)};
    }
    const LayerRule *rule = &run->rule.layer[r->layer];
    r->pairs_above = r->n * (r->n - 1) / 2;
    r->pairs_dense = formula_pairs(rule, 0, r->n, true);
    r->pairs_causal = formula_pairs(rule, 0, r->n, false);
    take_rotation(run);
    take_ranges(run);
}

bool attention_sees(const AttentionResult *r, size_t query, size_t key) {
    const size_t window = r->model.weights.shape.layer[r->layer].window;
    return r->no_mask || (key <= query && query - key < window);
}

bool attention_run(const Options *options, AttentionResult *result, Memory *memory,
                   Error *err) {
    *result = (AttentionResult){.memory = memory};
    Options one = *options;
    one.tokens = 1; /* room for the prompt; nothing is drawn */
    Run run = {.options = &one, .result = result, .memory = memory};
    if (!model_open(&result->model, options->model, options->tokenizer, memory, err))
        return false;
    bool done = prompt_open(&run.prompt, &result->model, &one, memory, err) &&
                check_choice(&run, err) && open_result(&run, err) &&
                open_run(&run, err) && run_steps(&run, err);
    if (done) finish(&run);
    close_run(&run);
    if (!done) attention_result_close(result);
    return done;
}

void attention_result_close(AttentionResult *result) {
    void *all[] = {result->token,     result->q,     result->k,
                   result->v,         result->out,   result->scores,
                   result->weights,   result->older, result->same,
                   result->head_same, result->turn,  result->slow_turn,
                   result->shifted};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        memory_free(result->memory, all[i]);
    model_close(&result->model);
    *result = (AttentionResult){0};
}
