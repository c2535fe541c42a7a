/* What parts draw on: cairo for shapes, pango for letters, and a record of everything
 * that was drawn, so that a picture can be checked and told in words.
 *
 * For the parts in viz/ alone; figures elsewhere use figure.h, page.h and the parts.
 * Units are points; the surface decides what a point becomes. The first error sticks:
 * parts go on drawing, viz_write refuses the picture at the end. */
#ifndef KVSTEP_VIZ_CANVAS_H
#define KVSTEP_VIZ_CANVAS_H

#include "core/base/error.h"
#include "viz/buffer.h"
#include "viz/color.h"
#include "viz/rect.h"
#include <cairo.h>
#include <pango/pango.h>

/* One label as it was drawn. */
typedef struct {
    char *text;
    const char *role;
    double size;
    VizRect box;    /* what its ink covers, and its advance width */
    VizRect inside; /* where it had to stay */
} VizPlaced;

struct VizCanvas {
    cairo_t *cr;
    PangoContext *letters;
    double width, height;
    VizPlaced *placed; /* [labels] */
    size_t labels, room;
    size_t shortened,
        unknown; /* labels ended by an ellipsis; characters without a glyph */
    VizBuffer title, subtitle, words, notes; /* for the .txt */
    VizBuffer csv, shapes; /* the data; the parts drawn, for the dump */
    Error error;
    bool failed;
};

/* Draws on the surface (which it keeps no longer than itself) at `scale` pixels a
 * point. */
bool viz_canvas_open(VizCanvas *canvas, cairo_surface_t *surface, double width,
                     double height, double scale, Error *err);
void viz_canvas_close(VizCanvas *canvas);

/* Remembers the first thing that makes the picture worthless. */
__attribute__((format(printf, 2, 3))) void viz_fail(VizCanvas *canvas,
                                                    const char *format, ...);

/* A line for the .txt about what the picture does not show as it is (dropped zeros,
 * merged cells). The same line twice is kept once. */
__attribute__((format(printf, 2, 3))) void viz_note(VizCanvas *canvas,
                                                    const char *format, ...);

/* A line for the dump: which part stands where. */
__attribute__((format(printf, 3, 4))) void viz_shape(VizCanvas *canvas, VizRect at,
                                                     const char *format, ...);

/* count x size zeroed bytes for a part's own use, freed with free(); NULL and the
 * canvas failed if there are none. Never asks for zero bytes. */
void *viz_scratch(VizCanvas *canvas, size_t count, size_t size);

/* Shapes. */
void viz_fill(VizCanvas *canvas, VizRect rect, VizRgb rgb);
void viz_outline(VizCanvas *canvas, VizRect rect, double thick, VizRgb rgb);
void viz_line(VizCanvas *canvas, double x0, double y0, double x1, double y1,
              double thick, VizRgb rgb);

/* Hatches the current path (added with cairo) and begins a new one. */
void viz_hatch(VizCanvas *canvas);
void viz_hatch_rect(VizCanvas *canvas, VizRect rect);

/* An arrow with a small filled head at (x1, y1). */
void viz_arrow(VizCanvas *canvas, double x0, double y0, double x1, double y1,
               VizRgb rgb);

#endif
