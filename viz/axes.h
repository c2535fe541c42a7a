/* A pair of axes: a frame with ticks, and where a number stands in it. */
#ifndef KVSTEP_VIZ_AXES_H
#define KVSTEP_VIZ_AXES_H

#include "viz/rect.h"
#include "viz/ticks.h"

/* What a figure says about an axis. */
typedef struct {
    const char *label; /* what it counts, with its unit */
    bool log;
    bool whole; /* counts whole things: no marks between them */
    VizUnit unit;
    double low, high; /* equal: from the data (and zero, on a linear y axis) */
} VizAxis;

/* Axes as drawn. */
typedef struct {
    VizRect plot; /* inside the axes */
    VizTicks x, y;
} VizFrame;

/* Draws both axes inside rect with light lines across, the x label below, the y label
 * above at the left. range is the data's: lowest and highest x, lowest and highest y
 * (an axis' own low and high, when they differ, go before); above zero where
 * logarithmic. */
void viz_axes(VizCanvas *canvas, VizRect rect, const VizAxis *x, const VizAxis *y,
              const double range[4], VizFrame *frame);

/* The y axis alone, for parts whose x axis has names: room for one line of names below,
 * and for a label under them when `x_label`. frame->x then runs over range[0] to [1].
 */
void viz_axes_upright(VizCanvas *canvas, VizRect rect, const VizAxis *y, bool x_label,
                      const double range[4], VizFrame *frame);

/* The x axis alone, at the bottom of rect; frame->y then runs from 0 to 1. */
void viz_axes_flat(VizCanvas *canvas, VizRect rect, const VizAxis *x,
                   const double range[2], VizFrame *frame);

/* Points on the canvas. */
double viz_frame_x(const VizFrame *frame, double value);
double viz_frame_y(const VizFrame *frame, double value);

/* Whether a number can stand on the axis: finite, and above zero when logarithmic. */
bool viz_axis_takes(const VizAxis *axis, double value);

#endif
