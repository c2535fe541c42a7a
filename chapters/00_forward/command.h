/* `kvstep forward`: chapter 0, one token through the model. */
#ifndef KVSTEP_CHAPTERS_FORWARD_COMMAND_H
#define KVSTEP_CHAPTERS_FORWARD_COMMAND_H

#include "chapters/00_forward/run.h"
#include "chapters/common/command.h"
#include <stdio.h>

extern const Command forward_command;

/* Prints what the options ask for: --json wins over --quiet. Returns the exit status.
 */
int forward_report(const ForwardResult *result, const Options *options, FILE *stream,
                   Error *err);

#endif
