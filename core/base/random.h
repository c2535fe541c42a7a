/* Random numbers that are the same on every machine, for ever.
 *
 * A draw has no state: it is a function of three numbers. The weights of a `random:`
 * model use (seed, matrix, element); sampling uses (seed, request, position), so a
 * token does not depend on what else runs beside its request.
 *
 * draw = mix(mix(mix(seed) + stream) + index), where mix(x) is the finalizer of
 * SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) applied to x + 0x9E3779B97F4A7C15.
 * Ten test values (seed, stream, index -> draw):
 *   0 0 0  0x238275BC38FCBE91
 *   0 0 1  0x421DAF3033E887A3
 *   0 1 0  0x94926C2E801CB6F9
 *   1 0 0  0xB18A02F46D8D86C3
 *   1 2 3  0x6AE515C1C0AC7E37
 *   7 0 63  0x1776096A1E80547C
 *   42 1 1000  0x756B2B0181017A63
 *   42 1 1001  0x4556B98550094D4D
 *   2^64-1 2^64-1 2^64-1  0x40AA389BA7CC36A4
 *   123456789 5 4294967296  0x6F9AE5066F07EB0B */
#ifndef KVSTEP_BASE_RANDOM_H
#define KVSTEP_BASE_RANDOM_H

#include <stdint.h>

uint64_t random_draw(uint64_t seed, uint64_t stream, uint64_t index);

/* The top 24 bits x 2^-24: in [0, 1), exact in float. */
float random_unit(uint64_t draw);

#endif
