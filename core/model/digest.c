#include "core/model/digest.h"

#include <stdio.h>

#ifdef KVSTEP_MINIMAL

bool digest_exists(void) {
    return false;
}

void digest_begin(Digest *digest) {
    (void)digest;
}

void digest_add(Digest *digest, const float *row, size_t n) {
    (void)digest;
    (void)row;
    (void)n;
}

uint64_t digest_value(const Digest *digest) {
    (void)digest;
    return 0;
}

#else

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(Digest), "the state must fit");

bool digest_exists(void) {
    return true;
}

void digest_begin(Digest *digest) {
    XXH3_64bits_reset((XXH3_state_t *)digest->state);
}

void digest_add(Digest *digest, const float *row, size_t n) {
    unsigned char little[256]; /* 64 values at a time */
    size_t filled = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &row[i], sizeof bits);
        for (int byte = 0; byte < 4; byte++)
            little[filled++] = (unsigned char)(bits >> (8 * byte));
        if (filled < sizeof little && i + 1 < n) continue;
        XXH3_64bits_update((XXH3_state_t *)digest->state, little, filled);
        filled = 0;
    }
}

uint64_t digest_value(const Digest *digest) {
    return XXH3_64bits_digest((const XXH3_state_t *)digest->state);
}

#endif

void digest_text(const Digest *digest, char text[DIGEST_TEXT]) {
    snprintf(text, DIGEST_TEXT, "%016llx", (unsigned long long)digest_value(digest));
}
