#include "chapters/02_attention/bent.h"

static void rope(const Kernels *kernels, const RopeTable *table, const size_t *position,
                 size_t n, size_t heads, size_t size, float *x) {
    const Bent *b = (const Bent *)kernels; /* table is the first member */
    for (size_t t = 0; t < n; t++)
        b->position[t] = position[t] + (t < b->first ? 0 : b->shift);
    b->real->rope(b->real, table, b->position, n, heads, size, x);
}

/* A query that claims to be the newest sees everything, unless a window hides it; it
 * was turned before. */
static void attention(const Kernels *kernels, const Attention *a) {
    const Bent *b = (const Bent *)kernels;
    Attention bent = *a;
    LayerRule all = *a->rule;
    if (b->no_mask) {
        for (size_t t = 0; t < a->n; t++) b->position[t] = a->rows->end - 1;
        all.sinks = 0;
        all.recent = RULE_ALL;
        bent.position = b->position;
        bent.rule = &all;
    }
    b->real->attention(b->real, &bent);
}

bool bent_open(Bent *bent, const Kernels *real, size_t room, Memory *memory,
               Error *err) {
    *bent = (Bent){.table = *real, .real = real, .memory = memory};
    bent->table.rope = rope;
    bent->table.attention = attention;
    bent->position = memory_new(memory, room, sizeof *bent->position, err);
    return bent->position;
}

void bent_close(Bent *bent) {
    memory_free(bent->memory, bent->position);
    bent->position = NULL;
}
