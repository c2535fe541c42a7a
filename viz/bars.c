#include "viz/bars.h"
#include "viz/canvas.h"
#include "viz/csv.h"
#include "viz/label.h"
#include "viz/page.h"
#include "viz/sidelabels.h"
#include "viz/spread.h"

#include <math.h>
#include <stdio.h>

static const double WIDEST = 56, AIR = 6, THIN = 3;

static double value_of(const VizBars *bars, size_t bar, size_t part) {
    double value = bars->values[bar * bars->parts + part];
    return isfinite(value) && value > 0 ? value : 0;
}

static double total_of(const VizBars *bars, size_t bar) {
    double sum = 0;
    for (size_t p = 0; p < bars->parts; p++) sum += value_of(bars, bar, p);
    return sum;
}

static VizRgb color_of(const VizBars *bars, size_t part) {
    return viz_rgb(viz_turn(bars->colors ? bars->colors[part] : VIZ_AUTO, part));
}

static void record(VizCanvas *canvas, const VizBars *bars) {
    size_t strange = 0;
    for (size_t b = 0; b < bars->bars; b++)
        for (size_t p = 0; p < bars->parts; p++) {
            double value = bars->values[b * bars->parts + p];
            strange += !isfinite(value) || value < 0;
            viz_csv(canvas,
                    &(VizRow){.panel = bars->panel,
                              .row = bars->bar_names ? bars->bar_names[b] : NULL,
                              .row_number = (double)b,
                              .column = bars->part_names[p],
                              .value = value});
        }
    if (strange)
        viz_note(canvas,
                 "%s: %zu values are negative or not numbers and have no height.",
                 bars->panel ? bars->panel : "bars", strange);
}

/* One bar's left edge and width; thin bars stand wall to wall, wide ones have air. */
static VizRect slot(const VizBars *bars, VizRect plot, size_t bar) {
    double step = plot.w / (double)bars->bars;
    double width = fmin(WIDEST, step > 6 ? 0.78 * step : step);
    return (VizRect){plot.x + ((double)bar + 0.5) * step - width / 2, plot.y, width,
                     plot.h};
}

static void draw_bar(VizCanvas *canvas, const VizBars *bars, const VizFrame *frame,
                     size_t bar) {
    VizRect at = slot(bars, frame->plot, bar);
    double below = 0;
    for (size_t p = 0; p < bars->parts; p++) {
        double above = below + value_of(bars, bar, p);
        double top = viz_frame_y(frame, above), bottom = viz_frame_y(frame, below);
        viz_fill(canvas, (VizRect){at.x, top, at.w, bottom - top}, color_of(bars, p));
        below = above;
    }
}

/* Sums above the bars if the widest has room; else none, not just some. */
static void draw_totals(VizCanvas *canvas, const VizBars *bars, const VizFrame *frame) {
    VizLabel how = {.role = "total", .size = VIZ_SIZE_SMALL, .align = 0.5};
    char text[VIZ_NUMBER_ROOM];
    double widest = 0;
    for (size_t b = 0; b < bars->bars; b++)
        widest =
            fmax(widest,
                 viz_label_width(
                     canvas, viz_number(total_of(bars, b), bars->y.unit, text), &how));
    if (widest + 3 > frame->plot.w / (double)bars->bars) return;
    for (size_t b = 0; b < bars->bars; b++) {
        VizRect at = slot(bars, frame->plot, b);
        double total = total_of(bars, b);
        double x = at.x + at.w / 2, y = viz_frame_y(frame, total) - 4;
        viz_number(total, bars->y.unit, text);
        double width =
            viz_label_width(canvas, text, &how) + 2; /* no grid line through it */
        viz_fill(canvas, (VizRect){x - width / 2, y - 8, width, 9}, viz_rgb(VIZ_WHITE));
        viz_label(canvas, text, x, y, &how);
    }
}

/* All names if they fit, else every 2nd, 5th, 10th ... one. */
static void draw_names(VizCanvas *canvas, const VizBars *bars, const VizFrame *frame) {
    VizLabel how = {
        .role = "bar", .size = VIZ_SIZE_SMALL, .align = 0.5, .user = bars->user};
    VizRect plot = frame->plot;
    double unit = plot.w / (double)bars->bars;
    char number[32];
    snprintf(number, sizeof number, "%zu", bars->bars);
    double widest = bars->bar_names && bars->bars <= 200
                        ? viz_label_widest(canvas, bars->bar_names, bars->bars, &how)
                        : viz_label_width(canvas, number, &how);
    size_t step = 1;
    double room = fmin(widest, 80) + AIR;
    for (int i = 0; (double)step * unit < room && step < bars->bars; i++)
        step = step * (i % 3 == 1 ? 5 : 4) / 2;
    how.width = fmax((double)step * unit - AIR / 2, 14);
    for (size_t b = 0; b < bars->bars; b += step) {
        snprintf(number, sizeof number, "%zu", b);
        viz_label(canvas, bars->bar_names ? bars->bar_names[b] : number,
                  plot.x + ((double)b + 0.5) * unit, plot.y + plot.h + 14, &how);
    }
    if (step > 1 && bars->bar_names)
        viz_note(canvas, "%s: one bar in %zu is named; the .csv names all.",
                 bars->panel ? bars->panel : "bars", step);
    VizLabel axis = {.role = "axis",
                     .size = VIZ_SIZE_SMALL,
                     .ink = viz_rgb(VIZ_GREY),
                     .align = 0.5,
                     .width = plot.w};
    viz_label(canvas, bars->x_label, plot.x + plot.w / 2, plot.y + plot.h + 29, &axis);
}

/* Names of the parts at the middle of their piece of the last bar, from the top down,
 * so that those of empty pieces stand in order, too. */
static void draw_parts(VizCanvas *canvas, const VizBars *bars, const VizFrame *frame,
                       VizRect names) {
    VizSideLabel side[VIZ_SPREAD_MOST];
    size_t count = 0, last = bars->bars - 1;
    VizRect at = slot(bars, frame->plot, last);
    double below = total_of(bars, last);
    for (size_t p = bars->parts; p-- > 0 && count < VIZ_SPREAD_MOST;) {
        double value = value_of(bars, last, p);
        below -= value;
        side[count++] = (VizSideLabel){.text = bars->part_names[p],
                                       .from = at.x + at.w,
                                       .y = viz_frame_y(frame, below + value / 2),
                                       .ink = color_of(bars, p)};
    }
    viz_side_labels(canvas, names, frame->plot.x + frame->plot.w, side, count,
                    bars->panel);
}

static void draw_frame(VizCanvas *canvas, VizRect rect, const VizBars *bars,
                       VizFrame *frame) {
    double highest = 0;
    for (size_t b = 0; b < bars->bars; b++) highest = fmax(highest, total_of(bars, b));
    if (bars->totals) highest *= 1.06; /* room above the highest bar */
    VizAxis y = bars->y;
    y.log = false;
    y.low = 0;
    viz_axes_upright(canvas, rect, &y, bars->x_label != NULL,
                     (double[4]){0, 1, 0, highest}, frame);
}

void viz_bars(VizCanvas *canvas, VizRect rect, const VizBars *bars) {
    viz_caption(canvas, &rect, bars->panel);
    if (!bars->bars || !bars->parts) {
        viz_nothing(canvas, rect, bars->panel);
        return;
    }
    record(canvas, bars);
    VizLabel how = {.size = VIZ_SIZE_SMALL, .face = VIZ_BOLD};
    double widest = viz_label_widest(canvas, bars->part_names, bars->parts, &how);
    VizRect names = viz_cut_right(&rect, fmin(widest + 10, 0.3 * rect.w));
    /* A few bars stand close together rather than far apart. */
    rect.w = fmin(rect.w, 50 + 1.6 * WIDEST * (double)bars->bars);
    names.x = rect.x + rect.w;
    VizFrame frame;
    draw_frame(canvas, rect, bars, &frame);
    viz_shape(canvas, frame.plot, "bars: %zu of %zu parts, y 0 to %g", bars->bars,
              bars->parts, frame.y.high);
    bool thin = slot(bars, frame.plot, 0).w < THIN; /* soft edges would show as seams */
    cairo_set_antialias(canvas->cr,
                        thin ? CAIRO_ANTIALIAS_NONE : CAIRO_ANTIALIAS_DEFAULT);
    for (size_t b = 0; b < bars->bars; b++) draw_bar(canvas, bars, &frame, b);
    cairo_set_antialias(canvas->cr, CAIRO_ANTIALIAS_DEFAULT);
    viz_line(canvas, frame.plot.x, frame.plot.y + frame.plot.h,
             frame.plot.x + frame.plot.w, frame.plot.y + frame.plot.h, 1,
             viz_rgb(VIZ_GREY));
    draw_names(canvas, bars, &frame);
    if (bars->totals) draw_totals(canvas, bars, &frame);
    names.y = frame.plot.y;
    names.h = frame.plot.h + 6;
    draw_parts(canvas, bars, &frame, names);
}
