#include "chapters/01_generate/run.h"

#include "chapters/common/choose_kernels.h"
#include "chapters/common/prompt.h"
#include "core/base/clock.h"
#include "core/count/counted.h"
#include "core/count/formula.h"
#include "core/model/recompute.h"
#include "core/model/sample.h"

#include <string.h>

typedef struct {
    const Options *options;
    GenerateResult *result;
    Memory *memory;
    Prompt prompt;
    Rule rule;
    Kernels kernels;
    Counters counters;
    Counted counted;
    Recompute *recompute;
    char *kept[SHAPE_MAX_LAYERS]; /* [room] rows, K then V, of the step before */
    size_t kept_rows;             /* how many of them */
    float *logits;                /* [rows wanted][vocab] */
    Candidate *candidates;        /* [vocab] */
    Digest digest;
} Run;

static const Shape *shape_of(const Run *run) {
    return &run->result->model.weights.shape;
}

static bool open_run(Run *run, Error *err) {
    const Options *o = run->options;
    const Shape *shape = shape_of(run);
    if (!choose_kernels(o, &run->kernels, err)) return false;
    Memory *m = run->memory;
    rule_full(&run->rule, shape, &format_f32);
    counted_init(&run->counted, &run->kernels, &run->counters, false);
    EngineConfig config = {.weights = &run->result->model.weights,
                           .rule = &run->rule,
                           .kernels = &run->counted.table,
                           .rows = run->prompt.room,
                           .positions = run->prompt.room,
                           .dense = o->dense,
                           .memory = m};
    run->recompute = recompute_open(&config, err);
    run->candidates = memory_new(m, shape->vocab, sizeof *run->candidates, err);
    run->logits = memory_new(m, o->logits_all ? run->prompt.room : 1,
                             shape->vocab * sizeof *run->logits, err);
    run->result->step = memory_new(m, o->tokens, sizeof *run->result->step, err);
    bool done = run->recompute && run->candidates && run->logits && run->result->step;
    for (size_t l = 0; done && l < shape->layers; l++) {
        size_t row = formula_row_bytes(&shape->layer[l], &run->rule.layer[l]);
        run->kept[l] = memory_new(m, run->prompt.room, row, err);
        done = run->kept[l];
    }
    return done;
}

static void close_run(Run *run) {
    recompute_close(run->recompute);
    memory_free(run->memory, run->candidates);
    memory_free(run->memory, run->logits);
    for (size_t l = 0; l < SHAPE_MAX_LAYERS; l++)
        memory_free(run->memory, run->kept[l]);
    prompt_close(&run->prompt);
}

/* Compares a new row with the kept one and keeps the new. */
static bool keep_row(char *kept, const Span *span, size_t k_bytes, size_t v_bytes) {
    bool same = memcmp(kept, span->k, k_bytes) == 0 &&
                memcmp(kept + k_bytes, span->v, v_bytes) == 0;
    memcpy(kept, span->k, k_bytes);
    memcpy(kept + k_bytes, span->v, v_bytes);
    return same;
}

/* How many layers' rows of this position have the bits of the step before. */
static size_t layers_same(Run *run, size_t position) {
    const Shape *shape = shape_of(run);
    size_t same = 0;
    for (size_t l = 0; l < shape->layers; l++) {
        const LayerShape *s = &shape->layer[l];
        const LayerRule *rule = &run->rule.layer[l];
        const size_t k_bytes = rule->k->row_bytes(s->kv_heads, s->k_size);
        const size_t v_bytes = rule->v->row_bytes(s->kv_heads, s->v_size);
        Rows rows = recompute_rows(run->recompute, l, 0, run->prompt.n);
        Span span;
        rows.at(&rows, position, &span);
        bool equal = keep_row(run->kept[l] + position * (k_bytes + v_bytes), &span,
                              k_bytes, v_bytes);
        same += equal && position < run->kept_rows;
    }
    return same;
}

static void count_same(Run *run, GenerateStep *step) {
    const size_t layers = shape_of(run)->layers;
    for (size_t p = 0; p < run->prompt.n; p++) {
        const size_t same = layers_same(run, p);
        step->same += same;
        if (same == layers && step->tokens_same == p) step->tokens_same++;
    }
    step->rows = run->prompt.n * layers;
    run->kept_rows = run->prompt.n;
}

/* What the rows behind the first `same` tokens cost, these being there. */
static void add_cost(const Run *run, size_t same, bool dense, Counters *sum) {
    const size_t fresh = run->prompt.n - same;
    FormulaRows rows = {.first = same,
                        .n = fresh,
                        .logits = run->options->logits_all ? fresh : 1,
                        .dense = dense};
    formula_rows(shape_of(run), &run->rule, &rows, sum);
}

static void take_bill(Run *run, GenerateStep *step) {
    GenerateResult *r = run->result;
    const size_t n = run->prompt.n;
    Counters fresh = {0};
    add_cost(run, step->tokens_same, run->options->dense, &fresh);
    step->done_before = counters_flops(&step->counters) - counters_flops(&fresh);
    step->pairs_dense = formula_pairs(&run->rule.layer[0], 0, n, true);
    step->pairs_causal = formula_pairs(&run->rule.layer[0], 0, n, false);
    add_cost(run, 0, true, &r->dense);
    add_cost(run, 0, false, &r->causal);
    counters_add(&r->total, &step->counters);
    r->done_before += step->done_before;
    r->seconds += step->seconds;
}

static bool take_step(Run *run, Error *err) {
    const Options *o = run->options;
    GenerateResult *r = run->result;
    const size_t n = run->prompt.n, vocab = shape_of(run)->vocab;
    GenerateStep *step = &r->step[r->steps];
    *step = (GenerateStep){.step = n - 1, .context = n};
    run->counters = (Counters){0};
    Batch all = prompt_batch(&run->prompt, 0, n, o->logits_all);
    double start = clock_seconds();
    if (!recompute_step(run->recompute, &all, run->logits, err)) return false;
    step->seconds = clock_seconds() - start;
    step->counters = run->counters;
    count_same(run, step);
    take_bill(run, step);

    const float *newest = run->logits + (o->logits_all ? n - 1 : 0) * vocab;
    digest_add(&run->digest, newest, vocab);
    Sampling sampling = {o->temperature, o->top_p, o->seed};
    step->before = run->prompt.token[n - 1];
    step->token = sample_token(newest, vocab, &sampling, 0, n, run->candidates);
    step->text =
        r->model.tokenizer->piece(r->model.tokenizer, step->before, step->token);
    r->steps++;
    r->ended = tokenizer_is_end(r->model.tokenizer, step->token);
    run->prompt.token[run->prompt.n++] = step->token;
    return true;
}

static bool run_steps(Run *run, GenerateWatch *watch, void *data, Error *err) {
    GenerateResult *r = run->result;
    r->prompt_tokens = run->prompt.prompt;
    digest_begin(&run->digest);
    while (r->steps < run->options->tokens && !r->ended) {
        if (!take_step(run, err)) return false;
        if (watch) watch(r, &r->step[r->steps - 1], data);
    }
    if (digest_exists()) digest_text(&run->digest, r->digest);
    return true;
}

bool generate_run(const Options *options, GenerateWatch *watch, void *data,
                  GenerateResult *result, Memory *memory, Error *err) {
    *result = (GenerateResult){.memory = memory};
    Run run = {.options = options, .result = result, .memory = memory};
    if (!model_open(&result->model, options->model, options->tokenizer, memory, err))
        return false;
    bool done = prompt_open(&run.prompt, &result->model, options, memory, err) &&
                open_run(&run, err) && run_steps(&run, watch, data, err);
    close_run(&run);
    if (!done) generate_result_close(result);
    return done;
}

void generate_result_close(GenerateResult *result) {
    memory_free(result->memory, result->step);
    model_close(&result->model);
    *result = (GenerateResult){0};
}
