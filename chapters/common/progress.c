#include "chapters/common/progress.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 40, LINE = CELLS + 40 };

void progress_begin(Progress *progress, bool wanted, size_t all) {
    const char *terminal = getenv("TERM"), *no_color = getenv("NO_COLOR");
    *progress = (Progress){.stream = stderr, .all = all};
    progress->on = wanted && all > 0 && isatty(STDERR_FILENO) && terminal &&
                   strcmp(terminal, "dumb") != 0;
    progress->color = progress->on && !(no_color && *no_color);
}

void progress_show(Progress *progress, size_t done) {
    if (!progress->on) return;
    size_t filled = (size_t)((double)done / (double)progress->all * CELLS);
    if (filled > CELLS) filled = CELLS;
    if (progress->drawn == filled + 1) return; /* a terminal is slower than a step */
    progress->drawn = filled + 1;
    char bar[CELLS + 1] = "";
    memset(bar, '#', filled);
    fprintf(progress->stream, "\r[%s%s%s%*s] %zu of %zu",
            progress->color ? "\033[32m" : "", bar, progress->color ? "\033[0m" : "",
            (int)(CELLS - filled), "", done, progress->all);
    fflush(progress->stream);
}

void progress_end(Progress *progress) {
    if (!progress->on || progress->drawn == 0) return;
    /* Blanks, not an escape sequence: every terminal knows them. */
    fprintf(progress->stream, "\r%*s\r", LINE - 1, "");
    fflush(progress->stream);
    progress->drawn = 0;
}
