/* What object files call, asked of nm. Whoever includes this defines _GNU_SOURCE first.
 */
#ifndef KVSTEP_TESTS_OBJECTS_H
#define KVSTEP_TESTS_OBJECTS_H

#include "tests/check_main.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Whether libm has a function of that name, whatever this program links. */
static inline bool is_in_libm(void *libm, const char *symbol) {
    Dl_info info;
    void *found = dlsym(libm, symbol);
    return found && dladdr(found, &info) && strstr(info.dli_fname, "libm.so");
}

/* fegetround asks how the machine rounds, before the first step; it computes nothing.
 */
static inline bool is_allowed(const char *symbol) {
    static const char *const allowed[] = {"fmaf", "sqrtf"};
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (strcmp(symbol, allowed[i]) == 0) return true;
    return false;
}

/* Asks nm what an object leaves to others. */
static inline size_t demand_no_libm(void *libm, const char *object) {
    char command[700], line[300];
    snprintf(command, sizeof command, "nm -u '%s'", object);
    FILE *nm = popen(command, "r");
    ck_assert_ptr_nonnull(nm);
    size_t symbols = 0;
    while (fgets(line, sizeof line, nm)) {
        char symbol[300], kind;
        if (sscanf(line, " %c %299s", &kind, symbol) != 2) continue;
        symbols++;
        ck_assert_msg(is_allowed(symbol) || !is_in_libm(libm, symbol), "%s calls %s",
                      object, symbol);
    }
    ck_assert_int_eq(pclose(nm), 0);
    return symbols;
}

static inline size_t demand_folder(void *libm, const char *build, const char *room) {
    char folder[400], path[660];
    snprintf(folder, sizeof folder, "%s/%s", build, room);
    DIR *open = opendir(folder);
    ck_assert_msg(open != NULL, "%s is no folder", folder);
    size_t symbols = 0;
    for (struct dirent *entry; (entry = readdir(open));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".o") != 0 || strcmp(entry->d_name, "rope.o") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        symbols += demand_no_libm(libm, path);
    }
    closedir(open);
    return symbols;
}

#endif
