/* A model as a user names it: weights and the tokenizer that belongs to them. */
#ifndef KVSTEP_MODEL_MODEL_H
#define KVSTEP_MODEL_MODEL_H

#include "core/model/weights.h"
#include "core/text/tokenizer.h"

/* What runs when no model is named. */
#define MODEL_DEFAULT                                                                  \
    "random:dim=64,layers=2,heads=4,kv_heads=2,hidden=172,vocab=256,ctx=512"

typedef struct {
    const char *name; /* as given; belongs to the caller */
    Weights weights;
    Tokenizer *tokenizer;
    Memory *memory;
} Model;

/* name: "random:key=value,..." (random_model.c) or a llama2.c checkpoint, which needs
 * the path of its tokenizer file; NULL otherwise. One line on anything wrong. */
bool model_open(Model *model, const char *name, const char *tokenizer, Memory *memory,
                Error *err);
void model_close(Model *model);

#endif
