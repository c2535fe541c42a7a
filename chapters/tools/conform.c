#include "chapters/tools/conform.h"

#include "core/conform/conform.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 120, OPERATIONS = 20000 };

typedef Cache *OpenCache(const CacheConfig *, Memory *, Error *);

/* What became of one property. */
typedef enum { HELD, BROKEN, DIED, ENDLESS } Outcome;

/* dlsym gives an object pointer; ISO C has no way from there to a function but this. */
static OpenCache *find_open(void *library) {
    OpenCache *open = NULL;
    void *symbol = dlsym(library, "kvstep_cache_open");
    memcpy(&open, &symbol, sizeof open);
    return open;
}

/* A foreign cache may crash or never end: it runs in a process of its own, whose only word
 * is the error's text. */
_Noreturn static void run_property(const ConformProperty *property,
                                   const ConformTarget *target, int to) {
    const ConformOptions options = {.operations = OPERATIONS, .seed = 1};
    Error err = {0};
    alarm(SECONDS);
    bool holds = property->check(target, &options, &err);
    size_t length = strlen(err.text);
    bool told = holds || write(to, err.text, length) == (ssize_t)length;
    _exit(holds && told ? HELD : BROKEN);
}

static void read_text(int from, Error *why) {
    size_t used = 0;
    for (ssize_t n; used + 1 < sizeof why->text; used += (size_t)n) {
        n = read(from, why->text + used, sizeof why->text - 1 - used);
        if (n <= 0) break;
    }
    why->text[used] = '\0';
}

static bool try_property(const ConformProperty *property, const ConformTarget *target,
                         Outcome *outcome, Error *why, Error *err) {
    int ends[2], status = 0;
    if (pipe(ends) != 0) return error_set(err, "no pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_property(property, target, ends[1]);
    }
    close(ends[1]);
    if (child > 0) {
        read_text(ends[0], why);
        waitpid(child, &status, 0);
    }
    close(ends[0]);
    if (child < 0) return error_set(err, "no process: %s", strerror(errno));
    *outcome = WIFEXITED(status) ? (WEXITSTATUS(status) == HELD ? HELD : BROKEN)
               : WTERMSIG(status) == SIGALRM ? ENDLESS
                                             : DIED;
    if (*outcome == DIED) error_set(why, "it ended with signal %d", WTERMSIG(status));
    if (*outcome == ENDLESS)
        error_set(why, "it did not end within %d seconds", SECONDS);
    return true;
}

static bool try_all(const ConformTarget *target, size_t *held, Error *err) {
    printf("%s against the contract of core/cache/cache.h:\n\n", target->name);
    for (size_t i = 0; i < conform_count; i++) {
        Outcome outcome = BROKEN;
        Error why = {0};
        if (!try_property(&conform_properties[i], target, &outcome, &why, err))
            return false;
        printf("  %-6s  %s\n", outcome == HELD ? "holds" : "BROKEN",
               conform_properties[i].name);
        if (outcome != HELD) printf("          %s\n", why.text);
        *held += outcome == HELD;
    }
    return true;
}

static int run(const Options *options, Error *err) {
    const char *path = options->file;
    char local[4200];
    if (!path) {
        error_set(err, "conform needs the cache to try: kvstep conform FILE.so");
        return STATUS_REFUSED;
    }
    /* Without a slash dlopen would look among the system's libraries. */
    snprintf(local, sizeof local, strchr(path, '/') ? "%s" : "./%s", path);
    void *library = dlopen(local, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        error_set(err, "%s: cannot be loaded: %s", path, dlerror());
        return STATUS_REFUSED;
    }
    OpenCache *open = find_open(library);
    const size_t *chunk = dlsym(library, "kvstep_cache_chunk");
    size_t held = 0;
    bool tried = false;
    if (open)
        tried = try_all(&(ConformTarget){path, open, chunk ? *chunk : 0}, &held, err);
    else
        error_set(err,
                  "%s: has no function kvstep_cache_open; give one with the "
                  "arguments of contiguous_open (core/cache/contiguous.h)",
                  path);
    dlclose(library);
    if (!tried) return STATUS_REFUSED;
    printf("\n%zu of %zu properties hold\n", held, conform_count);
    return held == conform_count ? STATUS_FINE : STATUS_FAILED;
}

static const char *const accepts[] = {"help", NULL};

const Command conform_command = {
    .info =
        {.name = "conform",
         .summary = "hold a cache of your own to the contract, property by property",
         .help =
             "FILE.so has a function kvstep_cache_open with the arguments of "
             "contiguous_open (core/cache/contiguous.h). Each property runs in a "
             "process "
             "of its own: a cache may crash or never end. A cache that takes only so "
             "many "
             "new tokens of a sequence in one step says so in `const size_t "
             "kvstep_cache_chunk`.\n"
             "Build one: cc -shared -fPIC -I. -o mine.so mine.c; then: kvstep conform "
             "mine.so\n"
             "Exit status: 0 every property holds, 1 one is broken, 2 the file cannot "
             "be "
             "tried.",
         .accepts = accepts,
         .argument = "FILE.so"},
    .run = run,
};
