/* `kvstep attention`: chapter 2, one layer and head opened up. */
#ifndef KVSTEP_CHAPTERS_ATTENTION_COMMAND_H
#define KVSTEP_CHAPTERS_ATTENTION_COMMAND_H

#include "chapters/02_attention/run.h"
#include "chapters/common/command.h"
#include <stdio.h>

extern const Command attention_command;

/* Prints what the options ask for: --json wins over --quiet. Returns the exit status,
 * which is 0 with --no-mask, too: that the rows differ then is what it shows. */
int attention_report(const AttentionResult *result, const Options *options,
                     FILE *stream, Error *err);

#endif
