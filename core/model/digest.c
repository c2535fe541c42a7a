#include "core/model/digest.h"

#include <stdio.h>
#include <string.h>

bool digest_exists(void) {
    return hash_exists();
}

void digest_begin(Digest *digest) {
    hash_begin(digest);
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
        hash_add(digest, little, filled);
        filled = 0;
    }
}

uint64_t digest_value(const Digest *digest) {
    return hash_value(digest);
}

void digest_text(const Digest *digest, char text[DIGEST_TEXT]) {
    snprintf(text, DIGEST_TEXT, "%016llx", (unsigned long long)digest_value(digest));
}
