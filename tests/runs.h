/* One run of a trial through both engines, and the checks made of it.
 *
 * trial_run returns what it found instead of asserting it: the same checks must be
 * green for the project and red for each mutant. */
#ifndef KVSTEP_TESTS_RUNS_H
#define KVSTEP_TESTS_RUNS_H

#include "core/model/cached.h"
#include "core/model/recompute.h"
#include "tests/mutants.h"
#include "tests/second_opinion.h"
#include "tests/trials.h"

enum { RECOMPUTE, CACHED, ENGINES };

typedef struct TrialRun TrialRun;

/* What a run uses instead of the trial's own; all zero: nothing. */
typedef struct {
    const Kernels *kernels[ENGINES]; /* NULL: the naive set */
    const Weights *weights;          /* for both engines */
    const Rule *rule[ENGINES];
    size_t
        chunk; /* so many tokens of each sequence in each step, no drafts; 0: random */
    void (*opened)(TrialRun *, void *data);  /* before the first step */
    void (*stepped)(TrialRun *, void *data); /* after each */
    void *data;
} TrialChange;

/* What the checks say: all true, unless something is wrong. */
typedef struct {
    bool ran;          /* no step ended with an error */
    bool same_bits;    /* the engines' logits of each step, by memcmp */
    bool same_rows;    /* their stored rows, by memcmp */
    bool same_sight;   /* each query saw the keys that the second opinion shows it */
    bool same_meaning; /* logits and stored rows agree with the second opinion */
    double deviation;  /* of all logits, the farthest from the second opinion */
    double row_off;    /* of all stored rows */
    size_t drafts;     /* chunks that were cropped again */
    char error[400];
} Verdict;

/* [layer][sequence][query][key] */
typedef bool Sight[TRIAL_LAYERS][TRIAL_SEQUENCES][TRIAL_LENGTH][TRIAL_LENGTH];

typedef struct {
    int token[TRIAL_ROWS];
    size_t seq[TRIAL_ROWS], pos[TRIAL_ROWS];
    bool want[TRIAL_ROWS];
} TrialTokens;

struct TrialRun {
    const Trial *trial;
    const TrialChange *change;
    const Weights *weights;
    Memory memory;
    const Rule *rule[ENGINES];
    Recompute *recompute;
    Cache *cache;
    Cached *cached;
    Wrapped watch[ENGINES];
    Sight sight[ENGINES];
    size_t step, held[TRIAL_SEQUENCES];
    bool draft[TRIAL_SEQUENCES];
    TrialTokens tokens[ENGINES];
    Batch batch[ENGINES]; /* of the step under way: all tokens, the new ones */
    float logits[ENGINES][TRIAL_ROWS * TRIAL_VOCAB]; /* of the step, packed */
    float kept[ENGINES][TRIAL_SEQUENCES][TRIAL_LENGTH][TRIAL_VOCAB];
    bool has[TRIAL_SEQUENCES][TRIAL_LENGTH]; /* logits were wanted there */
    float probs[TRIAL_LENGTH * TRIAL_HEADS * TRIAL_LENGTH];
    Verdict verdict;
};

/* Asks attention for its weights and notes which are not zero. */
static inline void watch_attention(const Kernels *kernels, const Attention *call) {
    TrialRun *run = wrapped(kernels)->data;
    const Kernels *real = wrapped(kernels)->real;
    const bool cached = kernels == &run->watch[CACHED].table;
    Attention a = *call;
    a.probs = run->probs;
    real->attention(real, &a);
    /* recompute names its rows by where they begin in the batch */
    size_t seq = cached ? a.rows->seq : run->tokens[RECOMPUTE].seq[a.rows->seq];
    for (size_t t = 0; t < a.n; t++)
        for (size_t key = 0; key < a.rows->end; key++)
            run->sight[cached][a.rows->layer][seq][a.position[t]][key] =
                a.probs[t * a.heads * a.rows->end + key] != 0;
}

/* NaN where nothing was written, so that a kernel which skips a row is seen. */
static inline void run_forget(TrialRun *run) {
    memset(run->logits, 0xff, sizeof run->logits);
    memset(run->probs, 0xff, sizeof run->probs);
}

static inline void run_open(TrialRun *run, const Trial *trial,
                            const TrialChange *change) {
    static const TrialChange none = {0};
    Error err = {0};
    *run = (TrialRun){.trial = trial, .change = change ? change : &none};
    change = run->change;
    run->weights = change->weights ? change->weights : &trial->weights;
    run->verdict = (Verdict){true, true, true, true, true, 0, 0, 0, ""};
    EngineConfig config = {.weights = run->weights,
                           .rows = TRIAL_ROWS,
                           .positions = TRIAL_LENGTH + 1,
                           .dense = trial->dense,
                           .memory = &run->memory};
    for (int e = 0; e < ENGINES; e++) {
        const Kernels *real = change->kernels[e];
        run->rule[e] = change->rule[e] ? change->rule[e] : &trial->rule;
        wrapped_init(&run->watch[e], real ? real : kernels_select("naive", &err), run);
        run->watch[e].table.attention = watch_attention;
    }
    config.kernels = &run->watch[RECOMPUTE].table;
    config.rule = run->rule[RECOMPUTE];
    run->recompute = recompute_open(&config, &err);
    CacheConfig cache = {.shape = &run->weights->shape,
                         .rule = run->rule[CACHED],
                         .sequences = TRIAL_SEQUENCES,
                         .capacity = TRIAL_LENGTH};
    run->cache = cache_open("contiguous", &cache, &run->memory, &err);
    ck_assert_msg(run->recompute && run->cache, "%s", err.text);
    config.kernels = &run->watch[CACHED].table;
    config.rule = run->rule[CACHED];
    run->cached = cached_open(&config, run->cache, &err);
    ck_assert_msg(run->cached != NULL, "%s", err.text);
    if (change->opened) change->opened(run, change->data);
}

static inline void run_close(TrialRun *run) {
    cached_close(run->cached);
    cache_close(run->cache);
    recompute_close(run->recompute);
    ck_assert_uint_eq(run->memory.live, 0);
}

/* How many tokens of a sequence come in this step. */
static inline size_t run_new_tokens(const TrialRun *run, size_t seq) {
    const Trial *trial = run->trial;
    size_t left = trial->length[seq] - run->held[seq];
    size_t n = run->change->chunk
                   ? run->change->chunk
                   : trial_draw(trial, "chunk", run->step * 10 + seq, 0, 6);
    return n < left ? n : left;
}

static inline void run_add_token(TrialRun *run, int engine, size_t seq, size_t pos,
                                 bool newest, bool want) {
    const Trial *trial = run->trial;
    TrialTokens *tokens = &run->tokens[engine];
    size_t at = run->batch[engine].n++;
    int token = trial->token[seq][pos];
    if (newest && run->draft[seq]) /* another token, for as long as the draft lives */
        token = (token + 1) % (int)trial->weights.shape.vocab;
    tokens->token[at] = token;
    tokens->seq[at] = seq;
    tokens->pos[at] = pos;
    tokens->want[at] = newest && want;
}

/* Sequences stand in another order in each step; logits of all new tokens or, in every
 * second trial, of the newest alone. */
static inline void run_make_batches(TrialRun *run) {
    const Trial *trial = run->trial;
    for (int e = 0; e < ENGINES; e++) {
        TrialTokens *tokens = &run->tokens[e];
        run->batch[e] =
            (Batch){0, tokens->token, tokens->seq, tokens->pos, tokens->want};
    }
    for (size_t i = 0; i < trial->sequences; i++) {
        size_t s = (i + run->step) % trial->sequences, held = run->held[s];
        size_t end = held + run_new_tokens(run, s);
        run->draft[s] = !run->change->chunk &&
                        trial_draw(trial, "draft", run->step * 10 + s, 0, 3) == 0;
        for (size_t p = 0; p < end && end > held; p++) {
            bool want = trial->index % 2 == 0 || p + 1 == end;
            run_add_token(run, RECOMPUTE, s, p, p >= held, want);
            if (p >= held) run_add_token(run, CACHED, s, p, true, want);
        }
    }
}

/* Rows that the newest query of a sequence may see, in all layers. */
static inline bool run_same_rows(const TrialRun *run, size_t seq, size_t first,
                                 size_t end) {
    const Rule *rule = run->rule[RECOMPUTE];
    for (size_t l = 0; l < rule->layers; l++) {
        const LayerShape *s = &run->weights->shape.layer[l];
        const LayerRule *r = &rule->layer[l];
        const size_t k_bytes = r->k->row_bytes(s->kv_heads, s->k_size);
        const size_t v_bytes = r->v->row_bytes(s->kv_heads, s->v_size);
        Rows a = recompute_rows(run->recompute, l, first, end);
        Rows b = cache_rows(run->cache, l, seq);
        if (b.end != end) return false;
        for (size_t p = 0; p < end; p++) {
            if (!rule_sees(r, end - 1, p)) continue;
            Span x, y;
            a.at(&a, p, &x);
            b.at(&b, p, &y);
            if (memcmp(x.k, y.k, k_bytes) != 0 || memcmp(x.v, y.v, v_bytes) != 0)
                return false;
        }
    }
    return true;
}

static inline void run_keep_logits(TrialRun *run) {
    const Batch *fresh = &run->batch[CACHED];
    const size_t vocab = run->trial->weights.shape.vocab;
    for (size_t t = 0, row = 0; t < fresh->n; t++) {
        if (!fresh->want_logits[t]) continue;
        run->has[fresh->seq[t]][fresh->pos[t]] = !run->draft[fresh->seq[t]];
        for (int e = 0; e < ENGINES; e++)
            memcpy(run->kept[e][fresh->seq[t]][fresh->pos[t]],
                   run->logits[e] + row * vocab, vocab * sizeof(float));
        row++;
    }
}

/* Compares the engines, keeps the logits, and crops the drafts again. */
static inline void run_end_step(TrialRun *run) {
    const Batch *all = &run->batch[RECOMPUTE];
    if (memcmp(run->logits[RECOMPUTE], run->logits[CACHED],
               sizeof run->logits[RECOMPUTE]) != 0)
        run->verdict.same_bits = false;
    run_keep_logits(run);
    for (size_t first = 0, n; first < all->n; first += n) {
        n = batch_run(all, first);
        size_t seq = all->seq[first];
        if (!run_same_rows(run, seq, first, n)) run->verdict.same_rows = false;
        if (run->draft[seq]) {
            ck_assert(cache_crop(run->cache, seq, run->held[seq], NULL));
            run->verdict.drafts++;
        } else
            run->held[seq] = n;
    }
}

/* False at the end, and on an error. */
static inline bool run_step(TrialRun *run) {
    Error err = {0};
    bool done = true;
    for (size_t s = 0; s < run->trial->sequences; s++)
        done &= run->held[s] == run->trial->length[s];
    if (done) return false;
    run_make_batches(run);
    run->step++;
    if (run->batch[CACHED].n == 0) return true;
    run_forget(run);
    if (!recompute_step(run->recompute, &run->batch[RECOMPUTE], run->logits[RECOMPUTE],
                        &err) ||
        !cached_step(run->cached, &run->batch[CACHED], run->logits[CACHED], &err)) {
        run->verdict.ran = false;
        memcpy(run->verdict.error, err.text, sizeof err.text);
        return false;
    }
    run_end_step(run);
    if (run->change->stepped) run->change->stepped(run, run->change->data);
    return true;
}

/* The cached engine's rows of a sequence; the contiguous cache keeps them all. */
static inline void run_stored_rows(const TrialRun *run, size_t seq,
                                   StoredRows stored[TRIAL_LAYERS]) {
    for (size_t l = 0; l < run->trial->rule.layers; l++) {
        Rows rows = cache_rows(run->cache, l, seq);
        Span span;
        rows.at(&rows, 0, &span);
        stored[l] = (StoredRows){span.k, span.v, span.k_step, span.v_step};
    }
}

/* The second opinion on one sequence: always by the trial's own weights and rule. */
static inline void run_ask(TrialRun *run, size_t seq) {
    const Trial *trial = run->trial;
    const Shape *shape = &trial->weights.shape;
    const size_t n = trial->length[seq];
    double logits[TRIAL_LENGTH * TRIAL_VOCAB];
    bool visible[TRIAL_LAYERS * TRIAL_LENGTH * TRIAL_LENGTH];
    StoredRows stored[TRIAL_LAYERS];
    run_stored_rows(run, seq, stored);
    run->verdict.row_off =
        fmax(run->verdict.row_off,
             second_opinion(&trial->weights, &trial->rule, trial->token[seq], n, stored,
                            logits, visible));
    for (size_t p = 0; p < n; p++)
        for (int e = 0; e < ENGINES && run->has[seq][p]; e++) {
            double far = second_opinion_deviation(logits + p * shape->vocab,
                                                  run->kept[e][seq][p], shape->vocab);
            if (far > run->verdict.deviation) run->verdict.deviation = far;
        }
    for (size_t i = 0; i < shape->layers * n * n; i++)
        for (int e = 0; e < ENGINES; e++)
            if (run->sight[e][i / (n * n)][seq][i / n % n][i % n] != visible[i])
                run->verdict.same_sight = false;
}

/* Runs the trial to its end, or to the first error. */
static inline Verdict trial_run(const Trial *trial, const TrialChange *change) {
    TrialRun *run = malloc(sizeof *run);
    ck_assert_ptr_nonnull(run);
    run_open(run, trial, change);
    while (run_step(run)) continue;
    for (size_t s = 0; s < trial->sequences && run->verdict.ran; s++) run_ask(run, s);
    Verdict verdict = run->verdict;
    verdict.same_meaning = verdict.deviation <= SECOND_OPINION_BOUND &&
                           verdict.row_off <= SECOND_OPINION_BOUND;
    run_close(run);
    free(run);
    return verdict;
}

#endif
