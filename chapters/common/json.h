/* Thin helpers over jansson for one exact JSON document on stdout. Not in the MINIMAL
 * build, where --json is refused by name. */
#ifndef KVSTEP_CHAPTERS_JSON_H
#define KVSTEP_CHAPTERS_JSON_H

#include "core/base/error.h"
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Adds a value, which the object takes over. False if there is no value or no memory.
 */
bool json_put(json_t *object, const char *key, json_t *value, Error *err);

/* Adds an integer, exactly; one that a signed 64-bit number cannot hold is refused. */
bool json_put_count(json_t *object, const char *key, uint64_t value, Error *err);

/* Adds seconds, to the nanosecond. */
bool json_put_seconds(json_t *object, const char *key, double seconds, Error *err);

/* Adds bytes as text; each byte that is not UTF-8 becomes U+FFFD. Then a second key,
 * unless it is NULL, gets the bytes themselves in hexadecimal digits. */
bool json_put_bytes(json_t *object, const char *key, const char *hex_key,
                    const char *bytes, size_t length, Error *err);

/* Prints the document and a newline. */
bool json_print(const json_t *document, FILE *stream, Error *err);

#endif
