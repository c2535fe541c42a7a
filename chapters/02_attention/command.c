#include "chapters/02_attention/command.h"
#ifndef KVSTEP_MINIMAL
#include "chapters/02_attention/figures.h"
#endif
#include "chapters/02_attention/print.h"

static const char help[] =
    "One layer and head opened up: Q, K, V, scores, weights and output as matrices. "
    "Then the same step with one token less: under the mask every old row of weights "
    "has the same bits, so it was computed for nothing; --no-mask shows that without "
    "the mask it was not. Last, how RoPE turns q and k by position, and with --shift "
    "that the scores depend on distances only. At most 1,024 tokens.\n"
    "\n"
    "Examples:\n"
    "  kvstep attention\n"
    "  kvstep attention --layer 1 --head 3 --prompt \"the cat\"\n"
    "  kvstep attention --no-mask\n"
    "  kvstep attention --shift 100\n";

static const char *const accepted[] = {
    "model",   "tokenizer", "prompt", "kernels", "threads", "layer",  "head",
    "no-mask", "shift",     "json",   "quiet",   "out",     "format", NULL};

static bool print_all(const AttentionResult *result, FILE *stream, Error *err) {
    attention_print_inputs(result, stream);
    attention_print_scores(result, stream);
    if (!attention_print_heads(result, stream, err)) return false;
    attention_print_overlay(result, stream);
    attention_print_verdict(result, stream);
    attention_print_rotation(result, stream);
    return true;
}

/* The picture, and where it is or how to get it. */
static bool draw(const AttentionResult *result, const Options *options, bool all,
                 FILE *stream, Error *err) {
#ifndef KVSTEP_MINIMAL
    if (options->out)
        return fflush(stream) == 0 && attention_draw(result, options, err);
    if (all) fputs("pictures: the same command with --out DIR\n", stream);
#else
    (void)result, (void)options, (void)all, (void)stream, (void)err;
#endif
    return true;
}

int attention_report(const AttentionResult *result, const Options *options,
                     FILE *stream, Error *err) {
    bool done = true, all = false;
    if (options->json)
        done = attention_print_json(result, stream, err);
    else if (options->quiet)
        attention_print_verdict(result, stream);
    else
        all = done = print_all(result, stream, err);
    if (!done || !draw(result, options, all, stream, err)) return STATUS_REFUSED;
    if (all) attention_print_next(stream);
    return STATUS_FINE;
}

static int run(const Options *options, Error *err) {
    Memory memory = {0};
    AttentionResult result;
    if (!attention_run(options, &result, &memory, err)) return STATUS_REFUSED;
    const int status = attention_report(&result, options, stdout, err);
    attention_result_close(&result);
    return status;
}

const Command attention_command = {
    .info = {.name = "attention",
             .summary = "scores, weights, values; what is computed again and again",
             .help = help,
             .accepts = accepted,
             .prompt = "The cat sat"},
    .number = "2",
    .run = run,
};
