#include "core/model/model.h"

#include <string.h>

static bool open_random(Model *m, const char *spec, const char *tokenizer, Error *err) {
    if (tokenizer)
        return error_set(err,
                         "%s: a random: model has its own byte vocabulary; leave out "
                         "--tokenizer",
                         tokenizer);
    if (!weights_random(&m->weights, spec, m->memory, err)) return false;
    m->tokenizer = tokenizer_bytes_open(m->weights.shape.vocab, m->memory, err);
    return m->tokenizer;
}

static bool open_checkpoint(Model *m, const char *path, const char *tokenizer,
                            Error *err) {
    if (!file_exists(path))
        return error_set(err, "%s: no such model file; random:KEY=N,... needs none",
                         path);
    if (!tokenizer)
        return error_set(err,
                         "%s: a llama2.c checkpoint needs its vocabulary; give "
                         "--tokenizer FILE",
                         path);
    Tensors tensors;
    Vocab vocab;
    if (!llama2c_read(path, &tensors, m->memory, err) ||
        !weights_from_tensors(&m->weights, tensors, m->memory, err))
        return false;
    if (!llama2c_vocab_read(tokenizer, m->weights.shape.vocab, &vocab, m->memory, err))
        return false;
    m->tokenizer = tokenizer_merge_open(vocab, m->memory, err);
    return m->tokenizer;
}

bool model_open(Model *model, const char *name, const char *tokenizer, Memory *memory,
                Error *err) {
    static const char prefix[] = "random:";
    *model = (Model){.name = name, .memory = memory};
    bool random = strncmp(name, prefix, sizeof prefix - 1) == 0;
    bool done = random ? open_random(model, name + sizeof prefix - 1, tokenizer, err)
                       : open_checkpoint(model, name, tokenizer, err);
    if (!done) model_close(model);
    return done;
}

void model_close(Model *model) {
    tokenizer_close(model->tokenizer);
    if (model->weights.memory) weights_close(&model->weights);
    *model = (Model){0};
}
