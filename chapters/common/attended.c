#include "chapters/common/attended.h"
#include "core/count/observed.h"
#include "core/model/recompute.h"

#include <math.h>
#include <string.h>

/* No side over what a heat map shows, no more weights than a file of numbers should
 * have. */
static const size_t MOST_TOKENS = 512, MOST_WEIGHTS = 2000000;

typedef struct {
    Attended *attended;
    size_t at_layer;   /* of the next attention call */
    float *probs;      /* [n][most heads][n] of one call */
    float *logits;     /* [vocab] */
    size_t *seq, *pos; /* [n] */
    bool *want;        /* [n] */
    Observed observed;
    Recompute *recompute;
    Memory *memory;
} Run;

static void see_attention(const KernelCall *call, void *data) {
    Run *run = data;
    Attended *kept = run->attended;
    if (call->kind != CALL_ATTENTION || run->at_layer++ != kept->layer) return;
    const size_t n = kept->n, heads = kept->heads;
    for (size_t q = 0; q < n; q++)
        for (size_t h = 0; h < heads; h++)
            memcpy(kept->weights + (h * n + q) * n,
                   call->attention->probs + (q * heads + h) * n, n * sizeof(float));
}

static bool open_run(Run *run, const Model *model, const Rule *rule,
                     const char *kernel_set, Error *err) {
    const Shape *shape = &model->weights.shape;
    const Kernels *kernels = kernels_select(kernel_set, err);
    if (!kernels) return false;
    Memory *m = run->memory;
    const size_t n = run->attended->n;
    size_t most_heads = 0;
    for (size_t l = 0; l < shape->layers; l++)
        if (shape->layer[l].heads > most_heads) most_heads = shape->layer[l].heads;
    run->probs = memory_new(m, n * n, most_heads * sizeof(float), err);
    run->logits = memory_new(m, shape->vocab, sizeof(float), err);
    run->seq = memory_new(m, n, sizeof *run->seq, err);
    run->pos = memory_new(m, n, sizeof *run->pos, err);
    run->want = memory_new(m, n, sizeof *run->want, err);
    if (!run->probs || !run->logits || !run->seq || !run->pos || !run->want)
        return false;
    for (size_t i = 0; i < n; i++) run->pos[i] = i;
    run->want[n - 1] = true;
    observed_init(&run->observed, kernels, see_attention, run, run->probs);
    const EngineConfig config = {.weights = &model->weights,
                                 .rule = rule,
                                 .kernels = &run->observed.table,
                                 .rows = n,
                                 .positions = n,
                                 .memory = m};
    run->recompute = recompute_open(&config, err);
    return run->recompute;
}

static void close_run(Run *run) {
    recompute_close(run->recompute);
    memory_free(run->memory, run->probs);
    memory_free(run->memory, run->logits);
    memory_free(run->memory, run->seq);
    memory_free(run->memory, run->pos);
    memory_free(run->memory, run->want);
}

static size_t tokens_shown(size_t all, size_t heads) {
    const size_t fit = (size_t)sqrt((double)(MOST_WEIGHTS / heads));
    const size_t most = fit < MOST_TOKENS ? fit : MOST_TOKENS;
    return all < most ? all : most < 1 ? 1 : most;
}

bool attended_open(Attended *attended, const Model *model, const Rule *rule,
                   const char *kernels, const int *token, size_t all, size_t layer,
                   Memory *memory, Error *err) {
    const size_t heads = model->weights.shape.layer[layer].heads;
    *attended = (Attended){.layer = layer,
                           .heads = heads,
                           .n = tokens_shown(all, heads),
                           .all = all,
                           .memory = memory};
    Run run = {.attended = attended, .memory = memory};
    attended->weights = memory_new(memory, attended->n * attended->n,
                                   heads * sizeof *attended->weights, err);
    bool done = attended->weights && open_run(&run, model, rule, kernels, err);
    const Batch batch = {attended->n, token, run.seq, run.pos, run.want};
    done = done && recompute_step(run.recompute, &batch, run.logits, err);
    close_run(&run);
    if (!done) attended_close(attended);
    return done;
}

void attended_close(Attended *attended) {
    memory_free(attended->memory, attended->weights);
    *attended = (Attended){0};
}
