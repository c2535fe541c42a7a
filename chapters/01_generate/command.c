#include "chapters/01_generate/command.h"
#ifndef KVSTEP_MINIMAL
#include "chapters/01_generate/figures.h"
#endif
#include "chapters/01_generate/print.h"
#include "chapters/common/describe.h"
#include "chapters/common/progress.h"
#include "chapters/common/quantity.h"
#include "chapters/common/text.h"

#include <string.h>
#include <unistd.h>

static const char help[] =
    "Without a cache, each step works through all N tokens to draw one more. The bill "
    "is counted by part, and each row of K and V is compared with that of the step "
    "before: where the bits are the same, the work was done before.\n"
    "\n"
    "Examples:\n"
    "  kvstep generate\n"
    "  kvstep generate --tokens 128 --scores dense\n"
    "  kvstep generate --prompt \"Once upon a time\" --logits all --json\n"
    "  kvstep generate --model stories260K.bin --tokenizer tok512.bin\n";

static const char *const accepted[] = {
    "model", "tokenizer", "prompt",  "tokens", "seed",   "temperature",
    "top-p", "kernels",   "threads", "scores", "logits", "json",
    "quiet", "digest",    "out",     "format", NULL};

/* What is shown while the steps are taken. */
typedef struct {
    const char *prompt;
    bool text; /* the text as it comes; else only the progress bar */
    TextOut out;
    Progress progress;
} Watching;

static void begin_text(Watching *watching, const GenerateResult *result) {
    char prompt[QUANTITY_TEXT];
    describe_model(&result->model, stdout);
    printf("prompt: %s, <s> included; the text as it is drawn:\n",
           quantity_of(result->prompt_tokens, "token", "tokens", prompt));
    text_put(&watching->out, watching->prompt, strlen(watching->prompt));
}

static void watch_step(const GenerateResult *result, const GenerateStep *step,
                       void *data) {
    Watching *watching = data;
    progress_show(&watching->progress, result->steps);
    if (!watching->text) return;
    if (result->steps == 1) begin_text(watching, result);
    if (!result->ended) text_put(&watching->out, step->text.bytes, step->text.length);
}

static bool print_all(const GenerateResult *result, FILE *stream, Error *err) {
    fputc('\n', stream);
    if (!generate_print_table(result, stream, err)) return false;
    fputc('\n', stream);
    generate_print_totals(result, stream);
    generate_print_verdict(result, stream);
    return true;
}

/* The picture, and where it is or how to get it. */
static bool draw(const GenerateResult *result, const Options *options, bool all,
                 FILE *stream, Error *err) {
#ifndef KVSTEP_MINIMAL
    if (options->out) return fflush(stream) == 0 && generate_draw(result, options, err);
    if (all) fputs("pictures: the same command with --out DIR\n", stream);
#else
    (void)result, (void)options, (void)all, (void)stream, (void)err;
#endif
    return true;
}

int generate_report(const GenerateResult *result, const Options *options, FILE *stream,
                    Error *err) {
    bool done = true, all = false;
    if (options->json)
        done = generate_print_json(result, stream, err);
    else if (options->digest)
        fprintf(stream, "%s\n", result->digest);
    else if (options->quiet)
        generate_print_verdict(result, stream);
    else
        all = done = print_all(result, stream, err);
    if (!done || !draw(result, options, all, stream, err)) return STATUS_REFUSED;
    if (all) generate_print_next(stream);
    return STATUS_FINE;
}

static int run(const Options *options, Error *err) {
    Memory memory = {0};
    GenerateResult result;
    const bool silent = options->json || options->quiet;
    Watching watching = {.prompt = options->prompt,
                         .text = !silent && !options->digest,
                         .out = {.stream = stdout}};
    /* Text that appears on the same terminal is progress enough. */
    progress_begin(&watching.progress,
                   !silent && !(watching.text && isatty(STDOUT_FILENO)),
                   options->tokens);
    bool done = generate_run(options, watch_step, &watching, &result, &memory, err);
    progress_end(&watching.progress);
    if (watching.text) text_end(&watching.out);
    if (!done) return STATUS_REFUSED;
    const int status = generate_report(&result, options, stdout, err);
    generate_result_close(&result);
    return status;
}

const Command generate_command = {
    .info = {.name = "generate",
             .summary = "one token at a time: what a step costs without a cache",
             .help = help,
             .accepts = accepted},
    .number = "1",
    .run = run,
};
