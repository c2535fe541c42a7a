#include "core/conform/conform.h"

const ConformProperty conform_properties[] = {
    {"each step gives the bits of the oracle", conform_steps},
    {"any chunking of a prompt gives the same logits and rows", conform_chunks},
    {"sequences of one batch do not touch each other", conform_ragged},
    {"after a crop, other tokens give what a fresh run gives", conform_crop},
    {"both branches of a fork give what fresh runs give", conform_fork},
    {"what an abandoned step wrote is never read", conform_dead_rows},
    {"random operations agree with a list of rows", conform_shadow},
    {"what must be refused is refused with nothing changed", conform_refusals},
    {"every allocation that fails leaves the rows as they were", conform_allocations},
};

const size_t conform_count = sizeof conform_properties / sizeof *conform_properties;
