#include "core/model/rope.h"

#include <math.h>

bool rope_open(RopeTable *table, size_t rot, double base, size_t positions,
               Memory *memory, Error *err) {
    const size_t pairs = rot / 2;
    float *cosines = memory_new(memory, positions, pairs * sizeof(float), err);
    float *sines = memory_new(memory, positions, pairs * sizeof(float), err);
    *table =
        (RopeTable){.rot = rot, .positions = positions, .cos = cosines, .sin = sines};
    if (!cosines || !sines) {
        rope_close(table, memory);
        return false;
    }
    for (size_t i = 0; i < pairs; i++) {
        double frequency = pow(base, -2.0 * (double)i / (double)rot);
        for (size_t p = 0; p < positions; p++) {
            double angle = (double)p * frequency;
            cosines[p * pairs + i] = (float)cos(angle);
            sines[p * pairs + i] = (float)sin(angle);
        }
    }
    return true;
}

void rope_close(RopeTable *table, Memory *memory) {
    memory_free(memory, (void *)(uintptr_t)table->cos);
    memory_free(memory, (void *)(uintptr_t)table->sin);
    *table = (RopeTable){0};
}
