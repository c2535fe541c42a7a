/* What a mistyped word was probably meant to be. */
#ifndef KVSTEP_CHAPTERS_NEAREST_H
#define KVSTEP_CHAPTERS_NEAREST_H

#include <stddef.h>

/* Letters to insert, delete, replace, or swap with their neighbour to get from a to b
 * (each letter touched at most once). Longer words than NEAREST_LETTERS count as
 * infinitely far. */
enum { NEAREST_LETTERS = 40 };
size_t nearest_distance(const char *a, const char *b);

/* The nearest of names (ended by NULL): the shortest that begins with the word, else
 * the earliest of those at the least distance. NULL if none is near enough to be meant.
 */
const char *nearest_name(const char *word, const char *const *names);

#endif
