#include "tests/counting/tsan.h"

#include <stdbool.h>
#include <stdlib.h>

uint64_t counting_madds;

/* A byte is new if its stamp is not that of the present generation: so a restart costs
 * nothing, however much memory is watched. */
typedef struct {
    uintptr_t start, end;
    int kind;
    uint32_t *read, *written; /* [end - start] generation of the last access */
} Range;

static Range range[64];
static size_t ranges;
static uint32_t generation = 1;
static Touched sum[TOUCHED_KINDS];

/* Ranges do not overlap and stand by address. */
void touched_register(int kind, const void *start, size_t bytes) {
    if (ranges == sizeof range / sizeof *range) abort();
    Range *r = &range[ranges++];
    for (; r > range && r[-1].start > (uintptr_t)start; r--) *r = r[-1];
    *r = (Range){(uintptr_t)start, (uintptr_t)start + bytes, kind,
                 calloc(bytes, sizeof *r->read), calloc(bytes, sizeof *r->written)};
    if (!r->read || !r->written) abort();
}

void touched_forget(void) {
    for (size_t i = 0; i < ranges; i++) {
        free(range[i].read);
        free(range[i].written);
    }
    ranges = 0;
}

void touched_restart(void) {
    generation++;
    for (int kind = 0; kind < TOUCHED_KINDS; kind++) sum[kind] = (Touched){0, 0};
}

Touched touched(int kind) {
    return sum[kind];
}

/* The range that ends first after `address`, or NULL. */
static const Range *find(uintptr_t address) {
    size_t low = 0, high = ranges;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (range[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ranges ? &range[low] : NULL;
}

static void touch(const void *address, size_t bytes, bool write) {
    for (uintptr_t b = (uintptr_t)address, end = b + bytes; b < end; b++) {
        const Range *r = find(b);
        if (!r || end <= r->start) return;
        if (b < r->start) continue;
        uint32_t *stamp = &(write ? r->written : r->read)[b - r->start];
        size_t *count = write ? &sum[r->kind].written : &sum[r->kind].read;
        *count += *stamp != generation;
        *stamp = generation;
    }
}

/* What gcc 12 and its neighbours call. */

#define ACCESS(name, bytes, write)                                                     \
    void __tsan_##name(void *address);                                                 \
    void __tsan_##name(void *address) {                                                \
        touch(address, bytes, write);                                                  \
    }
#define BOTH(suffix, bytes)                                                            \
    ACCESS(read##suffix, bytes, false)                                                 \
    ACCESS(write##suffix, bytes, true)                                                 \
    ACCESS(unaligned_read##suffix, bytes, false)                                       \
    ACCESS(unaligned_write##suffix, bytes, true)                                       \
    ACCESS(volatile_read##suffix, bytes, false)                                        \
    ACCESS(volatile_write##suffix, bytes, true)
BOTH(1, 1)
BOTH(2, 2)
BOTH(4, 4)
BOTH(8, 8)
BOTH(16, 16)

#define RANGE(name, write)                                                             \
    void __tsan_##name(void *address, size_t bytes);                                   \
    void __tsan_##name(void *address, size_t bytes) {                                  \
        touch(address, bytes, write);                                                  \
    }
RANGE(read_range, false)
RANGE(write_range, true)

#define NOTHING(name, argument)                                                        \
    void __tsan_##name(argument);                                                      \
    void __tsan_##name(argument) {}
NOTHING(init, void)
NOTHING(func_exit, void)

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller) {
    (void)caller;
}
