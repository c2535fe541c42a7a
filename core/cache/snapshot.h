/* A sequence's rows on disk: to go on later as if it had never stopped, bit for bit.
 *
 * A snapshot holds what the next query can see and no more. Little-endian, one part after
 * another:
 *
 *   "kvstep\n"          8 bytes with a final 0
 *   version             u32, 1
 *   fingerprint         u64 of the model (weights_fingerprint)
 *   layers              u32
 *   per layer           kv_heads, k_size, v_size, sinks, recent (u64 each), keys turned
 *                       (u32), names of the formats of K and V (16 bytes each)
 *   length              u64 tokens; their ids, i32 each
 *   per layer           stored rows: u64 count; per row u64 position, K, V as stored
 *   checksum            u64, XXH3 of all before
 *
 * Loading checks all of it (lengths, checksum, model, geometry, formats, rule, the set of
 * positions) before anything changes. Another capacity or another kind of cache is fine
 * where the rule is the same. Without xxHash (MINIMAL) both refuse. */
#ifndef KVSTEP_CACHE_SNAPSHOT_H
#define KVSTEP_CACHE_SNAPSHOT_H

#include "core/base/file.h"
#include "core/cache/cache.h"

/* Writes a sequence between steps. tokens [cache_length(cache, seq)]. Write errors stay
 * with the stream: a FileOut makes it a whole file or none. */
bool cache_save(const Cache *cache, size_t seq, const int *tokens, uint64_t fingerprint,
                FILE *stream, Error *err);

/* Fills an empty sequence. *tokens (from memory, the caller's to free) and *n are its
 * ids. On failure the cache is as it was and *tokens NULL. */
bool cache_load(Cache *cache, size_t seq, uint64_t fingerprint, Bytes snapshot,
                int **tokens, size_t *n, Memory *memory, Error *err);

#endif
