/* Lines and points on linear or logarithmic axes. Each series is named at its right end
 * in its own color; there is no legend to look up. */
#ifndef KVSTEP_VIZ_LINES_H
#define KVSTEP_VIZ_LINES_H

#include "viz/axes.h"
#include "viz/color.h"
#include "viz/markers.h"

typedef enum {
    VIZ_LINE,       /* joined */
    VIZ_DASHED,     /* joined by dashes: a model or a bound, not a measurement */
    VIZ_POINTS,     /* dots alone */
    VIZ_LINE_POINTS /* both */
} VizStroke;

/* n points; a value that is not finite leaves a gap, one that a logarithmic axis cannot
 * show is dropped, both said in the .txt. */
typedef struct {
    const char *name;
    const double *x, *y; /* [n] each, x ascending */
    size_t n;
    VizColor color;
    VizStroke stroke;
    bool user; /* the name is a user's text */
} VizSeries;

typedef struct {
    const char *panel; /* caption; NULL: none */
    VizAxis x, y;
    const VizSeries *series; /* [count], at most 64 */
    size_t count;
    const VizMarker *markers; /* [marker_count] */
    size_t marker_count;
} VizLines;

void viz_lines(VizCanvas *canvas, VizRect rect, const VizLines *lines);

#endif
