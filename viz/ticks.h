/* Where an axis is marked: steps of 1, 2 or 5 times a power of ten (powers of two for
 * bytes), decades on a logarithmic axis. */
#ifndef KVSTEP_VIZ_TICKS_H
#define KVSTEP_VIZ_TICKS_H

#include "viz/number.h"
#include <stdbool.h>
#include <stddef.h>

enum { VIZ_MAX_TICKS = 64 };

typedef struct {
    double at;
    char label[VIZ_NUMBER_ROOM]; /* "": a small mark without words */
} VizTick;

typedef struct {
    double low, high; /* the data's range, widened; low < high always */
    bool log;
    size_t count;
    VizTick tick[VIZ_MAX_TICKS]; /* ascending, all within low to high */
} VizTicks;

/* At most `most` labelled marks (2 to 20) for numbers from low to high, which must be
 * finite; on a logarithmic axis above zero, too. Equal ends are widened. `whole`: no
 * steps below 1. The range grows to the next marks. */
void viz_ticks(double low, double high, bool log, bool whole, VizUnit unit, size_t most,
               VizTicks *ticks);

/* Takes the range back to low..high, so that lines end at the frame, and drops the
 * marks outside. Does nothing if fewer than two labelled marks would stay. */
void viz_ticks_trim(VizTicks *ticks, double low, double high);

/* Where a value stands between low (0) and high (1). */
double viz_ticks_place(const VizTicks *ticks, double value);

#endif
