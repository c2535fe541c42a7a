#include "viz/label.h"
#include "viz/canvas.h"
#include "viz/layout.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double points(int pango_units) {
    return (double)pango_units / PANGO_SCALE;
}

static void limit(PangoLayout *layout, const VizLabel *how) {
    if (how->width <= 0) return;
    pango_layout_set_width(layout, (int)(how->width * PANGO_SCALE));
    pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
    if (how->lines > 1) {
        pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
        pango_layout_set_height(layout, -how->lines);
    }
}

static void record(VizCanvas *canvas, const char *text, const VizLabel *how,
                   VizRect box) {
    if (canvas->labels == canvas->room) {
        size_t room = 2 * canvas->room + 64;
        VizPlaced *placed = realloc(canvas->placed, room * sizeof *placed);
        if (!placed) {
            viz_fail(canvas, "out of memory for %zu labels", room);
            return;
        }
        canvas->placed = placed;
        canvas->room = room;
    }
    char *copy = strdup(text);
    if (!copy) {
        viz_fail(canvas, "out of memory for a label");
        return;
    }
    VizRect all = {0, 0, canvas->width, canvas->height};
    canvas->placed[canvas->labels++] =
        (VizPlaced){.text = copy,
                    .role = how->role ? how->role : "label",
                    .size = viz_layout_size(how),
                    .box = box,
                    .inside = how->inside.w > 0 ? how->inside : all};
}

/* Where the letters are, about the left end of the first baseline. */
typedef struct {
    VizRect box;     /* ink up and down, advance left and right */
    double baseline; /* below the layout's top */
    bool towering; /* stacked marks ("zalgo") reach out of their line; they are cut off
                    */
} Extent;

static Extent extent_of(PangoLayout *layout, const VizLabel *how) {
    PangoRectangle ink, logical;
    pango_layout_get_extents(layout, &ink, &logical);
    double baseline = points(pango_layout_get_baseline(layout));
    double size = viz_layout_size(how);
    double lines = (double)pango_layout_get_line_count(layout);
    double top = points(ink.y) - baseline, highest = -1.1 * size;
    double bottom = points(ink.y + ink.height) - baseline;
    double lowest = 0.35 * size + 1.17 * size * (lines - 1);
    if (ink.height == 0) top = bottom = 0;
    Extent extent = {.baseline = baseline,
                     .towering = top < highest || bottom > lowest};
    top = fmax(top, highest);
    bottom = fmin(bottom, lowest);
    extent.box = (VizRect){0, top, points(logical.width), bottom - top};
    return extent;
}

/* The letters' left end comes `back` points right of x. */
static void draw(VizCanvas *canvas, PangoLayout *layout, double x, double y,
                 double back, const Extent *extent, const VizLabel *how) {
    VizRgb none = {0}, ink = how->ink;
    if (memcmp(&ink, &none, sizeof none) == 0) ink = viz_rgb(VIZ_INK);
    cairo_t *cr = canvas->cr;
    cairo_save(cr);
    cairo_translate(cr, x, y);
    if (how->upright) cairo_rotate(cr, -acos(-1) / 2);
    if (extent->towering) {
        VizRect box = extent->box;
        cairo_rectangle(cr, back - 2, box.y - 0.5, box.w + 4, box.h + 1);
        cairo_clip(cr);
    }
    cairo_move_to(cr, back, -extent->baseline);
    cairo_set_source_rgb(cr, ink.r, ink.g, ink.b);
    pango_cairo_show_layout(cr, layout);
    cairo_new_path(cr);
    cairo_restore(cr);
}

double viz_label(VizCanvas *canvas, const char *text, double x, double y,
                 const VizLabel *how) {
    if (!text || !*text) return 0;
    PangoLayout *layout = viz_layout(canvas, text, how, true);
    limit(layout, how);
    if (pango_layout_is_ellipsized(layout)) canvas->shortened++;
    Extent extent = extent_of(layout, how);
    VizRect box = extent.box;
    double back = -how->align * box.w;
    draw(canvas, layout, x, y, back, &extent, how);
    VizRect placed = how->upright ? (VizRect){x + box.y, y - back - box.w, box.h, box.w}
                                  : (VizRect){x + back, y + box.y, box.w, box.h};
    record(canvas, pango_layout_get_text(layout), how, placed);
    int height;
    pango_layout_get_size(layout, NULL, &height);
    g_object_unref(layout);
    return points(height);
}

double viz_label_width(VizCanvas *canvas, const char *text, const VizLabel *how) {
    if (!text || !*text) return 0;
    PangoLayout *layout = viz_layout(canvas, text, how, false);
    int width;
    pango_layout_get_size(layout, &width, NULL);
    g_object_unref(layout);
    return points(width);
}

double viz_label_widest(VizCanvas *canvas, const char *const *texts, size_t count,
                        const VizLabel *how) {
    double widest = 0;
    for (size_t i = 0; texts && i < count; i++)
        widest = fmax(widest, viz_label_width(canvas, texts[i], how));
    return widest;
}

double viz_label_middle(double y, double size) {
    return y + 0.365 * size;
}
