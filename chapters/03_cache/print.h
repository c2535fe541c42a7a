/* What `kvstep cache` shows, made from CacheResult and nothing else. */
#ifndef KVSTEP_CHAPTERS_CACHE_PRINT_H
#define KVSTEP_CHAPTERS_CACHE_PRINT_H

#include "chapters/03_cache/run.h"
#include <stdio.h>

/* The model in one line, and how long the prompt is; known after the first step. */
void cache_print_model(const CacheResult *result, FILE *stream);

/* A row for the prefill and one for each decode step, long runs thinned. */
bool cache_print_table(const CacheResult *result, FILE *stream, Error *err);

/* The totals in words. */
void cache_print_totals(const CacheResult *result, FILE *stream);

/* "same bits: all 64 steps, digest ...", or where the first difference is. */
void cache_print_verdict(const CacheResult *result, FILE *stream);

/* "read: ... next: ... exercise: ..." */
void cache_print_next(FILE *stream);

/* The document of --json (json.c). */
bool cache_print_json(const CacheResult *result, FILE *stream, Error *err);

#endif
