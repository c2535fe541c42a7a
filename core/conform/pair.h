/* The cached engine over a cache under test, and the oracle, on the same tokens. */
#ifndef KVSTEP_CONFORM_PAIR_H
#define KVSTEP_CONFORM_PAIR_H

#include "core/conform/conform.h"
#include "core/model/cached.h"
#include "core/model/recompute.h"

/* What a pair runs under. */
typedef struct {
    const char *spec;     /* of a random model */
    size_t sinks, recent; /* of every layer; recent 0: RULE_ALL */
    size_t full_layers;   /* of these, layers from 0 on that have no window */
    const char *k, *v;    /* formats; NULL: f32 */
    bool turned_when_read;
} PairRule;

typedef struct {
    Weights weights;
    Rule rule;
    size_t sequences, capacity, chunk; /* chunk: most new tokens in one step */
    Recompute *recompute;
    Cache *cache;
    Cached *cached;
    int *token;      /* [sequences][capacity] all tokens so far */
    size_t *length;  /* [sequences] tokens so far, rows or not */
    float *logits;   /* [sequences][vocab] of each sequence's newest token, cached */
    float *expected; /* [vocab] */
    /* The batch under way: [sequences x capacity]. */
    int *batch_token;
    size_t *batch_seq, *batch_pos, batch_n;
    bool *batch_want;
    Memory *memory;
} Pair;

bool pair_open(Pair *pair, const ConformTarget *target, const PairRule *rule,
               size_t sequences, size_t capacity, Memory *memory, Error *err);
void pair_close(Pair *pair);

/* Puts n tokens drawn from (seed, sequence, position) at the end of a sequence and into
 * the batch under way; at most pair->chunk. One call per sequence and batch. */
void pair_add(Pair *pair, size_t seq, size_t n, uint64_t seed);

/* Runs the batch through the cached engine. */
bool pair_step(Pair *pair, Error *err);

/* n tokens of one sequence, in as many steps as its chunk makes necessary. */
bool pair_feed(Pair *pair, size_t seq, size_t n, uint64_t seed, Error *err);

/* The oracle on the whole sequence: logits and every row still needed must be the same
 * bits. */
bool pair_check(Pair *pair, size_t seq, Error *err);

/* After cache_crop / cache_fork: the token lists follow. */
void pair_cropped(Pair *pair, size_t seq, size_t length);
void pair_forked(Pair *pair, size_t from, size_t to);

#endif
