/* Marks on an x axis: a dotted vertical line with a few words at its top. */
#ifndef KVSTEP_VIZ_MARKERS_H
#define KVSTEP_VIZ_MARKERS_H

#include "viz/axes.h"

typedef struct {
    double x;
    const char *label;
} VizMarker;

/* Points of height that the words of `count` marks take: a line for each. */
double viz_markers_height(size_t count);

/* Draws them from `top` down to the axis. The words go to the side with more room.
 * Marks outside the axis are left out, which the .txt says. */
void viz_markers(VizCanvas *canvas, const VizFrame *frame, double top,
                 const VizMarker *markers, size_t count, const char *panel);

#endif
