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

/* A digit begins a guess, which is shown and ends with its line: otherwise the rest of it
 * would be typed into the shell. Gives the last key. */
static unsigned char read_guess(void) {
    bool guessing = false;
    unsigned char key = 0;
    while (read(STDIN_FILENO, &key, 1) == 1) {
        const bool printable = key >= 0x20 && key < 0x7f;
        guessing |= key >= '0' && key <= '9';
        if (!guessing || !printable) return key;
        putchar(key);
        fflush(stdout);
    }
    return 0;
}

void ask_prediction(const char *question) {
    struct termios before, during;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return;
    if (tcgetpgrp(STDIN_FILENO) != getpgrp()) return; /* in the background */
    if (tcgetattr(STDIN_FILENO, &before) != 0) return;
    during = key_by_key(before);
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &during) != 0) return;
    printf("%s\n(type a guess and Enter; any other key goes on) ", question);
    fflush(stdout);
    const unsigned char key = read_guess();
    /* What an arrow key sends after its first byte is thrown away. */
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    puts("\n");
    if (key != 0 && key == before.c_cc[VINTR]) raise(SIGINT);
}
