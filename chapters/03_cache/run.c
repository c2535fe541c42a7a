#include "chapters/03_cache/run.h"

#include "chapters/common/choose_kernels.h"
#include "chapters/common/prompt.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/conform/compare.h"
#include "core/count/counted.h"
#include "core/model/cached.h"
#include "core/model/recompute.h"
#include "core/model/sample.h"

#include <string.h>

/* Everything a run needs beside its result. */
typedef struct {
    const Options *options;
    CacheResult *result;
    Memory *memory;
    Kernels kernels;
    Counters counters[2]; /* of the step under way: recompute, cached */
    Counted counted[2];
    Recompute *recompute;
    Cache *cache;
    Cached *cached;
    size_t chunk;   /* prompt tokens per pass of the cached engine */
    size_t grown;   /* rows of a growing cache, by its formula */
    FullModel full; /* beside a rule that is not the full one */
    Trace trace;
    FileOut trace_file;
    Prompt prompt;
    float *logits[2];      /* [wanted rows][vocab]; the newest row stands last */
    Candidate *candidates; /* [vocab] */
    Digest digest;
} Run;

static const Shape *shape_of(const Run *run) {
    return &run->result->model.weights.shape;
}

static bool open_buffers(Run *run, Error *err) {
    const size_t vocab = shape_of(run)->vocab;
    const size_t rows = run->options->logits_all ? run->prompt.room : 1;
    Memory *m = run->memory;
    run->candidates = memory_new(m, vocab, sizeof *run->candidates, err);
    run->result->step =
        memory_new(m, run->options->tokens, sizeof *run->result->step, err);
    run->result->token =
        memory_new(m, run->prompt.room, sizeof *run->result->token, err);
    bool done = run->candidates && run->result->step && run->result->token;
    for (int e = 0; done && e < 2; e++)
        done = (run->logits[e] = memory_new(m, rows, vocab * sizeof(float), err));
    return done;
}

static bool open_trace(Run *run, Error *err) {
    const char *path = run->options->trace;
    if (!path) return true;
    if (file_is_same(path, run->options->model) ||
        (run->options->tokenizer && file_is_same(path, run->options->tokenizer)))
        return error_set(err, "--trace %s would replace the model's own file", path);
    if (!file_create(path, &run->trace_file, run->memory, err)) return false;
    run->trace = (Trace){.stream = run->trace_file.stream,
                         .json = trace_wants_json(path),
                         .attention = run->options->trace_attention};
    trace_begin(&run->trace, run->result->model.name, shape_of(run));
    return true;
}

/* A ring needs room for one step's new rows: without --chunk these many. */
enum { RING_CHUNK = 16 };

static CacheConfig cache_config(const Run *run) {
    const Options *o = run->options;
    const size_t context = o->context ? o->context : shape_of(run)->context;
    const size_t room =
        run->prompt.room; /* over the context only where a window allows */
    return (CacheConfig){.shape = shape_of(run),
                         .rule = &run->result->rule,
                         .sequences = 1,
                         .capacity = room > context + 1 ? room : context,
                         .growth = strcmp(o->growth, "each") == 0     ? GROWTH_EACH
                                   : strcmp(o->growth, "double") == 0 ? GROWTH_DOUBLE
                                                                      : GROWTH_256,
                         .chunk = run->chunk,
                         .block_size = o->block_size};
}

/* Payload that this kind reserves for the tokens so far, by its formula alone. */
static bool predict(Run *run, size_t tokens, Error *err) {
    const CacheConfig c = cache_config(run);
    const char *kind = run->options->cache;
    size_t bytes, blocks;
    bool fits;
    if (strcmp(kind, "growing") == 0) {
        if (tokens > run->grown)
            run->grown = formula_grown_rows(c.growth, run->grown, tokens, c.capacity);
        fits = formula_cache_bytes(c.shape, c.rule, 1, run->grown, &bytes);
    } else if (strcmp(kind, "ring") == 0) {
        fits = formula_ring_bytes(c.shape, c.rule, 1, c.capacity, c.chunk, &bytes);
    } else if (strcmp(kind, "paged") == 0) {
        fits = formula_paged_blocks(1, c.capacity, c.block_size, &blocks) &&
               formula_paged_bytes(c.shape, c.rule, blocks, c.block_size, &bytes);
    } else {
        fits = formula_cache_bytes(c.shape, c.rule, 1, c.capacity, &bytes);
    }
    if (!fits) return error_set(err, "a cache of %zu tokens is too large", c.capacity);
    run->result->predicted = bytes;
    return true;
}

static bool open_engines(Run *run, Error *err) {
    const Options *o = run->options;
    CacheResult *result = run->result;
    const Kernels *kernels = &run->kernels;
    if (!choose_kernels(o, &run->kernels, err) ||
        !visibility_rule(o, shape_of(run), &result->rule, err))
        return false;
    visibility_words(o, result->words);
    result->kind = o->cache;
    result->full = visibility_is_full(&result->rule, shape_of(run));
    run->chunk = o->chunk ? o->chunk : strcmp(o->cache, "ring") == 0 ? RING_CHUNK : 0;
    counted_init(&run->counted[0], kernels, &run->counters[0], false);
    counted_init(&run->counted[1], kernels, &run->counters[1], true);
    EngineConfig config = {.weights = &result->model.weights,
                           .rule = &result->rule,
                           .kernels = &run->counted[0].table,
                           .rows = run->prompt.room,
                           .positions = run->prompt.room,
                           .dense = o->dense,
                           .trace = o->trace ? &run->trace : NULL,
                           .memory = run->memory};
    run->recompute = recompute_open(&config, err);
    if (!run->recompute || !predict(run, 0, err)) return false;
    const CacheConfig cache = cache_config(run);
    run->cache = cache_open(o->cache, &cache, run->memory, err);
    if (!run->cache) return false;
    config.kernels = &run->counted[1].table;
    run->cached = cached_open(&config, run->cache, err);
    config.kernels = kernels;
    return run->cached &&
           (result->full || full_model_open(&run->full, &config, run->memory, err));
}

static void close_run(Run *run) {
    Memory *m = run->memory;
    file_discard(&run->trace_file);
    full_model_close(&run->full);
    cached_close(run->cached);
    recompute_close(run->recompute);
    cache_close(run->cache);
    prompt_close(&run->prompt);
    memory_free(m, run->candidates);
    memory_free(m, run->logits[0]);
    memory_free(m, run->logits[1]);
}

/* The new tokens in chunks of at most --chunk; still one step. */
static bool cached_chunks(Run *run, Error *err) {
    const size_t vocab = shape_of(run)->vocab;
    float *logits = run->logits[1];
    for (size_t first = cache_length(run->cache, 0), n; first < run->prompt.n;
         first += n) {
        n = run->prompt.n - first;
        if (run->chunk && n > run->chunk) n = run->chunk;
        if (!predict(run, first + n, err)) return false;
        Batch batch = prompt_batch(&run->prompt, first, n, run->options->logits_all);
        if (!cached_step(run->cached, &batch, logits, err)) return false;
        if (run->options->logits_all) logits += n * vocab;
    }
    return true;
}

/* Both engines on the same tokens, timed one after the other. */
static bool run_engines(Run *run, CacheStep *step, Error *err) {
    run->counters[0] = run->counters[1] = (Counters){0};
    Batch all = prompt_batch(&run->prompt, 0, run->prompt.n, run->options->logits_all);
    double start = clock_seconds();
    if (!recompute_step(run->recompute, &all, run->logits[0], err)) return false;
    double between = clock_seconds();
    if (!cached_chunks(run, err)) return false;
    step->recompute = (CacheBill){run->counters[0], between - start};
    step->cached = (CacheBill){run->counters[1], clock_seconds() - between};
    step->cache_bytes = cache_bytes(run->cache).live;
    return true;
}

static void add_bill(CacheBill *sum, const CacheBill *bill) {
    counters_add(&sum->counters, &bill->counters);
    sum->seconds += bill->seconds;
}

static void trace_both(Run *run, const CacheStep *step) {
    if (!run->options->trace) return;
    TraceStep at = {"recompute", 0, step->step};
    trace_step(&run->trace, &at, step->token, &step->recompute.counters, 0);
    at.engine = "cached";
    trace_step(&run->trace, &at, step->token, &step->cached.counters,
               step->cache_bytes);
}

/* Compares rows of logits, the newest one last, and if they differ says where it began. */
static void compare(Run *run, const float *oracle, const float *cached, size_t rows) {
    CacheDifference *d = &run->result->difference;
    const Shape *shape = shape_of(run);
    const size_t step = run->prompt.n - 1;
    if (memcmp(oracle, cached, rows * shape->vocab * sizeof *oracle) == 0) return;
    *d = (CacheDifference){.differs = true, .step = step, .position = step};
    d->layer = shape->layers;
    for (size_t l = 0; l < shape->layers && !d->in_rows; l++) {
        Rows a = recompute_rows(run->recompute, l, 0, run->prompt.n);
        Rows b = cache_rows(run->cache, l, 0);
        d->in_rows = compare_rows(&a, &b, &shape->layer[l], &run->result->rule.layer[l],
                                  &d->position);
        if (d->in_rows) d->layer = l;
    }
}

static bool take_step(Run *run, Error *err) {
    const Options *o = run->options;
    CacheResult *result = run->result;
    const size_t vocab = shape_of(run)->vocab;
    const size_t old = cache_length(run->cache, 0);
    CacheStep *step = &result->step[result->steps];
    const size_t n = run->prompt.n;
    *step = (CacheStep){.step = n - 1, .context = n, .rows = n - old};
    if (!run_engines(run, step, err)) return false;

    const size_t newest = o->logits_all ? n - 1 : 0;
    const float *oracle = run->logits[0] + newest * vocab;
    const float *cached = run->logits[1] + (o->logits_all ? step->rows - 1 : 0) * vocab;
    const size_t fresh = o->logits_all ? step->rows : 1; /* rows that both have made */
    compare(run, oracle - (fresh - 1) * vocab, cached - (fresh - 1) * vocab, fresh);
    if (!result->full) {
        Batch all = prompt_batch(&run->prompt, 0, n, false);
        if (!full_model_compare(&run->full, &all, oracle, err)) return false;
    }
    digest_add(&run->digest, oracle, vocab);
    Sampling sampling = {o->temperature, o->top_p, o->seed};
    step->before = run->prompt.token[n - 1];
    step->token = sample_token(oracle, vocab, &sampling, 0, n, run->candidates);
    step->text = result->model.tokenizer->piece(result->model.tokenizer, step->before,
                                                step->token);
    trace_both(run, step);
    add_bill(&result->recompute, &step->recompute);
    add_bill(&result->cached, &step->cached);
    result->steps++;
    result->ended = tokenizer_is_end(result->model.tokenizer, step->token);
    run->prompt.token[run->prompt.n++] = step->token;
    return true;
}

static bool run_steps(Run *run, CacheWatch *watch, void *data, Error *err) {
    CacheResult *result = run->result;
    result->prompt_tokens = run->prompt.prompt;
    digest_begin(&run->digest);
    while (result->steps < run->options->tokens && !result->ended &&
           !result->difference.differs) {
        if (!take_step(run, err)) return false;
        if (watch) watch(result, &result->step[result->steps - 1], data);
    }
    result->bytes = cache_bytes(run->cache);
    result->rows_copied = run->cache->rows_copied;
    result->bytes_copied = run->cache->bytes_copied;
    result->peak = run->cache->payload.peak;
    result->full_compared = run->full.compared;
    result->full_differs = run->full.first_differing;
    /* All but the token drawn last, which has no row. */
    memcpy(result->token, run->prompt.token,
           (run->prompt.n - 1) * sizeof *result->token);
    if (digest_exists()) digest_text(&run->digest, result->digest);
    if (!cache_check(run->cache, err)) return false;
    return !run->options->trace || file_commit(&run->trace_file, err);
}

static bool check_layer(const Run *run, Error *err) {
    const size_t layers = shape_of(run)->layers, layer = run->options->layer;
    if (layer < layers) return true;
    return error_set(err, "--layer %zu: the model has layers 0 to %zu", layer,
                     layers - 1);
}

bool cache_run(const Options *options, CacheWatch *watch, void *data,
               CacheResult *result, Memory *memory, Error *err) {
    *result = (CacheResult){.memory = memory};
    Run run = {.options = options, .result = result, .memory = memory};
    if (!model_open(&result->model, options->model, options->tokenizer, memory, err))
        return false;
    bool done = check_layer(&run, err) &&
                prompt_open(&run.prompt, &result->model, options, memory, err) &&
                open_buffers(&run, err) && open_trace(&run, err) &&
                open_engines(&run, err) && run_steps(&run, watch, data, err);
    close_run(&run);
    if (!done) cache_result_close(result);
    return done;
}

void cache_result_close(CacheResult *result) {
    memory_free(result->memory, result->step);
    memory_free(result->memory, result->token);
    model_close(&result->model);
    *result = (CacheResult){0};
}
