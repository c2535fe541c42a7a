#include "core/base/random.h"

static uint64_t mix(uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t random_draw(uint64_t seed, uint64_t stream, uint64_t index) {
    return mix(mix(mix(seed) + stream) + index);
}

float random_unit(uint64_t draw) {
    return (float)(draw >> 40) * 0x1p-24f;
}
