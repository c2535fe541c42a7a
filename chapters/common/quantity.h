/* Quantities as people read them, the same in every locale. Each writes into `out` and
 * returns it. */
#ifndef KVSTEP_CHAPTERS_QUANTITY_H
#define KVSTEP_CHAPTERS_QUANTITY_H

#include <stdint.h>

enum { QUANTITY_TEXT = 48 };

/* 1,234,567 */
const char *quantity_count(uint64_t count, char out[QUANTITY_TEXT]);

/* "1 token", "2,080 tokens": one and many are the words. */
const char *quantity_of(uint64_t count, const char *one, const char *many,
                        char out[QUANTITY_TEXT]);

/* The exact number, and KiB, MiB or GiB behind it where that is a whole number:
 * "131,072 bytes (128 KiB)". */
const char *quantity_bytes(uint64_t bytes, char out[QUANTITY_TEXT]);

/* above / below with one digit after the point: 1,024.5; "-" when below is 0. */
const char *quantity_ratio(uint64_t above, uint64_t below, char out[QUANTITY_TEXT]);

/* Three digits: 950 us, 12.3 ms, 4.56 s. */
const char *quantity_seconds(double seconds, char out[QUANTITY_TEXT]);

#endif
