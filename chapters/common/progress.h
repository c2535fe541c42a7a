/* A progress bar on stderr for somebody who waits at a terminal; gone when the work is
 * done, and nothing at all elsewhere. */
#ifndef KVSTEP_CHAPTERS_PROGRESS_H
#define KVSTEP_CHAPTERS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct {
    FILE *stream;
    bool on;
    bool color; /* on a terminal only, and never under NO_COLOR */
    size_t all;
    size_t drawn; /* filled cells of the bar now on the screen, plus one; 0: no bar */
} Progress;

/* `wanted` false (--quiet, --json), no terminal, a terminal that cannot go back in a
 * line: everything below does nothing. */
void progress_begin(Progress *progress, bool wanted, size_t all);

void progress_show(Progress *progress, size_t done);

/* Erases the bar. */
void progress_end(Progress *progress);

#endif
