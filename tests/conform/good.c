/* A cache that keeps the contract, as somebody else would build it. */
#define scattered_open kvstep_cache_open
#include "tests/scattered.c" /* NOLINT: all of it, under the name that is asked for */
