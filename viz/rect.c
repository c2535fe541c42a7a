#include "viz/rect.h"

#include <math.h>

static double at_most(double wanted, double there) {
    return fmax(0, fmin(wanted, there));
}

VizRect viz_cut_left(VizRect *rest, double width) {
    VizRect strip = *rest;
    strip.w = at_most(width, rest->w);
    rest->x += strip.w;
    rest->w -= strip.w;
    return strip;
}

VizRect viz_cut_right(VizRect *rest, double width) {
    VizRect strip = *rest;
    strip.w = at_most(width, rest->w);
    rest->w -= strip.w;
    strip.x = rest->x + rest->w;
    return strip;
}

VizRect viz_cut_top(VizRect *rest, double height) {
    VizRect strip = *rest;
    strip.h = at_most(height, rest->h);
    rest->y += strip.h;
    rest->h -= strip.h;
    return strip;
}

VizRect viz_cut_bottom(VizRect *rest, double height) {
    VizRect strip = *rest;
    strip.h = at_most(height, rest->h);
    rest->h -= strip.h;
    strip.y = rest->y + rest->h;
    return strip;
}

VizRect viz_grid(VizRect whole, size_t rows, size_t columns, double gap, size_t i) {
    double w = fmax(0, (whole.w - gap * (double)(columns - 1)) / (double)columns);
    double h = fmax(0, (whole.h - gap * (double)(rows - 1)) / (double)rows);
    double x = whole.x + (w + gap) * (double)(i % columns);
    double y = whole.y + (h + gap) * (double)(i / columns);
    return (VizRect){x, y, w, h};
}

VizRect viz_inset(VizRect rect, double by) {
    double dx = fmin(by, rect.w / 2), dy = fmin(by, rect.h / 2);
    return (VizRect){rect.x + dx, rect.y + dy, rect.w - 2 * dx, rect.h - 2 * dy};
}
