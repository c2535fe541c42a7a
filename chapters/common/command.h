/* A command of the program: what main.c's table of commands holds. */
#ifndef KVSTEP_CHAPTERS_COMMAND_H
#define KVSTEP_CHAPTERS_COMMAND_H

#include "chapters/common/options.h"

/* Exit statuses of the program. */
enum {
    STATUS_FINE = 0,
    STATUS_FAILED = 1, /* a check of the run failed: bits differ */
    STATUS_REFUSED = 2 /* bad usage or input; err says why */
};

typedef struct {
    CommandInfo info;
    const char *number; /* of its chapter, an alias; NULL: a tool */
    const char *alias;  /* another name; NULL: none */
    int (*run)(const Options *options, Error *err);
} Command;

#endif
