/* The step trace: what happened, record by record, for pictures, the step view, golden
 * tests and exercises. Version 1.
 *
 * Two spellings of the same records, chosen by the file's ending: text (one record a
 * line, `kind key=value ...`) and JSON Lines (.jsonl or .json: one object a line, its
 * kind in "record"). Ranges are `3-5,9` in text and [[3,5],[9,9]] in JSON; lists of
 * numbers `0.5,0.25` and [0.5,0.25]. The first record is `trace version=1`.
 *
 *   trace      version
 *   model      name dim layers heads kv_heads k_size v_size hidden vocab context
 *              (heads to hidden: of layer 0)
 *   rows       engine seq step layer position count, written: slots, read: slots.
 *              One per layer and pass of the cached engine.
 *   attention  engine seq step layer head position weights: one for every row of the
 *              call from position 0 on, 0 where the query sees none (on request)
 *   step       engine seq step context token qkv scores values output mlp logits
 *              elementwise weight_bytes kv_read kv_written cache_bytes: counters of the
 *              step, and the token drawn from its logits
 *
 * A trace that is off is a NULL pointer and costs one comparison. Write errors are kept
 * by the stream and reported by file_commit. */
#ifndef KVSTEP_COUNT_TRACE_H
#define KVSTEP_COUNT_TRACE_H

#include "core/base/shape.h"
#include "core/count/counters.h"
#include <stdio.h>

typedef struct {
    FILE *stream;
    bool json;
    bool attention; /* write attention records, too */
} Trace;

/* JSON Lines if the path ends in .json or .jsonl. */
bool trace_wants_json(const char *path);

/* Writes the first two records. */
void trace_begin(Trace *trace, const char *model, const Shape *shape);

/* Where a record belongs: the step's newest position in this sequence. */
typedef struct {
    const char *engine;
    size_t seq, step;
} TraceStep;

/* Slots of positions in the order of positions; runs are joined into ranges. */
void trace_rows(Trace *trace, const TraceStep *at, size_t layer, size_t position,
                const size_t *written, size_t n_written, const size_t *read,
                size_t n_read);

/* weights [n] of one query. */
void trace_attention(Trace *trace, const TraceStep *at, size_t layer, size_t head,
                     size_t position, const float *weights, size_t n);

void trace_step(Trace *trace, const TraceStep *at, int token, const Counters *counters,
                uint64_t cache_bytes);

#endif
