/* A dial: hands of one length from one point, each with its name at the tip. For
 * directions: an angle that grows, a pair of numbers turned. */
#ifndef KVSTEP_VIZ_DIAL_H
#define KVSTEP_VIZ_DIAL_H

#include "viz/color.h"
#include "viz/rect.h"

enum { VIZ_DIAL_MOST = 64 };

typedef struct {
    const char *panel; /* caption; NULL: none */
    const double
        *direction; /* [count][2] x to the right, y upwards; any length but 0 */
    const char *const *names; /* [count] short ones, drawn where they find room */
    size_t count;             /* the first VIZ_DIAL_MOST are drawn */
    VizColor color;
} VizDial;

void viz_dial(VizCanvas *canvas, VizRect rect, const VizDial *dial);

#endif
