#include "viz/lines.h"
#include "viz/canvas.h"
#include "viz/csv.h"
#include "viz/label.h"
#include "viz/page.h"
#include "viz/sidelabels.h"
#include "viz/spread.h"

#include <math.h>

static const char *panel_of(const VizLines *lines) {
    return lines->panel ? lines->panel : "lines";
}

static void record(VizCanvas *canvas, const VizLines *lines) {
    for (size_t s = 0; s < lines->count; s++) {
        const VizSeries *one = &lines->series[s];
        for (size_t i = 0; i < one->n; i++)
            viz_csv(canvas, &(VizRow){.panel = lines->panel,
                                      .row = one->name ? one->name : "",
                                      .column_number = one->x[i],
                                      .value = one->y[i]});
    }
}

static bool is_shown(const VizLines *lines, const VizSeries *one, size_t i) {
    return viz_axis_takes(&lines->x, one->x[i]) && viz_axis_takes(&lines->y, one->y[i]);
}

/* range: lowest and highest x and y of what can be shown; false when nothing can. */
static bool find_range(VizCanvas *canvas, const VizLines *lines, double range[4]) {
    size_t dropped = 0, missing = 0;
    range[0] = range[2] = INFINITY;
    range[1] = range[3] = -INFINITY;
    for (size_t s = 0; s < lines->count; s++)
        for (size_t i = 0; i < lines->series[s].n; i++) {
            double x = lines->series[s].x[i], y = lines->series[s].y[i];
            if (!is_shown(lines, &lines->series[s], i)) {
                if (isfinite(x) && isfinite(y))
                    dropped++;
                else
                    missing++;
                continue;
            }
            range[0] = fmin(range[0], x);
            range[1] = fmax(range[1], x);
            range[2] = fmin(range[2], y);
            range[3] = fmax(range[3], y);
        }
    if (dropped)
        viz_note(canvas,
                 "%s: %zu points with a value of zero or less cannot stand on a "
                 "logarithmic axis and are left out.",
                 panel_of(lines), dropped);
    if (missing)
        viz_note(canvas, "%s: %zu values are not numbers; the line has a gap there.",
                 panel_of(lines), missing);
    return range[0] <= range[1];
}

static void dot(VizCanvas *canvas, double x, double y) {
    cairo_new_sub_path(canvas->cr);
    cairo_arc(canvas->cr, x, y, 2.6, 0, 2 * acos(-1));
}

static void draw_series(VizCanvas *canvas, const VizLines *lines, const VizFrame *frame,
                        const VizSeries *one, VizRgb rgb) {
    cairo_t *cr = canvas->cr;
    bool joined = false;
    cairo_set_source_rgb(cr, rgb.r, rgb.g, rgb.b);
    for (size_t i = 0; one->stroke != VIZ_POINTS && i < one->n; i++) {
        bool shown = is_shown(lines, one, i);
        if (shown) {
            double x = viz_frame_x(frame, one->x[i]), y = viz_frame_y(frame, one->y[i]);
            if (joined)
                cairo_line_to(cr, x, y);
            else
                cairo_move_to(cr, x, y);
        }
        joined = shown;
    }
    cairo_set_line_width(cr, 1.8);
    if (one->stroke == VIZ_DASHED) cairo_set_dash(cr, (double[]){5, 3.5}, 2, 0);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
    bool points = one->stroke == VIZ_POINTS || one->stroke == VIZ_LINE_POINTS;
    for (size_t i = 0; i < one->n; i++) {
        bool alone = is_shown(lines, one, i) &&
                     (i == 0 || !is_shown(lines, one, i - 1)) &&
                     (i + 1 == one->n || !is_shown(lines, one, i + 1));
        if (alone || (points && is_shown(lines, one, i)))
            dot(canvas, viz_frame_x(frame, one->x[i]), viz_frame_y(frame, one->y[i]));
    }
    cairo_fill(cr);
}

static VizRgb color_of(const VizSeries *series, size_t i) {
    return viz_rgb(viz_turn(series[i].color, i));
}

/* The names at the right, at the height of each line's last point. */
static void draw_names(VizCanvas *canvas, const VizLines *lines, const VizFrame *frame,
                       VizRect names) {
    VizSideLabel side[VIZ_SPREAD_MOST];
    size_t count = 0;
    for (size_t s = 0; s < lines->count && count < VIZ_SPREAD_MOST; s++) {
        const VizSeries *one = &lines->series[s];
        size_t last = one->n;
        while (last > 0 && !is_shown(lines, one, last - 1)) last--;
        if (!last || !one->name) continue;
        side[count++] = (VizSideLabel){.text = one->name,
                                       .from = viz_frame_x(frame, one->x[last - 1]),
                                       .y = viz_frame_y(frame, one->y[last - 1]),
                                       .ink = color_of(lines->series, s),
                                       .user = one->user};
    }
    viz_side_labels(canvas, names, frame->plot.x + frame->plot.w, side, count,
                    panel_of(lines));
}

static double names_width(VizCanvas *canvas, const VizLines *lines, double most) {
    double widest = 0;
    for (size_t s = 0; s < lines->count; s++) {
        VizLabel how = {
            .size = VIZ_SIZE_SMALL, .face = VIZ_BOLD, .user = lines->series[s].user};
        widest = fmax(widest, viz_label_width(canvas, lines->series[s].name, &how));
    }
    return widest > 0 ? fmin(widest + 10, most) : 0;
}

void viz_lines(VizCanvas *canvas, VizRect rect, const VizLines *lines) {
    viz_caption(canvas, &rect, lines->panel);
    record(canvas, lines);
    double range[4];
    if (!find_range(canvas, lines, range)) {
        viz_nothing(canvas, rect, panel_of(lines));
        return;
    }
    if (!lines->y.log) { /* heights are compared from zero */
        range[2] = fmin(range[2], 0);
        range[3] = fmax(range[3], 0);
    }
    VizRect names = viz_cut_right(&rect, names_width(canvas, lines, 0.35 * rect.w));
    VizFrame frame;
    viz_axes(canvas, rect, &lines->x, &lines->y, range, &frame);
    viz_shape(canvas, frame.plot, "lines: %zu series, x %g to %g%s, y %g to %g%s",
              lines->count, frame.x.low, frame.x.high, frame.x.log ? " log" : "",
              frame.y.low, frame.y.high, frame.y.log ? " log" : "");
    names.y = frame.plot.y - 6;
    names.h = frame.plot.h + 12;
    cairo_save(canvas->cr); /* an axis' own range may be smaller than the data's */
    cairo_rectangle(canvas->cr, frame.plot.x - 4, frame.plot.y - 4, frame.plot.w + 8,
                    frame.plot.h + 8);
    cairo_clip(canvas->cr);
    for (size_t s = 0; s < lines->count; s++)
        draw_series(canvas, lines, &frame, &lines->series[s],
                    color_of(lines->series, s));
    cairo_restore(canvas->cr);
    viz_markers(canvas, &frame, frame.plot.y, lines->markers, lines->marker_count,
                panel_of(lines));
    draw_names(canvas, lines, &frame, names);
}
