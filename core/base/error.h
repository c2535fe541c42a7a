/* What went wrong, in one line.
 *
 * Every function that can fail takes a last argument `Error *err` and returns false
 * (or NULL). The text says what was wrong, with the value, and what to do next; it has
 * no newline and no program name. An Error starts zeroed: `Error err = {0};`. */
#ifndef KVSTEP_BASE_ERROR_H
#define KVSTEP_BASE_ERROR_H

#include <stdbool.h>

typedef struct {
    char text[400];
} Error;

/* Sets the text; a newline or another control character inside becomes '?', because
 * names and values come from files. Always returns false, so that a caller writes
 * `return error_set(err, ...)`. err may be NULL: then nothing is kept. */
__attribute__((format(printf, 2, 3))) bool error_set(Error *err, const char *format,
                                                     ...);

/* Puts "WHERE: " in front of the text, for a caller who knows the file's name. */
bool error_at(Error *err, const char *where);

#endif
