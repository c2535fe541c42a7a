#include "viz/heatcells.h"
#include "viz/label.h"
#include "viz/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NUMBER_SIZES[] = {VIZ_SIZE_TEXT, VIZ_SIZE_SMALL, VIZ_SIZE_TINY};
static const double GAP_FROM = 9; /* cells of this size get a white seam */

static bool is_masked(const VizHeatMap *map, size_t i) {
    return map->masked && map->masked[i];
}

static VizRect cell(VizRect area, const VizHeatMap *map, size_t r, size_t c) {
    double w = area.w / (double)map->columns, h = area.h / (double)map->rows;
    return (VizRect){area.x + (double)c * w, area.y + (double)r * h, w, h};
}

void viz_heat_range(const VizHeatMap *map, double *low, double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < map->rows * map->columns; i++) {
        if (is_masked(map, i) || !isfinite(map->values[i])) continue;
        *low = fmin(*low, map->values[i]);
        *high = fmax(*high, map->values[i]);
    }
    if (*low > *high) *low = *high = 0;
}

double viz_heat_number_size(VizCanvas *canvas, const VizHeatMap *map, double width,
                            double height) {
    size_t count = map->rows * map->columns, longest = 0;
    int digits = viz_cell_digits(map->values, count);
    char text[VIZ_NUMBER_ROOM], widest[VIZ_NUMBER_ROOM] = "0";
    for (size_t i = 0; i < count; i++) {
        if (is_masked(map, i)) continue;
        viz_cell(map->values[i], digits, text);
        if (strlen(text) <= longest) continue;
        longest = strlen(text);
        strcpy(widest, text);
    }
    for (size_t i = 0; i < sizeof NUMBER_SIZES / sizeof *NUMBER_SIZES; i++) {
        VizLabel how = {.size = NUMBER_SIZES[i]};
        if (viz_label_width(canvas, widest, &how) <= width - 4 &&
            1.2 * NUMBER_SIZES[i] <= height)
            return NUMBER_SIZES[i];
    }
    return 0;
}

/* Small maps: one rectangle a cell, with a seam of paper between. */
static void draw_rects(VizCanvas *canvas, VizRect area, const VizHeatMap *map,
                       bool numbered) {
    for (size_t r = 0; r < map->rows; r++)
        for (size_t c = 0; c < map->columns; c++) {
            size_t i = r * map->columns + c;
            VizRect box = cell(area, map, r, c);
            if (is_masked(map, i)) continue;
            if (box.w >= GAP_FROM && box.h >= GAP_FROM) {
                box.w -= 1;
                box.h -= 1;
            }
            if (isfinite(map->values[i])) {
                viz_fill(canvas, box, viz_scale_rgb(&map->scale, map->values[i]));
                continue;
            }
            viz_fill(canvas, box, viz_rgb(VIZ_PALE));
            if (!numbered)
                viz_line(canvas, box.x, box.y, box.x + box.w, box.y + box.h, 0.7,
                         viz_rgb(VIZ_GREY));
        }
}

static unsigned pixel(VizRgb c) {
    return 0xff000000u | (unsigned)lround(255 * c.r) << 16 |
           (unsigned)lround(255 * c.g) << 8 | (unsigned)lround(255 * c.b);
}

/* Large maps: one image, `side` pixels a cell, because thousands of small rectangles
 * leave seams where their soft edges meet and make huge vector files. */
static void draw_image(VizCanvas *canvas, VizRect area, const VizHeatMap *map) {
    int side = (int)fmax(1, ceil(2 * area.w / (double)map->columns));
    int w = side * (int)map->columns, h = side * (int)map->rows;
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, w, h);
    if (cairo_surface_status(image) != CAIRO_STATUS_SUCCESS) {
        viz_fail(canvas, "no memory for a map of %zu x %zu cells", map->rows,
                 map->columns);
        cairo_surface_destroy(image);
        return;
    }
    unsigned *pixels = (unsigned *)(void *)cairo_image_surface_get_data(image);
    size_t stride = (size_t)cairo_image_surface_get_stride(image) / sizeof *pixels;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            size_t i = (size_t)(y / side) * map->columns + (size_t)(x / side);
            if (is_masked(map, i)) continue; /* stays transparent, the hatch shows */
            bool cross = x % side == y % side;
            VizRgb rgb = isfinite(map->values[i])
                             ? viz_scale_rgb(&map->scale, map->values[i])
                             : viz_rgb(cross ? VIZ_GREY : VIZ_PALE);
            pixels[(size_t)y * stride + (size_t)x] = pixel(rgb);
        }
    cairo_surface_mark_dirty(image);
    cairo_t *cr = canvas->cr;
    cairo_save(cr);
    cairo_translate(cr, area.x, area.y);
    cairo_scale(cr, area.w / w, area.h / h);
    cairo_set_source_surface(cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_paint(cr);
    cairo_restore(cr);
    cairo_surface_destroy(image);
}

/* All masked cells as one hatched area, runs of a row joined. */
static void draw_mask(VizCanvas *canvas, VizRect area, const VizHeatMap *map) {
    bool any = false;
    for (size_t r = 0; map->masked && r < map->rows; r++)
        for (size_t c = 0, end; c < map->columns; c = end) {
            end = c + 1;
            if (!map->masked[r * map->columns + c]) continue;
            while (end < map->columns && map->masked[r * map->columns + end]) end++;
            VizRect first = cell(area, map, r, c);
            cairo_rectangle(canvas->cr, first.x, first.y, first.w * (double)(end - c),
                            first.h);
            any = true;
        }
    if (any) viz_hatch(canvas);
}

static void draw_numbers(VizCanvas *canvas, VizRect area, const VizHeatMap *map,
                         double size) {
    int digits = viz_cell_digits(map->values, map->rows * map->columns);
    for (size_t r = 0; r < map->rows; r++)
        for (size_t c = 0; c < map->columns; c++) {
            size_t i = r * map->columns + c;
            if (is_masked(map, i)) continue;
            VizRect box = cell(area, map, r, c);
            bool number = isfinite(map->values[i]);
            VizRgb ground =
                number ? viz_scale_rgb(&map->scale, map->values[i]) : viz_rgb(VIZ_PALE);
            VizLabel how = {.role = "cell",
                            .size = size,
                            .align = 0.5,
                            .ink = viz_ink_on(ground),
                            .inside = box};
            char text[VIZ_NUMBER_ROOM];
            viz_label(canvas, viz_cell(map->values[i], digits, text),
                      box.x + box.w / 2 - 0.5,
                      viz_label_middle(box.y + box.h / 2 - 0.5, size), &how);
        }
}

static bool is_marked(const unsigned char *marked, size_t rows, size_t columns,
                      size_t r, size_t c) {
    return r < rows && c < columns && marked[r * columns + c];
}

/* A line where a marked cell borders on one that is not; r - 1 of 0 is out of range. */
void viz_heat_marks(VizCanvas *canvas, VizRect area, size_t rows, size_t columns,
                    const unsigned char *marked) {
    double w = area.w / (double)columns, h = area.h / (double)rows;
    double thick = fmin(2, w / 4);
    VizRgb green = viz_rgb(VIZ_GREEN);
    cairo_set_line_cap(canvas->cr, CAIRO_LINE_CAP_SQUARE);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            if (!marked[r * columns + c]) continue;
            double x = area.x + w * (double)c - 0.5, y = area.y + h * (double)r - 0.5;
            if (!is_marked(marked, rows, columns, r - 1, c))
                viz_line(canvas, x, y, x + w, y, thick, green);
            if (!is_marked(marked, rows, columns, r + 1, c))
                viz_line(canvas, x, y + h, x + w, y + h, thick, green);
            if (!is_marked(marked, rows, columns, r, c - 1))
                viz_line(canvas, x, y, x, y + h, thick, green);
            if (!is_marked(marked, rows, columns, r, c + 1))
                viz_line(canvas, x + w, y, x + w, y + h, thick, green);
        }
    cairo_set_line_cap(canvas->cr, CAIRO_LINE_CAP_BUTT);
}

void viz_heat_cells(VizCanvas *canvas, VizRect area, const VizHeatMap *map,
                    double number_size) {
    draw_mask(canvas, area, map);
    if (map->columns > VIZ_HEAT_NUMBERED || map->rows > VIZ_HEAT_NUMBERED)
        draw_image(canvas, area, map);
    else
        draw_rects(canvas, area, map, number_size > 0);
    if (number_size > 0) draw_numbers(canvas, area, map, number_size);
    viz_outline(canvas,
                (VizRect){area.x - 0.5, area.y - 0.5, area.w + 0.5, area.h + 0.5}, 0.7,
                viz_rgb(VIZ_GREY));
    if (map->marked) viz_heat_marks(canvas, area, map->rows, map->columns, map->marked);
}
