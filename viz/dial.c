#include "viz/dial.h"
#include "viz/canvas.h"
#include "viz/csv.h"
#include "viz/label.h"
#include "viz/page.h"

#include <math.h>

static const double NAME_ROOM = 22, APART = 17, LARGEST = 150;

typedef struct {
    double x, y; /* the middle */
    double radius;
} Face;

static bool unit_of(const VizDial *dial, size_t i, double *x, double *y) {
    const double length = hypot(dial->direction[2 * i], dial->direction[2 * i + 1]);
    if (!isfinite(length) || length <= 0) return false;
    *x = dial->direction[2 * i] / length;
    *y = -dial->direction[2 * i + 1] / length;
    return true;
}

static void record(VizCanvas *canvas, const VizDial *dial) {
    for (size_t i = 0; i < dial->count; i++)
        for (size_t c = 0; c < 2; c++)
            viz_csv(canvas, &(VizRow){.panel = dial->panel,
                                      .row = dial->names[i],
                                      .column = c ? "y" : "x",
                                      .value = dial->direction[2 * i + c]});
}

/* Names that would stand on another one's place are left out: first come, first
 * served. */
static size_t draw_hands(VizCanvas *canvas, const VizDial *dial, const Face *face,
                         size_t shown, VizRgb rgb) {
    double at[VIZ_DIAL_MOST][2];
    size_t named = 0;
    VizLabel how = {
        .role = "hand", .size = VIZ_SIZE_SMALL, .align = 0.5, .width = 2 * NAME_ROOM};
    for (size_t i = 0; i < shown; i++) {
        double x, y;
        if (!unit_of(dial, i, &x, &y)) continue;
        viz_arrow(canvas, face->x, face->y, face->x + x * face->radius,
                  face->y + y * face->radius, rgb);
        const double far = face->radius + NAME_ROOM / 2;
        const double name_x = face->x + x * far, name_y = face->y + y * far;
        bool room = true;
        for (size_t j = 0; j < named; j++)
            room &= hypot(at[j][0] - name_x, at[j][1] - name_y) >= APART;
        if (!room) continue;
        at[named][0] = name_x;
        at[named++][1] = name_y;
        viz_label(canvas, dial->names[i], name_x, viz_label_middle(name_y, how.size),
                  &how);
    }
    return named;
}

void viz_dial(VizCanvas *canvas, VizRect rect, const VizDial *dial) {
    viz_caption(canvas, &rect, dial->panel);
    if (!dial->count) {
        viz_nothing(canvas, rect, dial->panel);
        return;
    }
    record(canvas, dial);
    const double side = fmin(rect.w, rect.h);
    const Face face = {rect.x + rect.w / 2, rect.y + side / 2,
                       fmax(4, fmin(side / 2 - NAME_ROOM, LARGEST))};
    const size_t shown = dial->count < VIZ_DIAL_MOST ? dial->count : VIZ_DIAL_MOST;
    viz_shape(canvas, rect, "dial: %zu of %zu hands", shown, dial->count);
    cairo_new_path(canvas->cr);
    cairo_arc(canvas->cr, face.x, face.y, face.radius, 0, 2 * acos(-1));
    const VizRgb pale = viz_rgb(VIZ_PALE);
    cairo_set_source_rgb(canvas->cr, pale.r, pale.g, pale.b);
    cairo_set_line_width(canvas->cr, 1);
    cairo_stroke(canvas->cr);
    const size_t named =
        draw_hands(canvas, dial, &face, shown, viz_rgb(viz_turn(dial->color, 0)));
    const char *panel = dial->panel ? dial->panel : "a dial";
    if (shown < dial->count)
        viz_note(canvas, "%s: the first %zu of %zu hands are drawn; the .csv has all.",
                 panel, shown, dial->count);
    if (named < shown)
        viz_note(canvas, "%s: %zu hands too near another one have no name.", panel,
                 shown - named);
}
