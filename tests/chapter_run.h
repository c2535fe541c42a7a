/* What the tests of the chapters share: options as typed, and every allocation of a run
 * failing in turn. */
#ifndef KVSTEP_TESTS_CHAPTER_RUN_H
#define KVSTEP_TESTS_CHAPTER_RUN_H

#include "chapters/common/command.h"
#include "chapters/common/text.h"
#include "core/base/memory.h"
#include "tests/capture.h"
#include "tests/check_main.h"

#include <string.h>

/* A model so small that a run takes no time. */
#define TINY "random:dim=8,heads=2,kv_heads=1,layers=2,hidden=4,vocab=20,ctx=24"

/* The options of words ended by NULL, as if typed after the command. */
static inline Options typed(const Command *command, char *const *words) {
    char *argv[20] = {"command"};
    int argc = 1;
    Options options;
    Error err = {0};
    for (; *words; words++) argv[argc++] = *words;
    ck_assert_msg(options_parse(&command->info, argc, argv, &options, &err) ==
                      OPTIONS_RUN,
                  "%s", err.text);
    return options;
}

/* TYPED(&forward_command, "--prompt", "x") */
#define TYPED(command, ...) typed(command, (char *[]){__VA_ARGS__, NULL})

/* No line is wider than a terminal; returns how many there are. */
static inline size_t demand_80_columns(const char *text) {
    char *copy = strdup(text);
    size_t lines = 0;
    for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"), lines++)
        ck_assert_msg(text_width(line) <= 80, "%zu columns: %s", text_width(line),
                      line);
    free(copy);
    return lines;
}

/* attempt(options, memory, err) runs a chapter and closes what it got. Each allocation
 * fails once, in turn; every failure is said and gives all memory back. */
typedef bool Attempt(const Options *options, Memory *memory, Error *err);

static inline void demand_no_leaks(const Options *options, Attempt *attempt) {
    Memory whole = {0};
    ck_assert(attempt(options, &whole, NULL));
    ck_assert_uint_eq(whole.live, 0);
    ck_assert_uint_gt(whole.allocations, 10);
    for (size_t i = 1; i <= whole.allocations; i++) {
        Memory memory = {.fail_at = i};
        Error err = {0};
        ck_assert_msg(!attempt(options, &memory, &err), "allocation %zu", i);
        ck_assert_msg(strstr(err.text, "memory") != NULL, "%zu: %s", i, err.text);
        ck_assert_msg(memory.live == 0, "allocation %zu leaves %zu bytes", i,
                      memory.live);
    }
}

#endif
