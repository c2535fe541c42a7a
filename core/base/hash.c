#include "core/base/hash.h"

#ifdef KVSTEP_MINIMAL

bool hash_exists(void) {
    return false;
}

void hash_begin(Hash *hash) {
    (void)hash;
}

void hash_add(Hash *hash, const void *bytes, size_t n) {
    (void)hash;
    (void)bytes;
    (void)n;
}

uint64_t hash_value(const Hash *hash) {
    (void)hash;
    return 0;
}

#else

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(Hash), "the state must fit");

bool hash_exists(void) {
    return true;
}

void hash_begin(Hash *hash) {
    XXH3_64bits_reset((XXH3_state_t *)hash->state);
}

void hash_add(Hash *hash, const void *bytes, size_t n) {
    XXH3_64bits_update((XXH3_state_t *)hash->state, bytes, n);
}

uint64_t hash_value(const Hash *hash) {
    return XXH3_64bits_digest((const XXH3_state_t *)hash->state);
}

#endif

void hash_add_number(Hash *hash, uint64_t number) {
    unsigned char little[8];
    for (int byte = 0; byte < 8; byte++)
        little[byte] = (unsigned char)(number >> (8 * byte));
    hash_add(hash, little, sizeof little);
}
