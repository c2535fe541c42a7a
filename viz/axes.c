#include "viz/axes.h"
#include "viz/canvas.h"
#include "viz/label.h"

#include <math.h>

static const double X_ROOM = 34, X_ROOM_BARE = 18, Y_LABEL = 18, AIR = 6, NEAR = 0.04;

static VizLabel tick_style(double align) {
    return (VizLabel){.role = "tick",
                      .size = VIZ_SIZE_SMALL,
                      .ink = viz_rgb(VIZ_GREY),
                      .align = align};
}

static void range_of(const VizAxis *axis, double low, double high, size_t most,
                     VizTicks *ticks) {
    bool own = axis->low != axis->high && viz_axis_takes(axis, axis->low) &&
               viz_axis_takes(axis, axis->high);
    viz_ticks(own ? axis->low : low, own ? axis->high : high, axis->log, axis->whole,
              axis->unit, most, ticks);
    if (own) viz_ticks_trim(ticks, axis->low, axis->high);
}

/* Lines go from frame to frame: the x axis ends with the data, but begins at a mark
 * that is near. */
static void trim_x(const VizAxis *axis, double low, double high, VizTicks *ticks) {
    if (axis->low != axis->high || !(low < high)) return;
    if (!axis->log && low - ticks->low <= NEAR * (high - low)) low = ticks->low;
    viz_ticks_trim(ticks, low, high);
}

/* The y axis leaves a little air above and below instead of going to the next mark. */
static void trim_y(const VizAxis *axis, double low, double high, VizTicks *ticks) {
    if (axis->log || axis->low != axis->high || !(low < high)) return;
    double air = NEAR * (high - low);
    viz_ticks_trim(ticks, low < 0 ? fmax(ticks->low, low - air) : low,
                   high > 0 ? fmin(ticks->high, high + air) : high);
}

static double widest_tick(VizCanvas *canvas, const VizTicks *ticks) {
    VizLabel how = tick_style(0);
    double widest = 0;
    for (size_t i = 0; i < ticks->count; i++)
        widest = fmax(widest, viz_label_width(canvas, ticks->tick[i].label, &how));
    return widest;
}

/* Whether each label of the x axis has air beside its neighbour. */
static bool have_air(VizCanvas *canvas, const VizTicks *ticks, double width) {
    VizLabel how = tick_style(0);
    double end = -INFINITY;
    for (size_t i = 0; i < ticks->count; i++) {
        if (!ticks->tick[i].label[0]) continue;
        double w = viz_label_width(canvas, ticks->tick[i].label, &how);
        double x = viz_ticks_place(ticks, ticks->tick[i].at) * width;
        if (x - w / 2 < end + AIR) return false;
        end = x + w / 2;
    }
    return true;
}

static void draw_y(VizCanvas *canvas, const VizFrame *frame, const VizAxis *axis,
                   double left) {
    VizRect p = frame->plot;
    for (size_t i = 0; i < frame->y.count; i++) {
        const VizTick *tick = &frame->y.tick[i];
        double y = viz_frame_y(frame, tick->at);
        if (!tick->label[0]) continue;
        viz_line(canvas, p.x, y, p.x + p.w, y, 0.7, viz_rgb(VIZ_PALE));
        VizLabel how = tick_style(1);
        viz_label(canvas, tick->label, p.x - AIR, viz_label_middle(y, how.size), &how);
    }
    VizLabel how = {.role = "axis",
                    .size = VIZ_SIZE_SMALL,
                    .ink = viz_rgb(VIZ_GREY),
                    .width = p.x + p.w - left};
    viz_label(canvas, axis->label, left, p.y - Y_LABEL / 2 - 1, &how);
}

static void draw_x(VizCanvas *canvas, const VizFrame *frame, const VizAxis *axis) {
    VizRect p = frame->plot;
    double base = p.y + p.h;
    viz_line(canvas, p.x, base, p.x + p.w, base, 1, viz_rgb(VIZ_GREY));
    for (size_t i = 0; i < frame->x.count; i++) {
        const VizTick *tick = &frame->x.tick[i];
        double x = viz_frame_x(frame, tick->at);
        viz_line(canvas, x, base, x, base + (tick->label[0] ? 4 : 2), 0.7,
                 viz_rgb(VIZ_GREY));
        VizLabel how = tick_style(0.5);
        viz_label(canvas, tick->label, x, base + 14, &how);
    }
    VizLabel how = {.role = "axis",
                    .size = VIZ_SIZE_SMALL,
                    .ink = viz_rgb(VIZ_GREY),
                    .align = 0.5,
                    .width = p.w};
    viz_label(canvas, axis->label, p.x + p.w / 2, base + 29, &how);
}

/* Takes the y axis off the left of the plot. */
static void place_y(VizCanvas *canvas, VizRect rect, const VizAxis *y, bool x_label,
                    const double range[4], VizFrame *frame) {
    VizRect plot = rect;
    viz_cut_top(&plot, y->label ? Y_LABEL : 6);
    viz_cut_bottom(&plot, x_label ? X_ROOM : X_ROOM_BARE);
    range_of(y, range[2], range[3], (size_t)fmax(2, plot.h / 38), &frame->y);
    trim_y(y, range[2], range[3], &frame->y);
    viz_cut_left(&plot, widest_tick(canvas, &frame->y) + AIR);
    viz_cut_right(&plot, 8); /* half of the last x label */
    frame->plot = plot;
}

/* As many labels as have air. */
static void fit_x(VizCanvas *canvas, const VizAxis *x, const double range[2],
                  VizFrame *frame) {
    size_t most = (size_t)fmax(2, frame->plot.w / 34);
    do {
        range_of(x, range[0], range[1], most, &frame->x);
        trim_x(x, range[0], range[1], &frame->x);
    } while (--most >= 2 && !have_air(canvas, &frame->x, frame->plot.w));
}

void viz_axes(VizCanvas *canvas, VizRect rect, const VizAxis *x, const VizAxis *y,
              const double range[4], VizFrame *frame) {
    place_y(canvas, rect, y, x->label != NULL, range, frame);
    fit_x(canvas, x, range, frame);
    draw_y(canvas, frame, y, rect.x);
    draw_x(canvas, frame, x);
}

void viz_axes_flat(VizCanvas *canvas, VizRect rect, const VizAxis *x,
                   const double range[2], VizFrame *frame) {
    viz_cut_bottom(&rect, x->label ? X_ROOM : X_ROOM_BARE);
    viz_cut_right(&rect, 8);
    *frame = (VizFrame){.plot = rect, .y = {.low = 0, .high = 1}};
    fit_x(canvas, x, range, frame);
    draw_x(canvas, frame, x);
}

void viz_axes_upright(VizCanvas *canvas, VizRect rect, const VizAxis *y, bool x_label,
                      const double range[4], VizFrame *frame) {
    place_y(canvas, rect, y, x_label, range, frame);
    frame->x = (VizTicks){.low = range[0], .high = range[1]};
    draw_y(canvas, frame, y, rect.x);
}

/* cairo's numbers end at 2^23; far outside is far enough. */
static double on_paper(double place) {
    return fmin(fmax(place, -1e5), 1e5);
}

double viz_frame_x(const VizFrame *frame, double value) {
    return on_paper(frame->plot.x + frame->plot.w * viz_ticks_place(&frame->x, value));
}

double viz_frame_y(const VizFrame *frame, double value) {
    return on_paper(frame->plot.y +
                    frame->plot.h * (1 - viz_ticks_place(&frame->y, value)));
}

bool viz_axis_takes(const VizAxis *axis, double value) {
    return isfinite(value) && (!axis->log || value > 0);
}
