/* What `kvstep forward` shows, made from ForwardResult and nothing else. */
#ifndef KVSTEP_CHAPTERS_FORWARD_PRINT_H
#define KVSTEP_CHAPTERS_FORWARD_PRINT_H

#include "chapters/00_forward/run.h"
#include <stdio.h>

/* The model, and the text as pieces and ids; a long text's middle is left out. */
void forward_print_tokens(const ForwardResult *result, FILE *stream);

/* The first layer box by box, each later one in a line. */
bool forward_print_boxes(const ForwardResult *result, FILE *stream, Error *err);

/* Where the multiply-adds go. */
bool forward_print_parts(const ForwardResult *result, FILE *stream, Error *err);

/* The likeliest next tokens. */
bool forward_print_choices(const ForwardResult *result, FILE *stream, Error *err);

/* Tokens per text. */
bool forward_print_texts(const ForwardResult *result, FILE *stream, Error *err);

/* One line: the next token and what it took. */
void forward_print_verdict(const ForwardResult *result, FILE *stream);

/* "read: ... next: ... exercise: ..." */
void forward_print_next(FILE *stream);

/* The document of --json (json.c). */
bool forward_print_json(const ForwardResult *result, FILE *stream, Error *err);

#endif
