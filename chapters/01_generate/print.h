/* What `kvstep generate` shows, made from GenerateResult and nothing else. */
#ifndef KVSTEP_CHAPTERS_GENERATE_PRINT_H
#define KVSTEP_CHAPTERS_GENERATE_PRINT_H

#include "chapters/01_generate/run.h"
#include <stdio.h>

/* The bill of each step by part, long runs thinned. */
bool generate_print_table(const GenerateResult *result, FILE *stream, Error *err);

/* The totals in words: growth, pairs, dense beside causal. */
void generate_print_totals(const GenerateResult *result, FILE *stream);

/* How much of it all was work done before. */
void generate_print_verdict(const GenerateResult *result, FILE *stream);

/* What the next command shows; "read: ... next: ... exercise: ..." */
void generate_print_next(FILE *stream);

/* The document of --json (json.c). */
bool generate_print_json(const GenerateResult *result, FILE *stream, Error *err);

#endif
