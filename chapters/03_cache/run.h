/* Chapter 3, the main job: the same tokens without and with a cache, side by side.
 *
 * The experiment alone: it prints nothing. Each step both engines give the logits of the
 * next token; they are compared bit by bit, the next token is drawn, both bills are kept.
 * The table, the JSON and the verdict are made from CacheResult and nothing else. */
#ifndef KVSTEP_CHAPTERS_CACHE_RUN_H
#define KVSTEP_CHAPTERS_CACHE_RUN_H

#include "chapters/common/full_model.h"
#include "chapters/common/options.h"
#include "chapters/common/visibility.h"
#include "core/cache/cache.h"
#include "core/count/counters.h"
#include "core/model/digest.h"
#include "core/model/model.h"

/* What one engine did in one step. */
typedef struct {
    Counters counters;
    double seconds;
} CacheBill;

typedef struct {
    size_t step;    /* newest position */
    size_t context; /* N = step + 1 tokens that this step sees */
    size_t
        rows; /* rows the cached engine worked through: the prompt's length, then 1 */
    int before, token; /* the newest token, and the one drawn from this step's logits */
    Piece text;        /* the drawn token's bytes, inside the tokenizer */
    CacheBill recompute, cached;
    uint64_t cache_bytes; /* live payload after the step */
} CacheStep;

/* Where the two engines first differ. */
typedef struct {
    bool differs;
    bool in_rows; /* a K or V row differs; false: only the logits do */
    size_t step, layer, position;
} CacheDifference;

typedef struct {
    Model model;
    size_t prompt_tokens;
    size_t steps;    /* taken; fewer than --tokens if the model ended its text */
    CacheStep *step; /* [steps] */
    int *token;      /* [context of the last step] what that step worked through */
    CacheBill recompute, cached; /* totals */
    uint64_t
        predicted; /* payload that the formula says is reserved after the last step */
    CacheBytes bytes;                 /* of the cache after the last step */
    size_t rows_copied, bytes_copied; /* by growth */
    size_t peak;                 /* most payload at once: old and new while growing */
    bool full;                   /* the rule is the full model's */
    Rule rule;                   /* what both engines obeyed */
    char words[VISIBILITY_TEXT]; /* the same, to be read */
    const char *kind;            /* of cache */
    size_t full_compared,
        full_differs; /* steps of the full model; the first that differs
                                           from it, or FULL_MODEL_SAME */
    CacheDifference difference;
    bool ended;               /* the end token was drawn */
    char digest[DIGEST_TEXT]; /* "" in the MINIMAL build */
    Memory *memory;
} CacheResult;

/* Called after each step, to show the text as it comes; may be NULL. */
typedef void CacheWatch(const CacheResult *result, const CacheStep *step, void *data);

/* Runs it. False: bad usage or input, one line in err and nothing kept. A difference of
 * bits is no error here: it is in the result, and steps end with the one that differs. */
bool cache_run(const Options *options, CacheWatch *watch, void *data,
               CacheResult *result, Memory *memory, Error *err);

void cache_result_close(CacheResult *result);

#endif
