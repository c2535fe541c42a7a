/* Runs of chapter 2 for its tests. */
#ifndef KVSTEP_TESTS_ATTENTION_RUN_H
#define KVSTEP_TESTS_ATTENTION_RUN_H

#include "chapters/02_attention/command.h"
#include "tests/chapter_run.h"

static inline AttentionResult run(const Options *options, Memory *memory) {
    AttentionResult result;
    Error err = {0};
    ck_assert_msg(attention_run(options, &result, memory, &err), "%s", err.text);
    return result;
}

static inline char *report(const AttentionResult *result, const Options *options) {
    Capture capture;
    Error err = {0};
    capture_begin(&capture);
    ck_assert_msg(attention_report(result, options, capture.stream, &err) ==
                      STATUS_FINE,
                  "%s", err.text);
    capture_end(&capture);
    return capture.text;
}

#define WINDOWED "random:dim=48,layers=3,heads=6,kv_heads=3,hidden=31,window=5"

enum { OPTIONS = 5 };

static inline Options options_of(size_t i) {
    switch (i) {
    case 0:
        return TYPED(&attention_command, "--layer", "0");
    case 1:
        return TYPED(&attention_command, "--layer", "1", "--head", "3", "--shift", "9");
    case 2:
        return TYPED(&attention_command, "--model", TINY, "--prompt", "abcde",
                     "--layer", "1", "--head", "1");
    case 3:
        return TYPED(&attention_command, "--model", WINDOWED, "--head", "4");
    default:
        return TYPED(&attention_command, "--prompt", "");
    }
}

static inline Options with_mask(size_t i, bool no_mask) {
    Options options = options_of(i);
    options.no_mask = no_mask;
    return options;
}

#endif
