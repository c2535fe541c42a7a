/* UTF-8: is a text valid, and where does a character end. */
#ifndef KVSTEP_TEXT_UTF8_H
#define KVSTEP_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length in bytes (1 to 4) of the character at text[0], or 0 where the first bytes are
 * not valid UTF-8 (overlong forms, surrogates, values over U+10FFFF are not valid). */
size_t utf8_length(const char *text, size_t bytes);

/* How many leading bytes are valid UTF-8; equals `bytes` for a valid text. */
size_t utf8_valid(const char *text, size_t bytes);

/* True if the bytes could become a valid character when more bytes follow: no whole one
 * yet, but nothing wrong so far. */
bool utf8_is_beginning(const char *text, size_t bytes);

#endif
