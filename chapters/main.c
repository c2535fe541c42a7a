/* The program's door: which commands there are, and which one is meant. */
#include "chapters/00_forward/command.h"
#include "chapters/01_generate/command.h"
#include "chapters/02_attention/command.h"
#include "chapters/03_cache/command.h"
#include "chapters/common/folder.h"
#include "chapters/common/nearest.h"
#include "chapters/common/output.h"
#include "chapters/tools/conform.h"
#include "core/base/machine.h"

#include <stdio.h>
#include <string.h>

#define VERSION "0.1.0"

static const Command *const commands[] = {
    &forward_command, &generate_command, &attention_command,
    &cache_command,   &conform_command,
};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* By name, alias or chapter number; NULL: no such command. */
static const Command *find(const char *word) {
    for (size_t i = 0; i < COMMANDS; i++) {
        const Command *c = commands[i];
        if (strcmp(c->info.name, word) == 0 ||
            (c->alias && strcmp(c->alias, word) == 0) ||
            (c->number && strcmp(c->number, word) == 0))
            return c;
    }
    return NULL;
}

static bool refuse_command(const char *word, Error *err) {
    static const char *const own[] = {"help", "--help", "--version"};
    enum { OWN = sizeof own / sizeof *own };
    const char *names[2 * COMMANDS + OWN + 1];
    size_t count = 0;
    for (size_t i = 0; i < COMMANDS; i++) {
        names[count++] = commands[i]->info.name;
        if (commands[i]->alias) names[count++] = commands[i]->alias;
    }
    for (size_t i = 0; i < OWN; i++) names[count++] = own[i];
    names[count] = NULL;
    const char *near = nearest_name(word, names);
    if (near)
        return error_set(err, "unknown command '%.60s'; did you mean %s?", word, near);
    if (word[0] == '-')
        return error_set(err,
                         "'%.60s' comes first, but a command must: kvstep %s %.60s",
                         word, cache_command.info.name, word);
    return error_set(err, "unknown command '%.60s'; kvstep help lists those there are",
                     word);
}

static void print_map(void) {
    puts("kvstep: what a KV cache does, step by step, counted and compared bit by bit\n"
         "\n"
         "start here:  kvstep cache\n"
         "\n"
         " no  command    what it shows");
    for (size_t i = 0; i < COMMANDS; i++) {
        const Command *c = commands[i];
        printf("%3s  %-9s  %s\n", c->number ? c->number : "", c->info.name,
               c->info.summary);
        if (c->alias) printf("%16salso called %s\n", "", c->alias);
    }
    puts("     help       what a command takes: kvstep help cache\n"
         "\n"
         "A command's number is another name for it. Every command takes --help.");
}

static bool help(int argc, char **argv, Error *err) {
    if (argc > 1)
        return error_set(err, "help takes one command, and '%.60s' is a second word",
                         argv[1]);
    if (argc == 0) {
        print_map();
        return true;
    }
    const Command *command = find(argv[0]);
    if (!command) return refuse_command(argv[0], err);
    options_help(&command->info, stdout);
    return true;
}

static int run_command(const Command *command, int argc, char **argv, Error *err) {
    Options options;
    switch (options_parse(&command->info, argc, argv, &options, err)) {
    case OPTIONS_HELPED:
        return STATUS_FINE;
    case OPTIONS_REFUSED:
        return STATUS_REFUSED;
    case OPTIONS_RUN:
        break;
    }
    Memory memory = {0};
    Folder folder;
    if (!folder_open(&folder, options.out, &memory, err)) return STATUS_REFUSED;
    const int status = command->run(&options, err);
    folder_close(&folder, status != STATUS_REFUSED);
    return status;
}

static int dispatch(int argc, char **argv, Error *err) {
    if (argc < 2) {
        print_map();
        return STATUS_FINE;
    }
    const char *word = argv[1];
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0)
        return help(argc - 2, argv + 2, err) ? STATUS_FINE : STATUS_REFUSED;
    if (strcmp(word, "--version") == 0) {
        puts("kvstep " VERSION);
        return STATUS_FINE;
    }
    const Command *command = find(word);
    if (command) return run_command(command, argc - 1, argv + 1, err);
    refuse_command(word, err);
    return STATUS_REFUSED;
}

int main(int argc, char **argv) {
    Error err = {0};
    output_begin();
    int status = machine_check(&err) ? dispatch(argc, argv, &err) : STATUS_REFUSED;
    /* The first error is the one that is said. */
    if (!output_end(*err.text ? NULL : &err)) status = STATUS_REFUSED;
    if (status == STATUS_REFUSED) fprintf(stderr, "kvstep: %s\n", err.text);
    return status;
}
