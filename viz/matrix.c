#include "viz/matrix.h"
#include "viz/canvas.h"
#include "viz/csv.h"
#include "viz/heatcells.h"
#include "viz/label.h"
#include "viz/number.h"
#include "viz/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double AIR = 6, LINE = 17, NUMBER = VIZ_SIZE_SMALL;
static const char DOTS[] = "\xE2\x8B\xAF"; /* U+22EF */

/* Which of `all` are shown in `slots` places: the first ones and the last, dots
 * between. Gives the place's index, or NONE for the dots. */
enum { NONE = -1 };

static size_t places(size_t all, double room, double each) {
    double most = fmax(1, floor(room / each + 1e-6));
    return (double)all <= most ? all : (size_t)most;
}

static long entry_at(size_t all, size_t slots, size_t place) {
    if (slots == all || place + 2 < slots) return (long)place;
    return place + 1 == slots ? (long)all - 1 : NONE;
}

static VizLabel style(const VizMatrix *m, bool number) {
    return (VizLabel){.role = number ? "cell" : "position",
                      .size = NUMBER,
                      .ink = viz_rgb(number ? VIZ_INK : VIZ_GREY),
                      .user = !number && m->user};
}

/* A column as wide as its widest number or, up to a limit, its widest label. */
static double cell_width(VizCanvas *canvas, const VizMatrix *m, int digits) {
    char text[VIZ_NUMBER_ROOM], widest[VIZ_NUMBER_ROOM] = "00";
    for (size_t i = 0; i < m->rows * m->columns; i++) {
        if (m->masked && m->masked[i]) continue;
        viz_cell(m->values[i], digits, text);
        if (strlen(text) > strlen(widest)) strcpy(widest, text);
    }
    VizLabel number = style(m, true), label = style(m, false);
    double names = viz_label_widest(canvas, m->column_labels, m->columns, &label);
    return fmax(viz_label_width(canvas, widest, &number), fmin(names, 48)) + AIR;
}

static void record(VizCanvas *canvas, const VizMatrix *m) {
    for (size_t i = 0; i < m->rows * m->columns; i++) {
        size_t r = i / m->columns, c = i % m->columns;
        bool masked = m->masked && m->masked[i];
        viz_csv(canvas,
                &(VizRow){.panel = m->name,
                          .row = m->row_labels ? m->row_labels[r] : NULL,
                          .column = m->column_labels ? m->column_labels[c] : NULL,
                          .row_number = (double)r,
                          .column_number = (double)c,
                          .value = m->values[i],
                          .no_value = masked,
                          .note = masked ? "masked" : ""});
    }
}

static VizScale scale_of(const VizMatrix *m) {
    VizScale scale = m->scale;
    bool given = scale.low != scale.high;
    for (size_t i = 0; !given && i < m->rows * m->columns; i++) {
        if ((m->masked && m->masked[i]) || !isfinite(m->values[i])) continue;
        scale.low = fmin(scale.low, m->values[i]);
        scale.high = fmax(scale.high, m->values[i]);
    }
    if (scale.ramp == VIZ_RAMP_AUTO)
        scale.ramp = scale.low < 0 ? VIZ_RAMP_SIGNED : VIZ_RAMP_BLUE;
    return scale;
}

/* One entry. The full ramp would shout beside numbers: its lighter half does. */
static void draw_entry(VizCanvas *canvas, const VizMatrix *m, const VizScale *scale,
                       VizRect box, size_t i, int digits) {
    VizRect inner = {box.x, box.y, box.w - 1, box.h - 1};
    VizRgb ground = viz_rgb(VIZ_WHITE);
    if (m->masked && m->masked[i]) {
        viz_hatch_rect(canvas, inner);
        return;
    }
    if (!isfinite(m->values[i]))
        ground = viz_rgb(VIZ_PALE);
    else if (!m->plain)
        ground = viz_scale_rgb(scale, 0.5 * m->values[i]);
    viz_fill(canvas, inner, ground);
    VizLabel how = style(m, true);
    how.align = 1;
    how.ink = viz_ink_on(ground);
    how.inside = box;
    char text[VIZ_NUMBER_ROOM];
    viz_label(canvas, viz_cell(m->values[i], digits, text),
              box.x + box.w - AIR / 2 - 0.5,
              viz_label_middle(box.y + box.h / 2 - 0.5, how.size), &how);
}

static void draw_dots(VizCanvas *canvas, const VizMatrix *m, VizRect box) {
    VizLabel how = style(m, false);
    how.role = "dots";
    how.align = 0.5;
    viz_label(canvas, DOTS, box.x + box.w / 2,
              viz_label_middle(box.y + box.h / 2, how.size), &how);
}

static void draw_marks(VizCanvas *canvas, const VizMatrix *m, VizRect at, size_t rows,
                       size_t columns) {
    unsigned char *shown = m->marked ? viz_scratch(canvas, rows * columns, 1) : NULL;
    if (!shown) return;
    for (size_t p = 0; p < rows * columns; p++) {
        long r = entry_at(m->rows, rows, p / columns);
        long c = entry_at(m->columns, columns, p % columns);
        shown[p] =
            r != NONE && c != NONE && m->marked[(size_t)r * m->columns + (size_t)c];
    }
    viz_heat_marks(canvas, at, rows, columns, shown);
    free(shown);
}

/* Square brackets at both sides. */
static void draw_brackets(VizCanvas *canvas, VizRect at) {
    for (int right = 0; right < 2; right++) {
        double x = right ? at.x + at.w + 2 : at.x - 3, in = right ? x - 4 : x + 4;
        double top = at.y - 2.5, bottom = at.y + at.h + 1.5;
        viz_line(canvas, x, top, x, bottom, 1, viz_rgb(VIZ_INK));
        viz_line(canvas, x, top, in, top, 1, viz_rgb(VIZ_INK));
        viz_line(canvas, x, bottom, in, bottom, 1, viz_rgb(VIZ_INK));
    }
}

static void draw_labels(VizCanvas *canvas, const VizMatrix *m, VizRect at, size_t rows,
                        size_t columns, double left) {
    VizLabel how = style(m, false);
    double w = at.w / (double)columns;
    how.align = 1;
    how.width = left;
    for (size_t p = 0; m->row_labels && p < rows; p++) {
        long r = entry_at(m->rows, rows, p);
        if (r != NONE)
            viz_label(canvas, m->row_labels[r], at.x - AIR - 2,
                      viz_label_middle(at.y + ((double)p + 0.5) * LINE, how.size),
                      &how);
    }
    how.align = 0.5;
    how.width = w - 2;
    for (size_t p = 0; m->column_labels && p < columns; p++) {
        long c = entry_at(m->columns, columns, p);
        if (c != NONE)
            viz_label(canvas, m->column_labels[c], at.x + ((double)p + 0.5) * w,
                      at.y - 5, &how);
    }
}

/* "Q [4 x 8]" above, cut off rect. */
static void draw_name(VizCanvas *canvas, VizRect *rect, const VizMatrix *m) {
    if (!m->name) return;
    VizLabel name = {.role = "caption", .face = VIZ_BOLD};
    VizLabel shape = {
        .role = "shape", .size = VIZ_SIZE_SMALL, .ink = viz_rgb(VIZ_GREY)};
    VizRect strip = viz_cut_top(rect, 18);
    char text[64];
    snprintf(text, sizeof text, "[%zu \xC3\x97 %zu]", m->rows, m->columns);
    double room = viz_label_width(canvas, text, &shape);
    name.width = fmax(strip.w - room - AIR, 20);
    double width = fmin(viz_label_width(canvas, m->name, &name), name.width);
    viz_label(canvas, m->name, strip.x, strip.y + 10, &name);
    viz_label(canvas, text, strip.x + width + AIR, strip.y + 10, &shape);
}

VizRect viz_matrix(VizCanvas *canvas, VizRect rect, const VizMatrix *m) {
    draw_name(canvas, &rect, m);
    if (!m->rows || !m->columns) {
        viz_nothing(canvas, rect, m->name);
        return rect;
    }
    record(canvas, m);
    VizLabel how = style(m, false);
    int digits = viz_cell_digits(m->values, m->rows * m->columns);
    double left = viz_label_widest(canvas, m->row_labels, m->rows, &how);
    left = fmin(left, 0.3 * rect.w);
    viz_cut_left(&rect, left + AIR);
    viz_cut_top(&rect, m->column_labels ? LINE : 4);
    double width = cell_width(canvas, m, digits);
    size_t columns = places(m->columns, rect.w - AIR, width);
    size_t rows = places(m->rows, rect.h - 4, LINE);
    VizRect at = {rect.x, rect.y, width * (double)columns, LINE * (double)rows};
    viz_shape(canvas, at, "matrix: %zu x %zu, shown %zu x %zu", m->rows, m->columns,
              rows, columns);
    if (rows < m->rows || columns < m->columns)
        viz_note(canvas,
                 "%s: of %zu x %zu entries %zu x %zu places are shown, the last ones "
                 "at the end; the .csv has all.",
                 m->name ? m->name : "a matrix", m->rows, m->columns, rows, columns);
    VizScale scale = scale_of(m);
    for (size_t p = 0; p < rows * columns; p++) {
        long r = entry_at(m->rows, rows, p / columns);
        long c = entry_at(m->columns, columns, p % columns);
        VizRect box = {at.x + width * (double)(p % columns),
                       at.y + LINE * (double)(p / columns), width, LINE};
        if (r == NONE || c == NONE)
            draw_dots(canvas, m, box);
        else
            draw_entry(canvas, m, &scale, box, (size_t)r * m->columns + (size_t)c,
                       digits);
    }
    draw_marks(canvas, m, at, rows, columns);
    draw_labels(canvas, m, at, rows, columns, left);
    draw_brackets(canvas, at);
    return at;
}
