#include "core/count/observed.h"

static const Observed *self(const Kernels *kernels) {
    return (const Observed *)kernels; /* table is the first member */
}

static void tell(const Observed *o, const KernelCall *call) {
    o->listener(call, o->data);
}

static void embed(const Kernels *kernels, const Matrix *table, const int *token,
                  size_t n, float *out) {
    const Observed *o = self(kernels);
    o->real->embed(o->real, table, token, n, out);
    tell(o,
         &(KernelCall){
             .kind = CALL_EMBED, .n = n, .in = 1, .out = table->cols, .result = out});
}

static void rms_norm(const Kernels *kernels, const float *x, const float *w, float eps,
                     size_t n, size_t size, float *out) {
    const Observed *o = self(kernels);
    o->real->rms_norm(o->real, x, w, eps, n, size, out);
    tell(o, &(KernelCall){
                .kind = CALL_NORM, .n = n, .in = size, .out = size, .result = out});
}

static void matmul(const Kernels *kernels, Part part, const Matrix *w, const float *x,
                   size_t n, float *out, float *scratch) {
    const Observed *o = self(kernels);
    o->real->matmul(o->real, part, w, x, n, out, scratch);
    tell(o, &(KernelCall){.kind = CALL_MATMUL,
                          .part = part,
                          .n = n,
                          .in = w->cols,
                          .out = w->rows,
                          .result = out,
                          .multiply_adds = (uint64_t)n * w->rows * w->cols});
}

static void rope(const Kernels *kernels, const RopeTable *table, const size_t *position,
                 size_t n, size_t heads, size_t size, float *x) {
    const Observed *o = self(kernels);
    o->real->rope(o->real, table, position, n, heads, size, x);
    tell(o, &(KernelCall){.kind = CALL_ROPE,
                          .n = n,
                          .in = heads * size,
                          .out = heads * size,
                          .result = x});
}

static bool store(const Kernels *kernels, const Format *format, const float *row,
                  size_t heads, size_t size, void *to) {
    const Observed *o = self(kernels);
    return o->real->store(o->real, format, row, heads, size, to);
}

static void attention(const Kernels *kernels, const Attention *a) {
    const Observed *o = self(kernels);
    Attention with_probs = *a;
    uint64_t pairs = 0;
    if (o->probs) with_probs.probs = o->probs;
    o->real->attention(o->real, &with_probs);
    for (size_t t = 0; t < a->n; t++)
        pairs += a->dense ? a->rows->end : rule_visible(a->rule, a->position[t]);
    tell(o, &(KernelCall){.kind = CALL_ATTENTION,
                          .n = a->n,
                          .in = a->heads * a->k_size,
                          .out = a->heads * a->v_size,
                          .result = a->out,
                          .multiply_adds = pairs * a->heads * (a->k_size + a->v_size),
                          .attention = &with_probs});
}

static void swiglu(const Kernels *kernels, float *gate, const float *up, size_t count) {
    const Observed *o = self(kernels);
    o->real->swiglu(o->real, gate, up, count);
    tell(o,
         &(KernelCall){
             .kind = CALL_SWIGLU, .n = 1, .in = count, .out = count, .result = gate});
}

static void add(const Kernels *kernels, float *x, const float *y, size_t count) {
    const Observed *o = self(kernels);
    o->real->add(o->real, x, y, count);
    tell(o, &(KernelCall){
                .kind = CALL_ADD, .n = 1, .in = count, .out = count, .result = x});
}

void observed_init(Observed *observed, const Kernels *real, KernelListener *listener,
                   void *data, float *probs) {
    *observed = (Observed){.table = {.name = real->name,
                                     .threads = real->threads,
                                     .embed = embed,
                                     .rms_norm = rms_norm,
                                     .matmul = matmul,
                                     .rope = rope,
                                     .store = store,
                                     .attention = attention,
                                     .swiglu = swiglu,
                                     .add = add},
                           .real = real,
                           .listener = listener,
                           .data = data,
                           .probs = probs};
}
