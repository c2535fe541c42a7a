#include "viz/markers.h"
#include "viz/canvas.h"
#include "viz/label.h"

#include <math.h>

static const double LINE = 13, AIR = 4;

double viz_markers_height(size_t count) {
    return LINE * (double)count;
}

static bool is_inside(const VizFrame *frame, double x) {
    return isfinite(x) && x >= frame->x.low && x <= frame->x.high;
}

/* The words stand on paper of their own: they may lie on lines of the plot. */
static void draw_words(VizCanvas *canvas, const VizFrame *frame, double x, double y,
                       const char *words) {
    VizRect p = frame->plot;
    bool left = x > p.x + p.w / 2;
    VizLabel how = {.role = "marker",
                    .size = VIZ_SIZE_SMALL,
                    .align = left ? 1 : 0,
                    .width = fmax(left ? x - p.x - AIR : p.x + p.w - x - AIR, 10)};
    double width = fmin(viz_label_width(canvas, words, &how), how.width) + 2;
    viz_fill(canvas,
             (VizRect){left ? x - AIR - width : x + AIR - 2, y - 9, width + 2, 12},
             viz_rgb(VIZ_WHITE));
    viz_label(canvas, words, left ? x - AIR : x + AIR, y, &how);
}

void viz_markers(VizCanvas *canvas, const VizFrame *frame, double top,
                 const VizMarker *markers, size_t count, const char *panel) {
    VizRect p = frame->plot;
    for (size_t i = 0; i < count; i++) {
        const char *words = markers[i].label ? markers[i].label : "";
        if (!is_inside(frame, markers[i].x)) {
            viz_note(canvas, "%s: the mark '%s' at %g is outside the axis.",
                     panel ? panel : "a panel", words, markers[i].x);
            continue;
        }
        double x = viz_frame_x(frame, markers[i].x);
        cairo_set_dash(canvas->cr, (double[]){2, 2}, 2, 0);
        viz_line(canvas, x, top, x, p.y + p.h, 1, viz_rgb(VIZ_INK));
        cairo_set_dash(canvas->cr, NULL, 0, 0);
        if (words[0])
            draw_words(canvas, frame, x, top + 9 + viz_markers_height(i), words);
    }
}
