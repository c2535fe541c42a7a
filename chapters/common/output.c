#include "chapters/common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void output_begin(void) {
    /* open takes the lowest free number. Read-only: writing to it is an error. */
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) return;
    signal(SIGPIPE, SIG_IGN);
}

bool output_end(Error *err) {
    errno = 0;
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    int reason = errno;
    if (written && fclose(stdout) != 0) {
        written = false;
        reason = errno;
    }
    if (written) return true;
    /* A reader that left is seen even if an earlier flush took the reason. */
    struct pollfd reader = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (reason == 0 && poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR))
        reason = EPIPE;
    if (reason == EPIPE) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return error_set(err, "standard output: cannot be written: %s",
                     reason ? strerror(reason) : "an earlier write failed");
}
