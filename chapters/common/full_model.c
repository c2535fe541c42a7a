#include "chapters/common/full_model.h"

#include <string.h>

bool full_model_open(FullModel *full, const EngineConfig *like, Memory *memory,
                     Error *err) {
    const Shape *shape = &like->weights->shape;
    *full = (FullModel){.first_differing = FULL_MODEL_SAME, .memory = memory};
    rule_full(&full->rule, shape, &format_f32);
    EngineConfig config = *like;
    config.rule = &full->rule;
    config.trace = NULL;
    if (config.rows > shape->context) config.rows = config.positions = shape->context;
    full->weights = like->weights;
    full->logits = memory_new(memory, shape->vocab, sizeof *full->logits, err);
    full->engine = full->logits ? recompute_open(&config, err) : NULL;
    return full->engine;
}

static void stop(FullModel *full) {
    recompute_close(full->engine);
    full->engine = NULL;
}

void full_model_close(FullModel *full) {
    stop(full);
    if (full->memory) memory_free(full->memory, full->logits);
    *full = (FullModel){0};
}

bool full_model_compare(FullModel *full, const Batch *batch, const float *logits,
                        Error *err) {
    if (!full->engine) return true;
    const Shape *shape = &full->weights->shape;
    if (batch->n > shape->context) {
        stop(full);
        return true;
    }
    if (!recompute_step(full->engine, batch, full->logits, err)) return false;
    full->compared++;
    if (memcmp(full->logits, logits, shape->vocab * sizeof *logits) != 0) {
        full->first_differing = batch->pos[batch->n - 1];
        stop(full);
    }
    return true;
}
