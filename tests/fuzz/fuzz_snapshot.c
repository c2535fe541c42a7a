/* Fuzz target: any bytes as a snapshot, with a checksum made right where there is room for
 * one, so that the checks behind it are reached. Refused with a reason and nothing
 * changed, or loaded into a cache that is sound; nothing is left allocated. */
#include "core/base/hash.h"
#include "core/cache/snapshot.h"
#include "tests/fuzz/fuzz.h"

static void make_checksum_right(Bytes file) {
    if (file.size < 8) return;
    Hash hash;
    hash_begin(&hash);
    hash_add(&hash, file.data, file.size - 8);
    for (size_t i = 0; i < 8; i++)
        file.data[file.size - 8 + i] = (unsigned char)(hash_value(&hash) >> (8 * i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Memory memory = {0};
    Error err = {0};
    Shape shape = {.dim = 2, .vocab = 9, .context = 12, .layers = 2};
    shape_all_layers(&shape, &(LayerShape){1, 1, 2, 1, 2, SHAPE_NO_WINDOW});
    Rule rule;
    rule_full(&rule, &shape, &format_f16);
    rule.layer[1].recent = 3;
    rule.layer[1].sinks = 1;
    CacheConfig config = {
        .shape = &shape, .rule = &rule, .sequences = 1, .capacity = 12, .chunk = 4};
    Cache *cache = cache_open(size % 2 ? "ring" : "paged", &config, &memory, &err);
    Bytes file = fuzz_file(data, size, &memory);
    make_checksum_right(file);
    int *tokens;
    size_t n;
    const bool loaded = cache_load(cache, 0, 0, file, &tokens, &n, &memory, &err);
    fuzz_demand(cache_length(cache, 0) == n && (loaded || n == 0));
    fuzz_demand(loaded || err.text[0] != '\0');
    fuzz_demand(cache_check(cache, &err));
    memory_free(&memory, tokens);
    memory_free(&memory, file.data);
    cache_close(cache);
    fuzz_demand(memory.live == 0);
    return 0;
}
