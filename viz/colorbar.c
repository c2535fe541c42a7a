#include "viz/canvas.h"
#include "viz/heatmap.h"
#include "viz/label.h"
#include "viz/number.h"

#include <math.h>

static const double THICK = 10, LONGEST = 220;

/* The whole ramp as one gradient: no steps, no seams. */
static void gradient(VizCanvas *canvas, VizRect bar, const VizScale *scale,
                     bool across) {
    enum { STOPS = 32 };
    cairo_pattern_t *ramp =
        across ? cairo_pattern_create_linear(bar.x, 0, bar.x + bar.w, 0)
               : cairo_pattern_create_linear(0, bar.y + bar.h, 0, bar.y);
    for (int i = 0; i <= STOPS; i++) {
        double t = (double)i / STOPS;
        VizRgb c = viz_scale_rgb(scale, scale->low + t * (scale->high - scale->low));
        cairo_pattern_add_color_stop_rgb(ramp, t, c.r, c.g, c.b);
    }
    cairo_rectangle(canvas->cr, bar.x, bar.y, bar.w, bar.h);
    cairo_set_source(canvas->cr, ramp);
    cairo_fill(canvas->cr);
    cairo_pattern_destroy(ramp);
    viz_outline(canvas, bar, 0.7, viz_rgb(VIZ_GREY));
}

static void end_label(VizCanvas *canvas, VizRect bar, const VizScale *scale,
                      double value, bool across) {
    double span = scale->high - scale->low;
    double t = span > 0 ? (value - scale->low) / span : 0;
    char text[VIZ_NUMBER_ROOM];
    VizLabel how = {.role = "scale", .size = VIZ_SIZE_SMALL, .ink = viz_rgb(VIZ_GREY)};
    viz_number(value, VIZ_COUNT, text);
    if (across) {
        how.align = t;
        viz_label(canvas, text, bar.x + t * bar.w, bar.y + bar.h + 11, &how);
    } else {
        double y = bar.y + bar.h - fmin(fmax(t * bar.h, 4), bar.h - 4);
        viz_label(canvas, text, bar.x + bar.w + 5, viz_label_middle(y, how.size), &how);
    }
}

void viz_colorbar(VizCanvas *canvas, VizRect rect, const VizScale *scale,
                  const char *label) {
    bool across = rect.w > rect.h;
    VizLabel how = {.role = "scale",
                    .size = VIZ_SIZE_SMALL,
                    .ink = viz_rgb(VIZ_GREY),
                    .width = rect.w,
                    .lines = 3};
    if (label)
        viz_cut_top(&rect, 4 + viz_label(canvas, label, rect.x, rect.y + 8, &how));
    VizRect bar = {rect.x, rect.y, across ? fmin(rect.w, LONGEST) : THICK,
                   across ? THICK : fmin(rect.h, LONGEST)};
    viz_shape(canvas, bar, "color bar: %g to %g, ramp %d", scale->low, scale->high,
              (int)scale->ramp);
    gradient(canvas, bar, scale, across);
    end_label(canvas, bar, scale, scale->low, across);
    if (scale->high == scale->low) return;
    end_label(canvas, bar, scale, scale->high, across);
    if (scale->low < 0 && scale->high > 0) end_label(canvas, bar, scale, 0, across);
}
