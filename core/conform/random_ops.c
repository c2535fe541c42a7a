/* Random operations on several sequences against the shadow. A list of operations that
 * fails is made shorter, as long as what is left still fails: what is told is the short
 * one. */
#include "core/base/random.h"
#include "core/conform/shadow.h"

#include <stdio.h>
#include <string.h>

typedef enum { APPEND, ABANDON, CROP, FORK, REMOVE, RELOAD } OpKind;

typedef struct {
    OpKind kind;
    size_t a, b; /* sequences */
    size_t n, m; /* rows of a and b, or a length */
} Op;

enum { LIST = 200 }; /* operations on one cache; the next list takes a new one */

static Op draw_op(uint64_t seed, uint64_t i) {
    const uint64_t draw = random_draw(seed, 0, i);
    static const OpKind kinds[] = {APPEND, APPEND, APPEND, APPEND, ABANDON,
                                   CROP,   FORK,   REMOVE, RELOAD};
    return (Op){.kind = kinds[draw % 9],
                .a = draw / 9 % SHADOW_SEQUENCES,
                .b = draw / 63 % SHADOW_SEQUENCES,
                .n = draw / 1024 % SHADOW_CAPACITY,
                .m = draw / 65536 % 3};
}

static void print_op(const Op *op, char *text, size_t room) {
    switch (op->kind) {
    case APPEND:
        snprintf(text, room, "append %zu", op->a);
        return;
    case ABANDON:
        snprintf(text, room, "abandon %zu", op->a);
        return;
    case CROP:
        snprintf(text, room, "crop %zu to %zu", op->a, op->n);
        return;
    case FORK:
        snprintf(text, room, "fork %zu to %zu", op->a, op->b);
        return;
    case REMOVE:
        snprintf(text, room, "remove %zu", op->a);
        return;
    case RELOAD:
        snprintf(text, room, "save %zu and load %zu", op->a, op->b);
        return;
    }
}

/* New rows of this operation: 1 to 4 of a, and perhaps some of b; chunk and capacity
 * allow them, but for one operation in eight, which must be refused. */
static void rows_of(const Shadow *s, const Op *op, size_t rows[SHADOW_SEQUENCES]) {
    const size_t most = s->chunk < 4 ? s->chunk : 4;
    memset(rows, 0, SHADOW_SEQUENCES * sizeof *rows);
    rows[op->b] = op->m < most ? op->m : most;
    rows[op->a] = 1 + op->n % most;
}

static bool append(Shadow *s, const Op *op, Error *err) {
    size_t rows[SHADOW_SEQUENCES];
    rows_of(s, op, rows);
    bool fits = true;
    for (size_t i = 0; i < SHADOW_SEQUENCES; i++)
        fits &= rows[i] <= SHADOW_CAPACITY - s->length[i];
    bool done = op->kind == ABANDON ? shadow_abandon(s, rows, err)
                                    : shadow_append(s, rows, err);
    if (done && !fits) return error_set(err, "rows past the capacity were taken");
    return done || !fits || s->scarce;
}

/* A crop or fork may be refused; then nothing may have changed. */
static bool apply(Shadow *s, const Op *op, Error *err) {
    Error refused;
    switch (op->kind) {
    case APPEND:
    case ABANDON:
        return append(s, op, err);
    case CROP:
        if (cache_crop(s->cache, op->a, op->n, &refused))
            shadow_cropped(s, op->a, op->n);
        return true;
    case FORK:
        if (cache_fork(s->cache, op->a, op->b, &refused))
            shadow_forked(s, op->a, op->b);
        return true;
    case RELOAD:
        return shadow_reload(s, op->a, op->b, err);
    case REMOVE:
        cache_remove(s->cache, op->a);
        shadow_cropped(s, op->a, 0);
        return true;
    }
    return false;
}

static bool run(const ConformTarget *target, uint64_t variant, const Op *ops,
                size_t count, Error *err) {
    Memory memory = {0};
    Shadow s;
    if (!shadow_open(&s, target, variant, &memory, err)) return false;
    bool holds = true;
    for (size_t i = 0; holds && i < count; i++)
        holds = apply(&s, &ops[i], err) && shadow_check(&s, err);
    shadow_close(&s);
    if (holds && memory.live != 0)
        holds = error_set(err, "%zu bytes were never freed", memory.live);
    return holds;
}

/* Takes out ever smaller runs of operations while the rest still fails. */
static size_t shrink(const ConformTarget *target, uint64_t variant, Op *ops,
                     size_t count) {
    for (size_t size = count / 2; size > 0; size /= 2)
        for (size_t first = 0; first + size <= count;) {
            Op rest[LIST];
            Error ignored;
            memcpy(rest, ops, first * sizeof *ops);
            memcpy(rest + first, ops + first + size,
                   (count - first - size) * sizeof *ops);
            if (run(target, variant, rest, count - size, &ignored)) {
                first += size;
                continue;
            }
            count -= size;
            memcpy(ops, rest, count * sizeof *ops);
        }
    return count;
}

static bool tell(uint64_t variant, const Op *ops, size_t count, Error *err) {
    char list[240] = "";
    for (size_t i = 0; i < count; i++) {
        char op[64];
        print_op(&ops[i], op, sizeof op);
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", op);
    }
    Error last = *err;
    return error_set(err, "%s (variant %llu: %s)", last.text,
                     (unsigned long long)variant, list);
}

bool conform_shadow(const ConformTarget *target, const ConformOptions *o, Error *err) {
    for (size_t done = 0; done < o->operations; done += LIST) {
        const uint64_t variant = o->seed + done / LIST;
        Op ops[LIST];
        size_t count = o->operations - done < LIST ? o->operations - done : LIST;
        for (size_t i = 0; i < count; i++) ops[i] = draw_op(variant, i);
        if (run(target, variant, ops, count, err)) continue;
        count = shrink(target, variant, ops, count);
        run(target, variant, ops, count, err);
        return tell(variant, ops, count, err);
    }
    return true;
}
