/* A fuzz target is one function; libFuzzer calls it with bytes of its making, the
 * ordinary tests with the files of its corpus. */
#ifndef KVSTEP_TESTS_FUZZ_FUZZ_H
#define KVSTEP_TESTS_FUZZ_FUZZ_H

#include "core/base/file.h"
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns 0; a fault ends the process. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Holds in every build, with NDEBUG too. */
static inline void fuzz_demand(bool holds) {
    if (!holds) abort();
}

/* A copy of data as file_read would give it. */
static inline Bytes fuzz_file(const uint8_t *data, size_t size, Memory *memory) {
    Bytes file = {memory_new(memory, size, 1, NULL), size};
    fuzz_demand(file.data != NULL);
    if (size > 0) memcpy(file.data, data, size);
    return file;
}

/* Calls the target with each file of the folder; how many there were. */
static inline size_t fuzz_replay(const char *folder) {
    DIR *entries = opendir(folder);
    if (!entries) return 0;
    size_t replayed = 0;
    for (const struct dirent *entry; (entry = readdir(entries));) {
        char path[512];
        Memory memory = {0};
        Bytes file;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        fuzz_demand(file_read(path, &file, &memory, NULL));
        fuzz_demand(LLVMFuzzerTestOneInput(file.data, file.size) == 0);
        memory_free(&memory, file.data);
        replayed++;
    }
    closedir(entries);
    return replayed;
}

#endif
