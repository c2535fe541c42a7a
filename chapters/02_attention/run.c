#include "chapters/02_attention/run.h"

#include "chapters/02_attention/bent.h"
#include "chapters/common/prompt.h"
#include "core/count/observed.h"
#include "core/kernels/sum.h"
#include "core/model/recompute.h"

#include <string.h>

typedef enum { STEP_BEFORE, STEP_NEWEST, STEP_SHIFTED } Which;

typedef struct {
    const Options *options;
    AttentionResult *result;
    Memory *memory;
    Prompt prompt;
    Rule rule;
    Bent bent;
    Observed observed;
    Recompute *recompute;
    Which which;     /* the step under way */
    size_t at_layer; /* of the next attention call */
    float *older;    /* [layers][heads][n - 1][n - 1] weights of the step before */
    float *probs;    /* [n][heads][n] of one call */
    float *logits, *shifted_logits; /* [vocab] */
    float *k_row, *v_row;           /* one row of the chosen layer, widened */
    size_t most_heads;              /* of any layer */
    RopeTable rope;
} Run;

/* Weights of one query and head of this call. */
static const float *probs_of(const Attention *a, size_t query, size_t head) {
    return a->probs + (query * a->heads + head) * a->rows->end;
}

static float *older_row(const Run *run, size_t layer, size_t head, size_t query) {
    const size_t n = run->result->n - 1;
    return run->older + ((layer * run->most_heads + head) * n + query) * n;
}

static void keep_older(Run *run, const Attention *a) {
    const size_t n = run->result->n - 1;
    for (size_t h = 0; h < a->heads; h++)
        for (size_t t = 0; t < n; t++)
            memcpy(older_row(run, run->at_layer, h, t), probs_of(a, t, h),
                   n * sizeof(float));
}

/* The row of an old query is the same if its old weights have the same bits and the new
 * key got none. */
static void compare_older(Run *run, const Attention *a) {
    AttentionResult *r = run->result;
    const size_t n = r->n - 1;
    for (size_t h = 0; h < a->heads; h++)
        for (size_t t = 0; t < n; t++) {
            const float *older = older_row(run, run->at_layer, h, t);
            const float *newer = probs_of(a, t, h);
            bool same = memcmp(older, newer, n * sizeof(float)) == 0 && newer[n] == 0;
            r->rows_same += same;
            r->rows_compared++;
            if (run->at_layer != r->layer || h != r->head) continue;
            r->same[t] = same;
            memcpy(r->older + t * n, older, n * sizeof(float));
        }
}

static void read_row(const Run *run, const Attention *a, size_t position) {
    Span span;
    a->rows->at(a->rows, position, &span);
    a->rule->k->unpack(span.k, span.k_step, 1, a->kv_heads, a->k_size, run->k_row);
    a->rule->v->unpack(span.v, span.v_step, 1, a->kv_heads, a->v_size, run->v_row);
}

/* Copies what the chosen head sees out of the call: the same numbers, not new ones. */
static void open_head(Run *run, const Attention *a) {
    AttentionResult *r = run->result;
    const size_t n = r->n;
    for (size_t t = 0; t < n; t++) {
        memcpy(r->q + t * r->k_size, a->q + (t * a->heads + r->head) * r->k_size,
               r->k_size * sizeof *r->q);
        memcpy(r->out + t * r->v_size, a->out + (t * a->heads + r->head) * r->v_size,
               r->v_size * sizeof *r->out);
        read_row(run, a, t);
        memcpy(r->k + t * r->k_size, run->k_row + r->kv_head * r->k_size,
               r->k_size * sizeof *r->k);
        memcpy(r->v + t * r->v_size, run->v_row + r->kv_head * r->v_size,
               r->v_size * sizeof *r->v);
        for (size_t h = 0; h < a->heads; h++)
            memcpy(r->weights + (h * n + t) * n, probs_of(a, t, h), n * sizeof(float));
    }
    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; i < n; i++) {
            r->scores[t * n + i] =
                dot(r->q + t * r->k_size, r->k + i * r->k_size, r->k_size) * a->scale;
            r->above_diagonal += i > t && r->weights[(r->head * n + t) * n + i] != 0;
        }
}

/* The newest query's scores at the later positions. */
static void score_shifted(Run *run, const Attention *a) {
    AttentionResult *r = run->result;
    const float *q = a->q + ((r->n - 1) * a->heads + r->head) * r->k_size;
    for (size_t i = 0; i < r->n; i++) {
        read_row(run, a, i);
        r->shifted[i] =
            dot(q, run->k_row + r->kv_head * r->k_size, r->k_size) * a->scale;
        float change = fabsf(r->shifted[i] - r->scores[(r->n - 1) * r->n + i]);
        if (change > r->score_change) r->score_change = change;
    }
}

static void see_attention(const KernelCall *call, void *data) {
    Run *run = data;
    if (call->kind != CALL_ATTENTION) return;
    const Attention *a = call->attention;
    const bool chosen = run->at_layer == run->result->layer;
    if (run->which == STEP_BEFORE) keep_older(run, a);
    if (run->which == STEP_NEWEST) compare_older(run, a);
    if (run->which == STEP_NEWEST && chosen) open_head(run, a);
    if (run->which == STEP_SHIFTED && chosen) score_shifted(run, a);
    run->at_layer++;
}

static bool check_choice(const Run *run, Error *err) {
    const Shape *shape = &run->result->model.weights.shape;
    const Options *o = run->options;
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
    r->turn = memory_new(m, 2, row, err);
    r->shifted = memory_new(m, 1, row, err);
    return r->token && r->q && r->k && r->v && r->out && r->scores && r->weights &&
           r->older && r->same && r->turn && r->shifted;
}

static bool open_run(Run *run, Error *err) {
    AttentionResult *r = run->result;
    const Shape *shape = &r->model.weights.shape;
    const size_t n = run->prompt.n;
    const Kernels *kernels = kernels_select(run->options->kernels, err);
    if (!kernels || !bent_open(&run->bent, kernels, n, run->memory, err)) return false;
    run->bent.no_mask = run->options->no_mask;
    for (size_t l = 0; l < shape->layers; l++)
        if (shape->layer[l].heads > run->most_heads)
            run->most_heads = shape->layer[l].heads;
    size_t older = shape->layers * run->most_heads;
    if (!size_times(&older, n)) return error_set(err, "%zu tokens are too many", n);
    run->older = memory_new(run->memory, older, n * sizeof(float), err);
    run->probs = memory_new(run->memory, run->most_heads * n, n * sizeof(float), err);
    run->logits = memory_new(run->memory, shape->vocab, sizeof(float), err);
    run->shifted_logits = memory_new(run->memory, shape->vocab, sizeof(float), err);
    if (!run->older || !run->probs || !run->logits || !run->shifted_logits)
        return false;
    if (!rope_open(&run->rope, shape->rot, shape->rope_base, n, run->memory, err))
        return false;
    rule_full(&run->rule, shape, &format_f32);
    observed_init(&run->observed, &run->bent.table, see_attention, run, run->probs);
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
    memory_free(m, run->older);
    memory_free(m, run->probs);
    memory_free(m, run->logits);
    memory_free(m, run->shifted_logits);
    memory_free(m, run->k_row);
    memory_free(m, run->v_row);
    prompt_close(&run->prompt);
}

static bool take_step(Run *run, Which which, size_t n, float *logits, Error *err) {
    run->which = which;
    run->at_layer = 0;
    run->bent.shift = which == STEP_SHIFTED ? run->result->shift : 0;
    run->prompt.n = n;
    Batch batch = prompt_batch(&run->prompt, 0, n, false);
    return recompute_step(run->recompute, &batch, logits, err);
}

static bool run_steps(Run *run, Error *err) {
    const size_t n = run->result->n;
    if (n > 1 && !take_step(run, STEP_BEFORE, n - 1, run->logits, err)) return false;
    return take_step(run, STEP_NEWEST, n, run->logits, err) &&
           take_step(run, STEP_SHIFTED, n, run->shifted_logits, err);
}

static void finish(Run *run) {
    AttentionResult *r = run->result;
    const Tokenizer *tokenizer = r->model.tokenizer;
    for (size_t i = 0; i < r->n; i++) {
        int id = run->prompt.token[i], before = i ? run->prompt.token[i - 1] : id;
        r->token[i] = (AttentionToken){id, tokenizer->piece(tokenizer, before, id)};
        r->turn[2 * i] = r->rot ? run->rope.cos[i * (r->rot / 2)] : 1;
        r->turn[2 * i + 1] = r->rot ? run->rope.sin[i * (r->rot / 2)] : 0;
    }
    r->angle = r->rot ? 1.0 : 0.0; /* base^0: pair 0 turns by one radian a position */
    float low = run->logits[0], high = low;
    for (size_t i = 0; i < r->model.weights.shape.vocab; i++) {
        float x = run->logits[i], change = fabsf(x - run->shifted_logits[i]);
        if (x < low) low = x;
        if (x > high) high = x;
        if (change > r->logit_change) r->logit_change = change;
    }
    r->logit_range = high - low;
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
    void *all[] = {result->token, result->q,      result->k,       result->v,
                   result->out,   result->scores, result->weights, result->older,
                   result->same,  result->turn,   result->shifted};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        memory_free(result->memory, all[i]);
    model_close(&result->model);
    *result = (AttentionResult){0};
}
