/* What `kvstep attention` shows, made from AttentionResult and nothing else. */
#ifndef KVSTEP_CHAPTERS_ATTENTION_PRINT_H
#define KVSTEP_CHAPTERS_ATTENTION_PRINT_H

#include "chapters/02_attention/run.h"
#include <stdio.h>

/* The model, what is opened, and Q, K and V. */
void attention_print_inputs(const AttentionResult *result, FILE *stream);

/* Scores, weights, output. */
void attention_print_scores(const AttentionResult *result, FILE *stream);

/* All heads of the layer: where the newest token looks. */
bool attention_print_heads(const AttentionResult *result, FILE *stream, Error *err);

/* Steps N - 1 and N: which rows of weights are the same bits, and how many pairs. */
void attention_print_overlay(const AttentionResult *result, FILE *stream);

/* One line: how many rows were the same. */
void attention_print_verdict(const AttentionResult *result, FILE *stream);

/* How a pair turns by its position, and what --shift changed (rotation.c). */
void attention_print_rotation(const AttentionResult *result, FILE *stream);

/* "read: ... next: ... exercise: ..." */
void attention_print_next(FILE *stream);

/* The document of --json (json.c). */
bool attention_print_json(const AttentionResult *result, FILE *stream, Error *err);

#endif
