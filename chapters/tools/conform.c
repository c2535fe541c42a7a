#include "chapters/tools/conform.h"

#include "core/base/clock.h"
#include "core/conform/conform.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPERATIONS = 20000, PATIENCE = 30 };

typedef Cache *OpenCache(const CacheConfig *, Memory *, Error *);

/* What became of one property: the word of a child, or its end without one. */
typedef enum { HOLDS = 'H', BREAKS = 'B', NO_CACHE = 'N', SILENT = 0 } Word;

/* Seconds that a property may take; KVSTEP_CONFORM_SECONDS is for the impatient. */
static int seconds(void) {
    const char *text = getenv("KVSTEP_CONFORM_SECONDS");
    const int wanted = text ? atoi(text) : 0;
    return wanted > 0 ? wanted : PATIENCE;
}

/* dlsym gives an object pointer; ISO C has no way from there to a function but this. */
static OpenCache *find_open(void *library) {
    OpenCache *open = NULL;
    void *symbol = dlsym(library, "kvstep_cache_open");
    memcpy(&open, &symbol, sizeof open);
    return open;
}

/* Says why and, last, the word: without it nothing is believed, whatever the status. */
_Noreturn static void finish(int to, const Error *why, Word word) {
    const char last = (char)word;
    const size_t length = strlen(why->text);
    bool told = write(to, why->text, length) == (ssize_t)length;
    told = told && write(to, &last, 1) == 1;
    _exit(told ? 0 : 1);
}

/* A foreign cache may crash, end the process or never end, even while it is loaded: all of
 * it happens in a process of its own. property NULL: only load it. */
_Noreturn static void run_child(const ConformProperty *property, const char *path,
                                int to) {
    const ConformOptions options = {.operations = OPERATIONS, .seed = 1};
    Error why = {0};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        error_set(&why, "cannot be loaded: %s", dlerror());
        finish(to, &why, NO_CACHE);
    }
    const size_t *chunk = dlsym(library, "kvstep_cache_chunk");
    const ConformTarget target = {
        .name = path, .open = find_open(library), .chunk = chunk ? *chunk : 0};
    if (!target.open) {
        error_set(&why,
                  "has no function kvstep_cache_open; give one with the arguments of "
                  "contiguous_open (core/cache/contiguous.h)");
        finish(to, &why, NO_CACHE);
    }
    const bool holds = !property || property->check(&target, &options, &why);
    finish(to, &why, holds ? HOLDS : BREAKS);
}

/* Reads until the other end is closed or time is up. */
static bool read_words(int from, char *text, size_t room, size_t *used) {
    const double end = clock_seconds() + seconds();
    for (*used = 0;;) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        const double left = end - clock_seconds();
        if (left <= 0 || poll(&ready, 1, (int)(left * 1000) + 1) <= 0) return false;
        const ssize_t n = read(from, text + *used, room - *used);
        if (n <= 0 || *used + (size_t)n == room) return true;
        *used += (size_t)n;
    }
}

static Word word_of(const char *text, size_t used, int status, bool in_time,
                    Error *why) {
    if (!in_time)
        error_set(why, "it did not end within %d seconds", seconds());
    else if (WIFSIGNALED(status))
        error_set(why, "it ended with signal %d", WTERMSIG(status));
    else if (used == 0 || !strchr("HBN", text[used - 1]))
        error_set(why, "it ended the process");
    else {
        error_set(why, "%.*s", (int)used - 1, text);
        return (Word)text[used - 1];
    }
    return SILENT;
}

static bool try_in_child(const ConformProperty *property, const char *path, Word *word,
                         Error *why, Error *err) {
    int ends[2], status = 0;
    char text[sizeof why->text + 1];
    size_t used;
    if (pipe(ends) != 0) return error_set(err, "no pipe: %s", strerror(errno));
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(property, path, ends[1]);
    }
    close(ends[1]);
    bool in_time = false;
    if (child > 0) {
        in_time = read_words(ends[0], text, sizeof text, &used);
        if (!in_time) kill(child, SIGKILL);
        waitpid(child, &status, 0);
        *word = word_of(text, used, status, in_time, why);
    }
    close(ends[0]);
    return child > 0 || error_set(err, "no process: %s", strerror(errno));
}

static bool try_all(const char *path, size_t *held, Error *err) {
    printf("%s against the contract of core/cache/cache.h:\n\n", path);
    for (size_t i = 0; i < conform_count; i++) {
        Word word = SILENT;
        Error why = {0};
        if (!try_in_child(&conform_properties[i], path, &word, &why, err)) return false;
        printf("  %-6s  %s\n", word == HOLDS ? "holds" : "BROKEN",
               conform_properties[i].name);
        if (word != HOLDS)
            printf("          %s\n", *why.text ? why.text : "it said no reason");
        *held += word == HOLDS;
    }
    printf("\n%zu of %zu properties hold\n", *held, conform_count);
    return true;
}

static int run(const Options *options, Error *err) {
    const char *path = options->file;
    char local[4200];
    Word word = SILENT;
    Error why = {0};
    size_t held = 0;
    if (!path) {
        error_set(err, "conform needs the cache to try: kvstep conform FILE.so");
        return STATUS_REFUSED;
    }
    /* Without a slash dlopen would look among the system's libraries. */
    snprintf(local, sizeof local, strchr(path, '/') ? "%s" : "./%s", path);
    if (!try_in_child(NULL, local, &word, &why, err)) return STATUS_REFUSED;
    if (word == NO_CACHE) {
        error_set(err, "%s: %s", path, why.text);
        return STATUS_REFUSED;
    }
    if (!try_all(local, &held, err)) return STATUS_REFUSED;
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
             "A property that takes more than 30 seconds counts as broken. The "
             "checking "
             "build fills dead cells with NaN and finds more: make "
             "build/kvstep-checking, "
             "and run that.\n"
             "Exit status: 0 every property holds, 1 one is broken, 2 the file cannot "
             "be "
             "tried.",
         .accepts = accepts,
         .argument = "FILE.so"},
    .run = run,
};
