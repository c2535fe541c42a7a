#include "viz/spread.h"

#include <assert.h>
#include <math.h>

/* Labels that touch move as one group; `first` is where its first label stands. */
typedef struct {
    double sum, first; /* sum of (wanted place - offset inside the group) */
    size_t count;
} Group;

static void settle(Group *group, double gap, double low, double high) {
    double length = gap * (double)(group->count - 1);
    group->first = group->sum / (double)group->count;
    group->first = fmax(fmin(group->first, high - length), low);
}

static void sort_by_place(const double *at, size_t count, size_t *order) {
    for (size_t i = 0; i < count; i++) {
        size_t j = i;
        for (; j > 0 && at[order[j - 1]] > at[i]; j--) order[j] = order[j - 1];
        order[j] = i;
    }
}

void viz_spread(double *at, size_t count, double gap, double low, double high) {
    assert(count <= VIZ_SPREAD_MOST);
    size_t order[VIZ_SPREAD_MOST], groups = 0;
    Group group[VIZ_SPREAD_MOST];
    sort_by_place(at, count, order);
    for (size_t i = 0; i < count; i++) {
        group[groups] = (Group){.sum = at[order[i]], .count = 1};
        settle(&group[groups++], gap, low, high);
        while (groups > 1) {
            Group *a = &group[groups - 2], *b = a + 1;
            double shift = gap * (double)a->count;
            if (a->first + shift <= b->first) break;
            a->sum += b->sum - shift * (double)b->count;
            a->count += b->count;
            settle(a, gap, low, high);
            groups--;
        }
    }
    for (size_t g = 0, i = 0; g < groups; g++)
        for (size_t k = 0; k < group[g].count; k++, i++)
            at[order[i]] = group[g].first + gap * (double)k;
}

size_t viz_spread_fit(size_t count, double gap, double low, double high) {
    double room = floor(fmax(0, high - low) / gap) + 1;
    if (count > VIZ_SPREAD_MOST) count = VIZ_SPREAD_MOST;
    return (double)count > room ? (size_t)room : count;
}
