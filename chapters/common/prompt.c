#include "chapters/common/prompt.h"

#include "core/text/utf8.h"

#include <string.h>

/* The farthest apart that a query and its key are turned; 0: as far as the text is long. */
static size_t farthest(const Options *o) {
    return o->window ? o->window : o->max_cached;
}

/* A text may pass the context where no rotation distance does. */
static bool check_length(const Options *o, size_t context, size_t prompt, Error *err) {
    if (o->context > context)
        return error_set(err, "--ctx %zu is over the model's context of %zu",
                         o->context, context);
    if (farthest(o) > context)
        return error_set(err, "%s %zu is over the model's context of %zu",
                         o->window ? "--window" : "--max-cached", farthest(o), context);
    if (o->context) context = o->context;
    if (farthest(o) && (!o->context || strcmp(o->cache, "ring") == 0)) return true;
    if (o->tokens == 1 && prompt > context)
        return error_set(err,
                         "%zu prompt tokens are over the context of %zu; shorten the "
                         "prompt",
                         prompt, context);
    if (o->tokens > context || prompt > context - o->tokens + 1)
        return error_set(err,
                         "%zu prompt tokens and %zu more are over the context of %zu; "
                         "shorten the prompt or --tokens",
                         prompt, o->tokens, context);
    return true;
}

/* ids [bytes + 2]: <s>, a space in front, and at worst one token a byte. */
static bool read_text(const Model *model, const char *text, size_t bytes, int *ids,
                      size_t *count, Error *err) {
    size_t valid = utf8_valid(text, bytes);
    if (valid < bytes)
        return error_set(err, "--prompt is not UTF-8: byte %zu is 0x%02x", valid,
                         (unsigned char)text[valid]);
    return tokenizer_prompt(model->tokenizer, text, ids, bytes + 2, count, err);
}

static bool open_lists(Prompt *p, const int *ids, Error *err) {
    p->token = memory_new(p->memory, p->room, sizeof *p->token, err);
    p->seq = memory_new(p->memory, p->room, sizeof *p->seq, err);
    p->pos = memory_new(p->memory, p->room, sizeof *p->pos, err);
    p->want = memory_new(p->memory, p->room, sizeof *p->want, err);
    if (!p->token || !p->seq || !p->pos || !p->want) return false;
    memcpy(p->token, ids, p->n * sizeof *ids);
    for (size_t i = 0; i < p->room; i++) p->pos[i] = i;
    return true;
}

bool prompt_open(Prompt *prompt, const Model *model, const Options *options,
                 Memory *memory, Error *err) {
    *prompt = (Prompt){.memory = memory};
    const size_t bytes = strlen(options->prompt);
    int *ids = memory_new(memory, bytes + 2, sizeof *ids, err);
    if (!ids) return false;
    bool done =
        read_text(model, options->prompt, bytes, ids, &prompt->prompt, err) &&
        check_length(options, model->weights.shape.context, prompt->prompt, err);
    if (done) {
        prompt->n = prompt->prompt;
        prompt->room = prompt->prompt + options->tokens;
        done = open_lists(prompt, ids, err);
    }
    memory_free(memory, ids);
    if (!done) prompt_close(prompt);
    return done;
}

void prompt_close(Prompt *prompt) {
    memory_free(prompt->memory, prompt->token);
    memory_free(prompt->memory, prompt->seq);
    memory_free(prompt->memory, prompt->pos);
    memory_free(prompt->memory, prompt->want);
    *prompt = (Prompt){0};
}

Batch prompt_batch(const Prompt *prompt, size_t first, size_t n, bool all_logits) {
    for (size_t i = first; i < first + n; i++)
        prompt->want[i] = all_logits || i + 1 == prompt->n;
    return (Batch){.n = n,
                   .token = prompt->token + first,
                   .seq = prompt->seq + first,
                   .pos = prompt->pos + first,
                   .want_logits = prompt->want + first};
}
