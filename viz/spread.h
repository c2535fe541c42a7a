/* Labels in a column pushed apart just so far that none covers another. */
#ifndef KVSTEP_VIZ_SPREAD_H
#define KVSTEP_VIZ_SPREAD_H

#include <stddef.h>

/* at[i] are wanted places, in any order; afterwards neighbours are at least `gap`
 * apart, all are within low to high if there is room, their order is kept and the sum
 * of squared moves is the least. At most VIZ_SPREAD_MOST of them. */
enum { VIZ_SPREAD_MOST = 64 };

void viz_spread(double *at, size_t count, double gap, double low, double high);

/* How many of `count` labels find room. */
size_t viz_spread_fit(size_t count, double gap, double low, double high);

#endif
