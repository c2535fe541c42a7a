/* Words beside a plot instead of a legend, one per wanted height, pushed apart and
 * joined by a thin line to their place. For lines.c and bars.c. */
#ifndef KVSTEP_VIZ_SIDELABELS_H
#define KVSTEP_VIZ_SIDELABELS_H

#include "viz/color.h"
#include "viz/rect.h"
#include <stdbool.h>

typedef struct {
    const char *text;
    double from, y; /* where the named thing ends */
    VizRgb ink;
    bool user;
} VizSideLabel;

/* Draws them inside room, which is right of x. Those without room (and all after the
 * 64th) are left out, which the .txt says. */
void viz_side_labels(VizCanvas *canvas, VizRect room, double x,
                     const VizSideLabel *labels, size_t count, const char *panel);

#endif
