#include "core/count/counters.h"

uint64_t counters_flops(const Counters *counters) {
    uint64_t total = 0;
    for (size_t part = 0; part < PARTS; part++) total += counters->flops[part];
    return total;
}

void counters_add(Counters *sum, const Counters *more) {
    for (size_t part = 0; part < PARTS; part++) sum->flops[part] += more->flops[part];
    sum->elementwise += more->elementwise;
    sum->weight_bytes_read += more->weight_bytes_read;
    sum->kv_bytes_read += more->kv_bytes_read;
    sum->kv_bytes_written += more->kv_bytes_written;
}
