/* One number for all logits of a run: XXH3 (64 bits, seed 0) over the little-endian
 * bits of each row of logits from which a token was chosen, in order. Two runs with the
 * same digest computed the same bits. Not in the MINIMAL build, which has no xxHash. */
#ifndef KVSTEP_MODEL_DIGEST_H
#define KVSTEP_MODEL_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    _Alignas(64) unsigned char state[640]; /* XXH3's own, opaque here */
} Digest;

enum { DIGEST_TEXT = 17 }; /* 16 hex digits and the end */

bool digest_exists(void); /* false in the MINIMAL build: then the rest does nothing */

void digest_begin(Digest *digest);
void digest_add(Digest *digest, const float *row, size_t n);
uint64_t digest_value(const Digest *digest);
void digest_text(const Digest *digest, char text[DIGEST_TEXT]);

#endif
