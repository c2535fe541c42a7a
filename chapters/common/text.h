/* Text of a model or a file on a terminal: its real bytes, but nothing that a terminal
 * would obey. Control characters other than newline and tab, and bytes that are not
 * UTF-8, come out as \xNN. */
#ifndef KVSTEP_CHAPTERS_TEXT_H
#define KVSTEP_CHAPTERS_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* A text that comes in pieces, each shown at once. A piece may end inside a character:
 * that half is held back until the next piece makes it whole. Starts as
 * `{.stream = stdout}`. */
typedef struct {
    FILE *stream;
    char held[4]; /* the beginning of a character */
    size_t count; /* bytes of it */
    size_t shown; /* bytes shown since the last newline */
} TextOut;

void text_put(TextOut *out, const char *bytes, size_t length);

/* Shows a half that never became whole, and ends the line if one is open. */
void text_end(TextOut *out);

/* The same for a cell of a table: one line (newline is \n, tab is \t), ended by 0 and
 * by ".." if it does not fit into `room` bytes. Returns out. */
const char *text_escape(const char *bytes, size_t length, char *out, size_t room);

/* Columns a terminal needs for a text ended by 0: none for combining marks, two for
 * wide characters (Chinese, Japanese, Korean, emoji). */
size_t text_width(const char *text);

#endif
