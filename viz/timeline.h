/* A time line: one row per thing (a request, a user, a layer), one bar per interval.
 * Intervals of a row that overlap stand in lanes, one under the other. */
#ifndef KVSTEP_VIZ_TIMELINE_H
#define KVSTEP_VIZ_TIMELINE_H

#include "viz/axes.h"
#include "viz/color.h"
#include "viz/markers.h"

typedef struct {
    size_t row;
    double start, end;
    const char *label; /* inside the bar, if it fits; NULL: none */
    VizColor color;
    bool hatched; /* waiting, wasted */
} VizInterval;

typedef struct {
    const char *panel;       /* caption; NULL: none */
    VizAxis x;               /* linear */
    const char *const *rows; /* [row_count] names */
    size_t row_count;
    const VizInterval *intervals; /* [count] in any order */
    size_t count;
    const VizMarker *markers; /* [marker_count] */
    size_t marker_count;
    bool user; /* names and labels are a user's text */
} VizTimeline;

void viz_timeline(VizCanvas *canvas, VizRect rect, const VizTimeline *line);

#endif
