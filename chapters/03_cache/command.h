/* `kvstep cache`: chapter 3, the main job. */
#ifndef KVSTEP_CHAPTERS_CACHE_COMMAND_H
#define KVSTEP_CHAPTERS_CACHE_COMMAND_H

#include "chapters/03_cache/run.h"
#include "chapters/common/command.h"
#include <stdio.h>

extern const Command cache_command;

/* Prints what the options ask for (--json says all there is and so wins over --digest,
 * and that over --quiet) and returns the exit status: 1 if bits differ. */
int cache_report(const CacheResult *result, const Options *options, FILE *stream,
                 Error *err);

#endif
