/* XXH3, 64 bits, seed 0: one number for many bytes. Not in the MINIMAL build, which has no
 * xxHash: there hash_exists() is false and the value is 0. */
#ifndef KVSTEP_BASE_HASH_H
#define KVSTEP_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    _Alignas(64) unsigned char state[640]; /* XXH3's own, opaque here */
} Hash;

bool hash_exists(void);

void hash_begin(Hash *hash);
void hash_add(Hash *hash, const void *bytes, size_t n);
uint64_t hash_value(const Hash *hash);

/* The 8 bytes of a number, lowest first, whatever the machine's order. */
void hash_add_number(Hash *hash, uint64_t number);

#endif
