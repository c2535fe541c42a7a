#include "chapters/03_cache/command.h"
#ifndef KVSTEP_MINIMAL
#include "chapters/03_cache/figures.h"
#endif
#include "chapters/03_cache/print.h"
#include "chapters/common/ask.h"
#include "chapters/common/progress.h"
#include "chapters/common/text.h"

#include <string.h>
#include <unistd.h>

static const char help[] =
    "Each step both engines give the logits of the next token: recompute works through "
    "all N tokens again, cached through the newest one. The bits are compared, every "
    "FLOP and byte is counted. Exit status: 0 the same bits, 1 they differ, 2 bad "
    "usage "
    "or input.\n"
    "\n"
    "Examples:\n"
    "  kvstep cache\n"
    "  kvstep cache --tokens 256 --scores dense\n"
    "  kvstep cache --out pictures --page\n"
    "  kvstep cache --cache ring --window 16 --tokens 100\n"
    "  kvstep cache --cache paged --block-size 4 --cache-type-k q8_0 --cache-type-v "
    "q4_0\n"
    "  kvstep cache --prompt \"Once upon a time\" --chunk 4 --trace steps.jsonl\n"
    "  kvstep cache --model random:dim=64,heads=8,kv_heads=1,ctx=1024 --tokens 512\n"
    "  kvstep cache --model stories260K.bin --tokenizer tok512.bin\n";

static const char *const accepted[] = {"model",        "tokenizer",
                                       "prompt",       "tokens",
                                       "seed",         "temperature",
                                       "growth",       "block-size",
                                       "cache-type-k", "cache-type-v",
                                       "rope",         "window",
                                       "max-cached",   "evict",
                                       "sinks",        "top-p",
                                       "kernels",      "threads",
                                       "scores",       "logits",
                                       "cache",        "ctx",
                                       "chunk",        "trace",
                                       "json",         "quiet",
                                       "digest",       "trace-attention",
                                       "layer",        "out",
                                       "format",       "page",
                                       "ask",          NULL};

/* What is shown while the steps are taken. */
typedef struct {
    const char *prompt;
    bool text; /* the text as it comes; else only the progress bar */
    TextOut out;
    Progress progress;
} Watching;

static void watch_step(const CacheResult *result, const CacheStep *step, void *data) {
    Watching *watching = data;
    progress_show(&watching->progress, result->steps);
    if (!watching->text) return;
    if (result->steps == 1) {
        cache_print_model(result, stdout);
        text_put(&watching->out, watching->prompt, strlen(watching->prompt));
    }
    if (!result->ended) text_put(&watching->out, step->text.bytes, step->text.length);
}

static bool print_all(const CacheResult *result, FILE *stream, Error *err) {
    fputc('\n', stream);
    if (!cache_print_table(result, stream, err)) return false;
    fputc('\n', stream);
    cache_print_totals(result, stream);
    cache_print_verdict(result, stream);
    return true;
}

/* The pictures, and where they are or how to get them. */
static bool draw(const CacheResult *result, const Options *options, bool all,
                 FILE *stream, Error *err) {
#ifndef KVSTEP_MINIMAL
    if (options->out) return fflush(stream) == 0 && cache_draw(result, options, err);
    if (all) fputs("pictures: the same command with --out DIR\n", stream);
#else
    (void)result, (void)options, (void)all, (void)stream, (void)err;
#endif
    return true;
}

static void print_digest(const CacheResult *result, FILE *stream) {
    fprintf(stream, "%s\n", result->digest);
    if (!result->difference.differs) return;
    fputs("kvstep: ", stderr);
    cache_print_verdict(result, stderr);
}

int cache_report(const CacheResult *result, const Options *options, FILE *stream,
                 Error *err) {
    bool done = true, all = false;
    if (options->json)
        done = cache_print_json(result, stream, err);
    else if (options->digest)
        print_digest(result, stream);
    else if (options->quiet)
        cache_print_verdict(result, stream);
    else
        all = done = print_all(result, stream, err);
    if (!done || !draw(result, options, all, stream, err)) return STATUS_REFUSED;
    if (all) cache_print_next(stream);
    return result->difference.differs ? STATUS_FAILED : STATUS_FINE;
}

/* What --ask asks: the one number that the rest of the run explains. */
static void ask(const Options *options) {
    char question[160];
    snprintf(question, sizeof question,
             "How many rows will the last of %zu steps work through without the cache, "
             "and how many with it?",
             options->tokens);
    if (options->ask) ask_prediction(question);
}

static int run(const Options *options, Error *err) {
    Memory memory = {0};
    CacheResult result;
    const bool silent = options->json || options->quiet;
    Watching watching = {.prompt = options->prompt,
                         .text = !silent && !options->digest,
                         .out = {.stream = stdout}};
    ask(options);
    /* Text that appears on the same terminal is progress enough. */
    progress_begin(&watching.progress,
                   !silent && !(watching.text && isatty(STDOUT_FILENO)),
                   options->tokens);
    bool done = cache_run(options, watch_step, &watching, &result, &memory, err);
    progress_end(&watching.progress);
    if (watching.text) text_end(&watching.out);
    if (!done) return STATUS_REFUSED;
    const int status = cache_report(&result, options, stdout, err);
    cache_result_close(&result);
    return status;
}

const Command cache_command = {
    .info = {.name = "cache",
             .summary = "the same tokens without and with a cache, side by side",
             .help = help,
             .accepts = accepted},
    .number = "3",
    .alias = "compare",
    .run = run,
};
