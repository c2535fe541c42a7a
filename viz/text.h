/* A user's text made safe to draw: prompts and pieces of a vocabulary may hold half
 * characters, control characters and marks that turn the writing direction around. */
#ifndef KVSTEP_VIZ_TEXT_H
#define KVSTEP_VIZ_TEXT_H

#include "viz/buffer.h"

/* At most this many characters of one text are looked at; the rest becomes an ellipsis.
 */
enum { VIZ_TEXT_LONGEST = 300 };

/* Appends the text as valid UTF-8 of visible characters. A byte that belongs to no
 * character becomes \xE4, a control character \n, \t or \x1B, an invisible one (marks
 * of direction, zero width, line separators) its code point U+202E. */
void viz_text_escape(VizBuffer *out, const char *text);

/* The same, and spaces at either end become open boxes, so that " the" and "the"
 * differ. */
void viz_text_escape_spaces(VizBuffer *out, const char *text);

#endif
