#include "chapters/00_forward/command.h"
#ifndef KVSTEP_MINIMAL
#include "chapters/00_forward/figures.h"
#endif
#include "chapters/00_forward/print.h"

static const char help[] =
    "The prompt becomes pieces, the pieces numbers; the newest one is followed through "
    "every layer to the logits: each station with its shape, its first numbers and its "
    "multiply-adds. The older tokens' rows of K and V are there already, in a cache. "
    "Last, how many tokens a text takes, in two languages and two vocabularies.\n"
    "\n"
    "Examples:\n"
    "  kvstep forward\n"
    "  kvstep forward --prompt \"To be or not to\" --json\n"
    "  kvstep forward --model random:dim=128,layers=4,heads=8,hidden=344\n"
    "  kvstep forward --model stories260K.bin --tokenizer tok512.bin\n";

static const char *const accepted[] = {"model",   "tokenizer", "prompt", "kernels",
                                       "threads", "cache",     "scores", "json",
                                       "quiet",   "out",       "format", NULL};

static bool print_all(const ForwardResult *result, FILE *stream, Error *err) {
    forward_print_tokens(result, stream);
    if (!forward_print_boxes(result, stream, err) ||
        !forward_print_parts(result, stream, err) ||
        !forward_print_choices(result, stream, err) ||
        !forward_print_texts(result, stream, err))
        return false;
    return true;
}

/* The picture, and where it is or how to get it. */
static bool draw(const ForwardResult *result, const Options *options, bool all,
                 FILE *stream, Error *err) {
#ifndef KVSTEP_MINIMAL
    if (options->out) return fflush(stream) == 0 && forward_draw(result, options, err);
    if (all) fputs("pictures: the same command with --out DIR\n", stream);
#else
    (void)result, (void)options, (void)all, (void)stream, (void)err;
#endif
    return true;
}

int forward_report(const ForwardResult *result, const Options *options, FILE *stream,
                   Error *err) {
    bool done = true, all = false;
    if (options->json)
        done = forward_print_json(result, stream, err);
    else if (options->quiet)
        forward_print_verdict(result, stream);
    else
        all = done = print_all(result, stream, err);
    if (!done || !draw(result, options, all, stream, err)) return STATUS_REFUSED;
    if (all) forward_print_next(stream);
    return STATUS_FINE;
}

static int run(const Options *options, Error *err) {
    Memory memory = {0};
    ForwardResult result;
    if (!forward_run(options, &result, &memory, err)) return STATUS_REFUSED;
    const int status = forward_report(&result, options, stdout, err);
    forward_result_close(&result);
    return status;
}

const Command forward_command = {
    .info = {.name = "forward",
             .summary = "one token through the model, from text to the next token",
             .help = help,
             .accepts = accepted,
             .prompt = "The cat sat on the mat"},
    .number = "0",
    .run = run,
};
