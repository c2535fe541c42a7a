#include "viz/canvas.h"
#include "viz/fonts.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool open_letters(VizCanvas *canvas, Error *err) {
    PangoFontMap *map = viz_fonts_open(err);
    if (!map) return false;
    canvas->letters = pango_font_map_create_context(map);
    g_object_unref(map);
    /* Without hinting a glyph has the same shape and place at every size and scale. */
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(canvas->letters, options);
    cairo_font_options_destroy(options);
    pango_context_set_round_glyph_positions(canvas->letters, FALSE);
    pango_context_set_language(canvas->letters, pango_language_from_string("en"));
    pango_context_set_base_dir(canvas->letters, PANGO_DIRECTION_LTR);
    pango_cairo_update_context(canvas->cr, canvas->letters);
    return true;
}

bool viz_canvas_open(VizCanvas *canvas, cairo_surface_t *surface, double width,
                     double height, double scale, Error *err) {
    *canvas = (VizCanvas){.width = width, .height = height};
    canvas->cr = cairo_create(surface);
    cairo_scale(canvas->cr, scale, scale);
    cairo_set_line_join(canvas->cr, CAIRO_LINE_JOIN_ROUND);
    if (open_letters(canvas, err)) return true;
    viz_canvas_close(canvas);
    return false;
}

void viz_canvas_close(VizCanvas *canvas) {
    if (canvas->letters) g_object_unref(canvas->letters);
    cairo_destroy(canvas->cr);
    for (size_t i = 0; i < canvas->labels; i++) free(canvas->placed[i].text);
    free(canvas->placed);
    VizBuffer *buffers[] = {&canvas->title, &canvas->subtitle, &canvas->words,
                            &canvas->notes, &canvas->csv,      &canvas->shapes};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        viz_buffer_free(buffers[i]);
    *canvas = (VizCanvas){0};
}

void viz_fail(VizCanvas *canvas, const char *format, ...) {
    if (canvas->failed) return;
    char text[sizeof canvas->error.text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    error_set(&canvas->error, "%s", text);
    canvas->failed = true;
}

void viz_note(VizCanvas *canvas, const char *format, ...) {
    char line[320] = "- ";
    va_list args;
    va_start(args, format);
    vsnprintf(line + 2, sizeof line - 4, format, args);
    va_end(args);
    strcat(line, "\n");
    if (!strstr(viz_buffer_text(&canvas->notes), line))
        viz_buffer_print(&canvas->notes, "%s", line);
}

void viz_shape(VizCanvas *canvas, VizRect at, const char *format, ...) {
    char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    viz_buffer_print(&canvas->shapes, "part %.1f %.1f %.1f %.1f %s\n", at.x, at.y, at.w,
                     at.h, text);
}

void *viz_scratch(VizCanvas *canvas, size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size);
    if (!block)
        viz_fail(canvas, "out of memory: %zu x %zu bytes for a picture", count, size);
    return block;
}

static void use(VizCanvas *canvas, VizRgb rgb) {
    cairo_set_source_rgb(canvas->cr, rgb.r, rgb.g, rgb.b);
}

void viz_fill(VizCanvas *canvas, VizRect rect, VizRgb rgb) {
    use(canvas, rgb);
    cairo_rectangle(canvas->cr, rect.x, rect.y, rect.w, rect.h);
    cairo_fill(canvas->cr);
}

void viz_outline(VizCanvas *canvas, VizRect rect, double thick, VizRgb rgb) {
    use(canvas, rgb);
    cairo_set_line_width(canvas->cr, thick);
    cairo_rectangle(canvas->cr, rect.x + thick / 2, rect.y + thick / 2,
                    fmax(0, rect.w - thick), fmax(0, rect.h - thick));
    cairo_stroke(canvas->cr);
}

void viz_line(VizCanvas *canvas, double x0, double y0, double x1, double y1,
              double thick, VizRgb rgb) {
    use(canvas, rgb);
    cairo_set_line_width(canvas->cr, thick);
    cairo_move_to(canvas->cr, x0, y0);
    cairo_line_to(canvas->cr, x1, y1);
    cairo_stroke(canvas->cr);
}

/* Lines go through a fixed lattice of the canvas, so neighbouring areas join up. */
void viz_hatch(VizCanvas *canvas) {
    enum { STEP = 5 };
    cairo_t *cr = canvas->cr;
    double left, top, right, bottom;
    cairo_save(cr);
    cairo_path_extents(cr, &left, &top, &right, &bottom);
    use(canvas, viz_rgb(VIZ_WHITE));
    cairo_fill_preserve(cr);
    cairo_clip(cr);
    cairo_new_path(cr);
    for (double c = floor((left + top) / STEP) * STEP; c < right + bottom; c += STEP) {
        cairo_move_to(cr, c - bottom, bottom);
        cairo_line_to(cr, c - top, top);
    }
    cairo_set_source_rgb(cr, 0.76, 0.77, 0.79);
    cairo_set_line_width(cr, 0.7);
    cairo_stroke(cr);
    cairo_restore(cr);
}

void viz_hatch_rect(VizCanvas *canvas, VizRect rect) {
    cairo_rectangle(canvas->cr, rect.x, rect.y, rect.w, rect.h);
    viz_hatch(canvas);
}

void viz_arrow(VizCanvas *canvas, double x0, double y0, double x1, double y1,
               VizRgb rgb) {
    double length = hypot(x1 - x0, y1 - y0), head = fmin(5, length);
    if (length <= 0) return;
    double ux = (x1 - x0) / length, uy = (y1 - y0) / length;
    double bx = x1 - head * ux, by = y1 - head * uy, half = head * 0.45;
    viz_line(canvas, x0, y0, bx, by, 1, rgb);
    cairo_move_to(canvas->cr, x1, y1);
    cairo_line_to(canvas->cr, bx - half * uy, by + half * ux);
    cairo_line_to(canvas->cr, bx + half * uy, by - half * ux);
    cairo_close_path(canvas->cr);
    cairo_fill(canvas->cr);
}
