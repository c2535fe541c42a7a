/* `kvstep generate`: chapter 1, one token at a time without a cache. */
#ifndef KVSTEP_CHAPTERS_GENERATE_COMMAND_H
#define KVSTEP_CHAPTERS_GENERATE_COMMAND_H

#include "chapters/01_generate/run.h"
#include "chapters/common/command.h"
#include <stdio.h>

extern const Command generate_command;

/* Prints what the options ask for: --json wins over --digest, and that over --quiet.
 * Returns the exit status. */
int generate_report(const GenerateResult *result, const Options *options, FILE *stream,
                    Error *err);

#endif
