/* What every chapter begins with: the prompt as tokens, with room for those to come. */
#ifndef KVSTEP_CHAPTERS_PROMPT_H
#define KVSTEP_CHAPTERS_PROMPT_H

#include "chapters/common/options.h"
#include "core/model/batch.h"
#include "core/model/model.h"

/* Token lists as a Batch wants them; one sequence, number 0. */
typedef struct {
    size_t prompt;     /* tokens of the prompt, <s> included */
    size_t n, room;    /* tokens so far; most there can be: prompt + --tokens */
    int *token;        /* [room] */
    size_t *seq, *pos; /* [room] */
    bool *want;        /* [room] */
    Memory *memory;
} Prompt;

/* Reads options->prompt. Refuses text that is not UTF-8, and, before any work, a prompt
 * whose tokens and options->tokens - 1 drawn ones do not fit the context: the token
 * drawn last gets no row. */
bool prompt_open(Prompt *prompt, const Model *model, const Options *options,
                 Memory *memory, Error *err);
void prompt_close(Prompt *prompt);

/* n tokens from `first` on; logits wanted of the newest of all, or of every one. */
Batch prompt_batch(const Prompt *prompt, size_t first, size_t n, bool all_logits);

#endif
