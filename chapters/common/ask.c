#include "chapters/common/ask.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

/* Keys one by one and unseen. Signals by keys are off, too, because one would leave the
 * terminal like this. */
static struct termios key_by_key(struct termios terminal) {
    terminal.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    terminal.c_cc[VMIN] = 1;
    terminal.c_cc[VTIME] = 0;
    return terminal;
}

void ask_prediction(const char *question) {
    struct termios before, during;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return;
    if (tcgetpgrp(STDIN_FILENO) != getpgrp()) return; /* in the background */
    if (tcgetattr(STDIN_FILENO, &before) != 0) return;
    during = key_by_key(before);
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &during) != 0) return;
    printf("%s\n(guess, then press any key) ", question);
    fflush(stdout);
    unsigned char key = 0;
    const bool pressed = read(STDIN_FILENO, &key, 1) == 1;
    /* What an arrow key sends after its first byte is thrown away. */
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    puts("\n");
    if (pressed && key == before.c_cc[VINTR]) raise(SIGINT);
}
