/* Chapter 0: one token on its way through the model, from text to the next token. */
#ifndef KVSTEP_CHAPTERS_FORWARD_RUN_H
#define KVSTEP_CHAPTERS_FORWARD_RUN_H

#include "chapters/common/options.h"
#include "core/kernels/kernels.h"
#include "core/model/model.h"

enum { FORWARD_NUMBERS = 4, FORWARD_CHOICES = 5, FORWARD_TEXTS = 4 };

#define FORWARD_NO_LAYER SIZE_MAX

/* One station of the newest token. */
typedef struct {
    const char *name;              /* "W_q", "RMSNorm", "attention", ... */
    size_t layer;                  /* or FORWARD_NO_LAYER */
    size_t in, out;                /* values going in and coming out */
    float number[FORWARD_NUMBERS]; /* the first of them */
    size_t numbers;
    uint64_t multiply_adds;
} ForwardBox;

typedef struct {
    int id;
    Piece piece; /* inside the tokenizer */
} ForwardToken;

typedef struct {
    int id;
    Piece piece;
    float logit;
    double probability; /* softmax at temperature 1 */
} ForwardChoice;

/* How many tokens a text takes. */
typedef struct {
    const char *language, *vocabulary;
    size_t bytes, characters, tokens;
} ForwardText;

typedef struct {
    Model model;
    size_t tokens;
    ForwardToken *token; /* [tokens] <s> and the prompt */
    size_t context;      /* N: rows that the newest token's queries see */
    size_t boxes;
    ForwardBox *box;                       /* [boxes] in the order of computing */
    uint64_t multiply_adds;                /* of all boxes */
    uint64_t part[PARTS];                  /* of these, by part */
    ForwardChoice choice[FORWARD_CHOICES]; /* likeliest first */
    size_t choices;
    ForwardText
        text[FORWARD_TEXTS]; /* English and Chinese, bytes and this vocabulary */
    Memory *memory;
} ForwardResult;

bool forward_run(const Options *options, ForwardResult *result, Memory *memory,
                 Error *err);
void forward_result_close(ForwardResult *result);

#endif
