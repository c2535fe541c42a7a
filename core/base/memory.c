#include "core/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BORDER = 64 }; /* one cache line; the block's size stands in front of it */

bool size_times(size_t *product, size_t factor) {
    size_t result;
    if (__builtin_mul_overflow(*product, factor, &result)) return false;
    *product = result;
    return true;
}

/* Systems that lend more than they have would end the program at the first touch. */
static size_t machine_bytes(void) {
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0) return (size_t)pages * (size_t)page;
#endif
    return SIZE_MAX / 2;
}

/* Bytes held at the top, by this Memory and all others under the same one. */
static size_t held_by_all(const Memory *memory) {
    while (memory && memory->parent) memory = memory->parent;
    return memory ? memory->live : 0;
}

static bool may_allocate(Memory *memory) {
    bool may = true;
    for (Memory *m = memory; m; m = m->parent)
        if (++m->allocations == m->fail_at) may = false;
    return may;
}

void *memory_new(Memory *memory, size_t count, size_t size, Error *err) {
    size_t bytes = count;
    const size_t most = machine_bytes(), held = held_by_all(memory);
    if (!size_times(&bytes, size) || held > most || bytes > most - held) {
        error_set(err, "%zu x %zu bytes are more than this machine's memory has left",
                  count, size);
        return NULL;
    }
    void *start = NULL;
    if (!may_allocate(memory) || posix_memalign(&start, BORDER, BORDER + bytes) != 0) {
        error_set(err, "out of memory: %zu bytes were asked for", bytes);
        return NULL;
    }
    memcpy(start, &bytes, sizeof bytes);
    for (Memory *m = memory; m; m = m->parent) {
        m->live += bytes;
        if (m->live > m->peak) m->peak = m->live;
    }
    return memset((char *)start + BORDER, 0, bytes);
}

void memory_free(Memory *memory, void *block) {
    if (!block) return;
    char *start = (char *)block - BORDER;
    size_t bytes;
    memcpy(&bytes, start, sizeof bytes);
    for (Memory *m = memory; m; m = m->parent) m->live -= bytes;
    free(start);
}

void memory_poison(void *cells, size_t bytes) {
#ifdef KVSTEP_CHECKING
    if (bytes) memset(cells, 0xFF, bytes);
#else
    (void)cells;
    (void)bytes;
#endif
}

bool memory_is_poisoned(const void *cells, size_t bytes) {
#ifdef KVSTEP_CHECKING
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)cells)[i] != 0xFF) return false;
#else
    (void)cells;
    (void)bytes;
#endif
    return true;
}
