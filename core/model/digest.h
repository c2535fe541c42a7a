/* One number for all logits of a run: XXH3 over the little-endian bits of each row of
 * logits from which a token was chosen, in order. Two runs with the same digest computed
 * the same bits. Not in the MINIMAL build (hash.h). */
#ifndef KVSTEP_MODEL_DIGEST_H
#define KVSTEP_MODEL_DIGEST_H

#include "core/base/hash.h"

typedef Hash Digest;

enum { DIGEST_TEXT = 17 }; /* 16 hex digits and the end */

bool digest_exists(void);

void digest_begin(Digest *digest);
void digest_add(Digest *digest, const float *row, size_t n);
uint64_t digest_value(const Digest *digest);
void digest_text(const Digest *digest, char text[DIGEST_TEXT]);

#endif
