/* Chapter 1: one token at a time without a cache, and how much of each step was done
 * before.
 *
 * The experiment alone: it prints nothing. "Done before" is looked up, not assumed:
 * every row of K and V is compared with that of the step before, bit by bit. */
#ifndef KVSTEP_CHAPTERS_GENERATE_RUN_H
#define KVSTEP_CHAPTERS_GENERATE_RUN_H

#include "chapters/common/options.h"
#include "core/count/counters.h"
#include "core/model/digest.h"
#include "core/model/model.h"

typedef struct {
    size_t step, context; /* newest position; N = step + 1 */
    int before, token;    /* the newest token, and the one drawn */
    Piece text;           /* of the drawn token, inside the tokenizer */
    Counters counters;
    double seconds;
    size_t rows;          /* rows of K and V made: N per layer, all layers */
    size_t same;          /* of these, rows whose bits equal those of the step before */
    size_t tokens_same;   /* the leading tokens whose rows are all the same */
    uint64_t done_before; /* FLOPs that went into these tokens */
    uint64_t pairs_dense, pairs_causal; /* of one head of layer 0: N^2; N (N + 1) / 2 */
} GenerateStep;

typedef struct {
    Model model;
    size_t prompt_tokens, steps;
    GenerateStep *step; /* [steps] */
    Counters total;
    double seconds;
    uint64_t done_before;   /* of the total */
    Counters dense, causal; /* what the formulas say that these steps cost by scores */
    bool ended;             /* the end token was drawn */
    char digest[DIGEST_TEXT];
    Memory *memory;
} GenerateResult;

typedef void GenerateWatch(const GenerateResult *result, const GenerateStep *step,
                           void *data);

bool generate_run(const Options *options, GenerateWatch *watch, void *data,
                  GenerateResult *result, Memory *memory, Error *err);
void generate_result_close(GenerateResult *result);

#endif
