/* The same bits elsewhere: a fixed list of small runs, one line `name digest` each, to
 * be equal on every compiler, optimization level, instruction set and machine
 * (tests/golden/digests.txt). Links core alone: no test library, no JSON, no files.
 *
 * Each run goes through both engines, recompute with the naive kernels and cached with the
 * fast ones; if they differ the program says so and exits 1.
 * In all about 0.1 x 10^9 multiply-adds. */
#include "core/base/machine.h"
#include "core/base/random.h"
#include "core/cache/cache.h"
#include "core/kernels/exp.h"
#include "core/model/cached.h"
#include "core/model/digest.h"
#include "core/model/recompute.h"
#include "core/model/sample.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 128, MOST_VOCAB = 512 };

typedef struct {
    const char *name, *spec;
    size_t prompt, tokens, chunk; /* chunk 0: the prompt at once */
    size_t sinks, recent;         /* recent 0: full rule */
    bool turned_when_read, dense;
    float temperature, top_p;
    const char *cache, *k, *v; /* NULL: contiguous, f32 */
    size_t block;
} Case;

static const Case cases[] = {
    {.name = "default", .spec = "", .prompt = 1, .tokens = 48},
    {.name = "dense", .spec = "", .prompt = 9, .tokens = 12, .dense = true},
    {.name = "chunks", .spec = "seed=2", .prompt = 50, .tokens = 8, .chunk = 7},
    {.name = "odd",
     .spec = "dim=35,heads=5,kv_heads=5,hidden=33,vocab=101,rot=2",
     .prompt = 17,
     .tokens = 20},
    {.name = "one-kv-head",
     .spec = "dim=48,heads=6,kv_heads=1,hidden=50,tied=1",
     .prompt = 5,
     .tokens = 20},
    {.name = "deep",
     .spec = "dim=16,layers=9,heads=4,kv_heads=2,hidden=24,vocab=40",
     .prompt = 3,
     .tokens = 24},
    {.name = "wide-head",
     .spec = "dim=32,heads=2,kv_heads=1,head=40,rot=6,hidden=70",
     .prompt = 4,
     .tokens = 16},
    {.name = "window", .spec = "", .prompt = 20, .tokens = 24, .recent = 5, .chunk = 3},
    {.name = "sinks",
     .spec = "",
     .prompt = 20,
     .tokens = 24,
     .sinks = 4,
     .recent = 8,
     .chunk = 9},
    {.name = "turned-when-read",
     .spec = "",
     .prompt = 12,
     .tokens = 12,
     .turned_when_read = true},
    {.name = "drawn",
     .spec = "vocab=300",
     .prompt = 4,
     .tokens = 24,
     .temperature = 0.8f,
     .top_p = 0.9f},
    {.name = "hot",
     .spec = "vocab=300,seed=3",
     .prompt = 4,
     .tokens = 24,
     .temperature = 1.7f,
     .top_p = 1},
    {.name = "long",
     .spec = "dim=32,layers=1,hidden=40,vocab=64,tied=1",
     .prompt = 100,
     .tokens = 20,
     .chunk = 33},
    {.name = "growing-f16",
     .spec = "",
     .prompt = 5,
     .tokens = 12,
     .cache = "growing",
     .k = "f16",
     .v = "f16"},
    {.name = "ring-f32",
     .spec = "",
     .prompt = 30,
     .tokens = 20,
     .recent = 8,
     .chunk = 3,
     .cache = "ring"},
    {.name = "ring-sinks-f16-fp8",
     .spec = "",
     .prompt = 30,
     .tokens = 12,
     .sinks = 4,
     .recent = 8,
     .chunk = 5,
     .cache = "ring",
     .k = "f16",
     .v = "fp8"},
    {.name = "ring-q8_0",
     .spec = "",
     .prompt = 20,
     .tokens = 12,
     .recent = 16,
     .chunk = 4,
     .cache = "ring",
     .k = "q8_0",
     .v = "q8_0"},
    {.name = "paged-f32",
     .spec = "",
     .prompt = 21,
     .tokens = 12,
     .cache = "paged",
     .block = 4},
    {.name = "paged-bf16",
     .spec = "",
     .prompt = 7,
     .tokens = 12,
     .cache = "paged",
     .block = 16,
     .k = "bf16",
     .v = "bf16"},
    {.name = "paged-q4_0",
     .spec = "",
     .prompt = 7,
     .tokens = 12,
     .cache = "paged",
     .block = 1,
     .k = "q4_0",
     .v = "q4_0"},
    {.name = "paged-window-fp8",
     .spec = "",
     .prompt = 30,
     .tokens = 12,
     .recent = 6,
     .chunk = 6,
     .cache = "paged",
     .block = 4,
     .k = "fp8",
     .v = "fp8"},
    {.name = "contiguous-q8_0-q4_0",
     .spec = "",
     .prompt = 7,
     .tokens = 12,
     .k = "q8_0",
     .v = "q4_0"},
    {.name = "contiguous-q4_0-turned-when-read",
     .spec = "",
     .prompt = 7,
     .tokens = 12,
     .k = "q4_0",
     .v = "f16",
     .turned_when_read = true},
};

/* Everything of one run; static because it is large and there is one at a time. */
static struct {
    Weights weights;
    Rule rule;
    Recompute *recompute;
    Cache *cache;
    Cached *cached;
    int token[MOST];
    size_t seq[MOST], pos[MOST];
    bool want[MOST];
    float oracle[MOST_VOCAB], logits[MOST_VOCAB];
    Candidate candidates[MOST_VOCAB];
} run;

static void print_line(const char *name, const Digest *digest) {
    char text[DIGEST_TEXT];
    digest_text(digest, text);
    printf("%s %s\n", name, text);
}

static bool open_case(const Case *c, Memory *memory, Error *err) {
    if (!weights_random(&run.weights, c->spec, memory, err)) return false;
    rule_full(&run.rule, &run.weights.shape, &format_f32);
    for (size_t l = 0; l < run.rule.layers; l++) {
        run.rule.layer[l].keys_turned = !c->turned_when_read;
        run.rule.layer[l].sinks = c->sinks;
        if (c->recent) run.rule.layer[l].recent = c->recent;
        if (c->k) run.rule.layer[l].k = format_find(c->k);
        if (c->v) run.rule.layer[l].v = format_find(c->v);
    }
    EngineConfig config = {.weights = &run.weights,
                           .rule = &run.rule,
                           .kernels = kernels_select("naive", err),
                           .rows = MOST,
                           .positions = MOST,
                           .dense = c->dense,
                           .memory = memory};
    CacheConfig cache = {.shape = &run.weights.shape,
                         .rule = &run.rule,
                         .sequences = 1,
                         .capacity = MOST,
                         .growth = GROWTH_DOUBLE,
                         .chunk = c->chunk,
                         .block_size = c->block};
    run.recompute = recompute_open(&config, err);
    run.cache = cache_open(c->cache ? c->cache : "contiguous", &cache, memory, err);
    config.kernels = kernels_select("fast", err);
    run.cached = run.cache ? cached_open(&config, run.cache, err) : NULL;
    return run.recompute && run.cached;
}

static bool both_engines(const Case *c, size_t n, Error *err) {
    for (size_t i = 0; i < n; i++) {
        run.pos[i] = i;
        run.want[i] = i + 1 == n;
    }
    Batch all = {n, run.token, run.seq, run.pos, run.want};
    if (!recompute_step(run.recompute, &all, run.oracle, err)) return false;
    for (size_t first = cache_length(run.cache, 0), m; first < n; first += m) {
        m = n - first;
        if (c->chunk && m > c->chunk) m = c->chunk;
        Batch some = {m, run.token + first, run.seq + first, run.pos + first,
                      run.want + first};
        if (!cached_step(run.cached, &some, run.logits, err)) return false;
    }
    return true;
}

static bool run_case(const Case *c, Error *err) {
    const size_t vocab = run.weights.shape.vocab;
    const Sampling sampling = {c->temperature, c->top_p, 7};
    Digest digest;
    digest_begin(&digest);
    run.token[0] = 1;
    for (size_t i = 1; i < c->prompt; i++)
        run.token[i] = (int)(random_draw(5, 0, i) % vocab);
    for (size_t n = c->prompt; n < c->prompt + c->tokens; n++) {
        if (!both_engines(c, n, err)) return false;
        if (memcmp(run.oracle, run.logits, vocab * sizeof(float)) != 0)
            return error_set(err, "the engines differ at step %zu", n - 1);
        digest_add(&digest, run.oracle, vocab);
        run.token[n] = sample_token(run.oracle, vocab, &sampling, 0, n, run.candidates);
    }
    print_line(c->name, &digest);
    return true;
}

static void close_case(void) {
    cached_close(run.cached);
    cache_close(run.cache);
    recompute_close(run.recompute);
    if (run.weights.memory) weights_close(&run.weights);
    memset(&run, 0, sizeof run);
}

static bool rope_tables(Memory *memory, Error *err) {
    static const struct {
        const char *name;
        size_t rot, positions;
        double base;
    } tables[] = {{"rope-16", 16, 4096, 10000.0}, {"rope-128", 128, 2048, 500000.0}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        RopeTable table;
        Digest digest;
        if (!rope_open(&table, tables[i].rot, tables[i].base, tables[i].positions,
                       memory, err))
            return false;
        digest_begin(&digest);
        digest_add(&digest, table.cos, table.positions * table.rot / 2);
        digest_add(&digest, table.sin, table.positions * table.rot / 2);
        print_line(tables[i].name, &digest);
        rope_close(&table, memory);
    }
    return true;
}

static void exponentials(void) {
    Digest digest;
    digest_begin(&digest);
    for (int i = -110000; i <= 110000; i++) {
        float y = exp_f32((float)i * 0.0008999f);
        digest_add(&digest, &y, 1);
    }
    print_line("exp", &digest);
}

int main(void) {
    Memory memory = {0};
    Error err = {0};
    bool done = machine_check(&err) && rope_tables(&memory, &err);
    if (done) exponentials();
    for (size_t i = 0; done && i < sizeof cases / sizeof *cases; i++) {
        done = open_case(&cases[i], &memory, &err) && run_case(&cases[i], &err);
        close_case();
        if (!done) error_at(&err, cases[i].name);
    }
    if (done && memory.live != 0) done = error_set(&err, "%zu bytes left", memory.live);
    if (!done) fprintf(stderr, "%s\n", err.text);
    return !done;
}
