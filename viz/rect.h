/* Rectangles on a canvas, in points, y downwards; and the ways to divide one so that
 * several parts share a page. */
#ifndef KVSTEP_VIZ_RECT_H
#define KVSTEP_VIZ_RECT_H

#include <stddef.h>

/* What a figure draws on; made by viz_write, opaque to figures. */
typedef struct VizCanvas VizCanvas;

typedef struct {
    double x, y, w, h;
} VizRect;

/* Cut a strip off one side of *rest and hand it back; *rest keeps what is left. A strip
 * wider than *rest takes all of it. */
VizRect viz_cut_left(VizRect *rest, double width);
VizRect viz_cut_right(VizRect *rest, double width);
VizRect viz_cut_top(VizRect *rest, double height);
VizRect viz_cut_bottom(VizRect *rest, double height);

/* Cell i, counted along rows, of a grid with `gap` points between its cells. */
VizRect viz_grid(VizRect whole, size_t rows, size_t columns, double gap, size_t i);

/* The same rectangle smaller by `by` points on every side, never below nothing. */
VizRect viz_inset(VizRect rect, double by);

#endif
