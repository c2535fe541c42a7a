#include "chapters/common/option_table.h"
#include "core/model/model.h"

#include <string.h>

#ifdef KVSTEP_MINIMAL
#define NEEDS(library) .needs = library
#else
#define NEEDS(library) .needs = NULL
#endif

/* As many tokens as a model's context can have positions (shape_check). */
#define MOST_TOKENS ((uint64_t)1 << 30)

#define MOST_THREADS 256

#define MOST_HEADS ((uint64_t)1 << 24)

static const char *const kernel_sets[] = {"fast", "naive", NULL};
static const char *const cache_kinds[] = {"contiguous", "growing", "ring", "paged",
                                          NULL};
static const char *const growths[] = {"each", "double", "256", NULL};
static const char *const types[] = {"f32", "f16", "bf16", "q8_0", "q4_0", "fp8", NULL};
static const char *const rope_times[] = {"after", "before", NULL};
static const char *const evictions[] = {"oldest", "sinks", NULL};
static const char *const score_pairs[] = {"causal", "dense", NULL};
static const char *const logit_rows[] = {"last", "all", NULL};
static const char *const picture_types[] = {"png", "svg", "pdf", NULL};

#define FIELD(member) .field = offsetof(Options, member)

/* In the order of --help. */
const OptionRow option_table[] = {
    {"model", "NAME|FILE", OPTION_FILE, FIELD(model), .standard = MODEL_DEFAULT,
     .help = "a llama2.c checkpoint (.bin, with --tokenizer), or "
             "random:KEY=N,KEY=N of any shape, untrained (default: a small one)"},
    {"tokenizer", "FILE", OPTION_FILE, FIELD(tokenizer),
     .help = "the checkpoint's llama2.c tokenizer file"},
    {"prompt", "TEXT", OPTION_TEXT, FIELD(prompt), .standard = "",
     .help = "what the text begins with, in UTF-8; empty: <s> alone"},
    {"tokens", "N", OPTION_SIZE, FIELD(tokens), .standard = "64",
     .help = "tokens to draw", .least = 1, .most = MOST_TOKENS},
    {"temperature", "T", OPTION_REAL, FIELD(temperature), .standard = "0",
     .help = "0 takes the likeliest token; higher is wilder", .low = 0.01, .high = 100,
     .zero_too = true},
    {"top-p", "P", OPTION_REAL, FIELD(top_p), .standard = "1",
     .help = "draw among the likeliest tokens that have P of the probability",
     .low = 1e-6, .high = 1},
    {"seed", "S", OPTION_NUMBER, FIELD(seed), .standard = "1",
     .help = "of the draws: the same seed, the same text", .most = UINT64_MAX},
    {"cache", "KIND", OPTION_NAME, FIELD(cache), .standard = "contiguous",
     .help = "how the cache is held", .choices = cache_kinds},
    {"growth", "HOW", OPTION_NAME, FIELD(growth), .standard = "double",
     .help = "how --cache growing makes room: for each step, doubling, by 256",
     .choices = growths},
    {"block-size", "B", OPTION_SIZE, FIELD(block_size), .standard = "16",
     .help = "tokens in a block of --cache paged", .least = 1, .most = MOST_TOKENS},
    {"cache-type-k", "TYPE", OPTION_NAME, FIELD(type_k), .standard = "f32",
     .help = "how rows of K are stored, in both engines", .choices = types},
    {"cache-type-v", "TYPE", OPTION_NAME, FIELD(type_v), .standard = "f32",
     .help = "how rows of V are stored, in both engines", .choices = types},
    {"rope", "WHEN", OPTION_SECOND, FIELD(rope_before), .standard = "after",
     .help = "keys are stored after rotation, or before and turned when read",
     .choices = rope_times},
    {"window", "W", OPTION_SIZE, FIELD(window),
     .help = "newest tokens that a token sees, itself included (default: all)",
     .least = 1, .most = MOST_TOKENS},
    {"max-cached", "N", OPTION_SIZE, FIELD(max_cached),
     .help = "rows to keep in all; what is dropped is --evict's choice", .least = 1,
     .most = MOST_TOKENS},
    {"evict", "WHAT", OPTION_SECOND, FIELD(evict_sinks), .standard = "oldest",
     .help = "with --max-cached: drop the oldest, or the oldest but the first --sinks",
     .choices = evictions},
    {"sinks", "S", OPTION_SIZE, FIELD(sinks), .standard = "4",
     .help = "first tokens that --evict sinks keeps", .least = 1, .most = MOST_TOKENS},
    {"ctx", "N", OPTION_SIZE, FIELD(context),
     .help = "tokens to reserve cache rows for (default: the model's context)",
     .least = 1, .most = MOST_TOKENS},
    {"chunk", "C", OPTION_SIZE, FIELD(chunk),
     .help = "prompt tokens the cached engine takes at once (default: all)", .least = 1,
     .most = MOST_TOKENS},
    {"scores", "PAIRS", OPTION_SECOND, FIELD(dense), .standard = "causal",
     .help = "causal: the scores that count; dense: masked ones are computed, too",
     .choices = score_pairs},
    {"logits", "ROWS", OPTION_SECOND, FIELD(logits_all), .standard = "last",
     .help = "last: logits of the newest token; all: of every token",
     .choices = logit_rows},
    {"kernels", "SET", OPTION_NAME, FIELD(kernels), .standard = "fast",
     .help = "who does the arithmetic, in both engines: the same bits",
     .choices = kernel_sets},
    {"threads", "T", OPTION_SIZE, FIELD(threads),
     .help = "most threads of the fast set: the same bits (default: all processors)",
     .least = 1, .most = MOST_THREADS, NEEDS("OpenMP")},
    {"trace", "FILE", OPTION_FILE, FIELD(trace),
     .help = "write what happened, step by step; JSON Lines if FILE ends in .json or "
             ".jsonl"},
    {"trace-attention", NULL, OPTION_FLAG, FIELD(trace_attention),
     .help = "with --trace: the attention weights, too"},
    {"layer", "L", OPTION_SIZE, FIELD(layer), .standard = "0",
     .help = "which layer is opened up", .most = SHAPE_MAX_LAYERS - 1},
    {"head", "H", OPTION_SIZE, FIELD(head), .standard = "0",
     .help = "which head is opened up", .most = MOST_HEADS - 1},
    {"no-mask", NULL, OPTION_FLAG, FIELD(no_mask),
     .help = "every token sees all, to show what that breaks"},
    {"shift", "S", OPTION_SIZE, FIELD(shift), .standard = "0",
     .help = "all positions later by S", .most = MOST_TOKENS},
    {"out", "DIR", OPTION_FILE, FIELD(out),
     .help = "write pictures and their data into this folder", NEEDS("cairo")},
    {"format", "TYPE", OPTION_NAME, FIELD(format), .standard = "png",
     .help = "of the pictures", .choices = picture_types},
    {"page", NULL, OPTION_FLAG, FIELD(page),
     .help = "with --out: an index.html that shows the pictures, too", NEEDS("cairo")},
    {"ask", NULL, OPTION_FLAG, FIELD(ask),
     .help = "on a terminal: one question before the numbers"},
    {"json", NULL, OPTION_FLAG, FIELD(json),
     .help = "print one JSON document and nothing else", NEEDS("jansson")},
    {"digest", NULL, OPTION_FLAG, FIELD(digest),
     .help = "print one number for all logits and nothing else", NEEDS("xxHash")},
    {"quiet", NULL, OPTION_FLAG, FIELD(quiet), .help = "print the verdict alone"},
    {"help", NULL, OPTION_HELP, .help = "this help"},
    {0},
};

const OptionRow *option_find(const char *name, size_t length) {
    for (const OptionRow *row = option_table; row->name; row++)
        if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
            return row;
    return NULL;
}
