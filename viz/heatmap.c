#include "viz/heatmap.h"
#include "viz/csv.h"
#include "viz/heatcells.h"
#include "viz/label.h"
#include "viz/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double LABEL_FROM = 10; /* points a cell needs to have its own label */
static const double LARGEST = 44, AXIS_LINE = 13, AIR = 4;

/* Where things stand, and how the labels are turned. */
typedef struct {
    VizRect cells;
    double side;        /* points a cell */
    double number_size; /* 0: no numbers */
    bool own_labels;    /* each row and column has its label; else position ticks */
    bool upright;       /* column labels are turned */
    double column_room; /* points above the cells for column labels */
    double row_room;    /* points left of the cells for row labels */
} Plan;

static VizLabel label_style(const VizHeatMap *map) {
    return (VizLabel){.role = "position", .size = VIZ_SIZE_SMALL, .user = map->user};
}

static double cell_side(const VizHeatMap *map, double width, double height) {
    double largest = map->largest > 0 ? map->largest : LARGEST;
    double side = fmin(width / (double)map->columns, height / (double)map->rows);
    side = fmax(fmin(side, largest), 0.05);
    return side >= 4 ? floor(2 * side) / 2 : side; /* edges on whole pixels */
}

/* Labels need room, room makes cells smaller, small cells drop their labels. */
static Plan plan(VizCanvas *canvas, VizRect rect, const VizHeatMap *map) {
    VizLabel how = label_style(map);
    Plan p = {0};
    VizRect area = rect;
    viz_cut_left(&area, map->row_axis ? AXIS_LINE : 0);
    viz_cut_top(&area, map->column_axis ? AXIS_LINE : 0);
    double left = 0.25 * rect.w, top = 0.25 * rect.h, widest = 0;
    bool labels = map->row_labels || map->column_labels;
    if (labels && map->rows <= VIZ_HEAT_NUMBERED && map->columns <= VIZ_HEAT_NUMBERED) {
        left = fmin(left, viz_label_widest(canvas, map->row_labels, map->rows, &how));
        widest = viz_label_widest(canvas, map->column_labels, map->columns, &how);
        top = fmin(top, widest);
        p.side = cell_side(map, area.w - left - AIR, area.h - VIZ_SIZE_SMALL - AIR);
        p.upright = widest > p.side - AIR;
        if (p.upright) p.side = cell_side(map, area.w - left - AIR, area.h - top - AIR);
        p.own_labels = p.side >= LABEL_FROM;
    }
    p.column_room = VIZ_SIZE_SMALL + AIR;
    if (!p.own_labels) { /* positions: the widest is the last one */
        char last[32];
        snprintf(last, sizeof last, "%zu", map->rows - 1);
        left = viz_label_width(canvas, last, &how);
        p.upright = false;
    } else if (p.upright) {
        p.column_room = top + AIR;
    }
    p.row_room = left;
    viz_cut_left(&area, left + AIR);
    viz_cut_top(&area, p.column_room);
    p.side = cell_side(map, area.w, area.h);
    p.cells = (VizRect){ceil(area.x), ceil(area.y), p.side * (double)map->columns,
                        p.side * (double)map->rows};
    if (!map->no_numbers && map->columns <= VIZ_HEAT_NUMBERED)
        p.number_size = viz_heat_number_size(canvas, map, p.side, p.side);
    return p;
}

static VizScale scale_of(const VizHeatMap *map, bool numbered) {
    VizScale scale = map->scale;
    if (scale.low == scale.high) {
        viz_heat_range(map, &scale.low, &scale.high);
        scale.low = fmin(scale.low, 0);
        scale.high = fmax(scale.high, 0);
    }
    if (scale.ramp == VIZ_RAMP_AUTO) {
        bool small =
            map->columns <= VIZ_HEAT_NUMBERED && map->rows <= VIZ_HEAT_NUMBERED;
        scale.ramp = scale.low < 0       ? VIZ_RAMP_SIGNED
                     : numbered || small ? VIZ_RAMP_BLUE
                                         : VIZ_RAMP_CIVIDIS;
    }
    if (scale.ramp == VIZ_RAMP_SIGNED) {
        scale.high = fmax(fabs(scale.low), fabs(scale.high));
        scale.low = -scale.high;
    }
    return scale;
}

VizScale viz_heatmap_scale(VizCanvas *canvas, VizRect rect, const VizHeatMap *map) {
    if (!map->rows || !map->columns) return map->scale;
    if (map->panel) viz_cut_top(&rect, 18);
    return scale_of(map, plan(canvas, rect, map).number_size > 0);
}

static void draw_own_labels(VizCanvas *canvas, VizRect rect, const VizHeatMap *map,
                            const Plan *p) {
    VizRect cells = p->cells;
    VizLabel how = label_style(map);
    how.align = 1;
    how.width = fmax(p->row_room, 8);
    how.inside = rect;
    for (size_t r = 0; map->row_labels && r < map->rows; r++)
        viz_label(canvas, map->row_labels[r], cells.x - AIR,
                  viz_label_middle(cells.y + ((double)r + 0.5) * p->side, how.size),
                  &how);
    how.upright = p->upright;
    how.align = p->upright ? 0 : 0.5;
    how.width = p->upright ? p->column_room - AIR : p->side;
    for (size_t c = 0; map->column_labels && c < map->columns; c++) {
        double x = cells.x + ((double)c + 0.5) * p->side;
        viz_label(canvas, map->column_labels[c],
                  p->upright ? viz_label_middle(x, how.size) : x, cells.y - AIR, &how);
    }
}

/* Every 1st, 2nd, 5th, 10th ... position has its number. `by` cells of the data stand
 * behind one cell drawn. */
static void draw_positions(VizCanvas *canvas, const VizHeatMap *map, const Plan *p,
                           size_t by) {
    size_t step = 1, most = map->rows > map->columns ? map->rows : map->columns;
    VizLabel how = {
        .role = "position", .size = VIZ_SIZE_SMALL, .ink = viz_rgb(VIZ_GREY)};
    char text[32];
    snprintf(text, sizeof text, "%zu", most * by);
    double room = viz_label_width(canvas, text, &how) + 6;
    double unit = p->side / (double)by;
    for (int i = 0; (double)step * unit < room; i++)
        step = step * (i % 3 == 1 ? 5 : 4) / 2;
    for (size_t at = 0; at < most * by; at += step) {
        double place = ((double)at + 0.5) * unit;
        snprintf(text, sizeof text, "%zu", at);
        how.align = 0.5;
        if (at < map->columns * by)
            viz_label(canvas, text, p->cells.x + place, p->cells.y - AIR, &how);
        how.align = 1;
        if (at < map->rows * by)
            viz_label(canvas, text, p->cells.x - AIR,
                      viz_label_middle(p->cells.y + place, how.size), &how);
    }
}

static void draw_axis_names(VizCanvas *canvas, const VizHeatMap *map, const Plan *p,
                            VizRect rect) {
    VizLabel how = {.role = "axis", .size = VIZ_SIZE_SMALL, .ink = viz_rgb(VIZ_GREY)};
    how.width = fmax(p->cells.w, rect.x + rect.w - p->cells.x);
    viz_label(canvas, map->column_axis, p->cells.x, p->cells.y - p->column_room - 2,
              &how);
    how.upright = true;
    how.align = 1;
    how.width = fmax(p->cells.h, 30);
    viz_label(canvas, map->row_axis, rect.x + VIZ_SIZE_SMALL - 1, p->cells.y, &how);
}

static void record(VizCanvas *canvas, const VizHeatMap *map) {
    for (size_t i = 0; i < map->rows * map->columns; i++) {
        size_t r = i / map->columns, c = i % map->columns;
        bool masked = map->masked && map->masked[i];
        viz_csv(canvas,
                &(VizRow){.panel = map->panel,
                          .row = map->row_labels ? map->row_labels[r] : NULL,
                          .column = map->column_labels ? map->column_labels[c] : NULL,
                          .row_number = (double)r,
                          .column_number = (double)c,
                          .value = map->values[i],
                          .no_value = masked,
                          .note = masked ? "masked" : ""});
    }
}

/* Says what the colors cannot: values that are none, values beyond a given scale. */
static void tell_strange(VizCanvas *canvas, const VizHeatMap *map) {
    size_t strange = 0, beyond = 0;
    bool given = map->scale.low != map->scale.high;
    for (size_t i = 0; i < map->rows * map->columns; i++) {
        double value = map->values[i];
        if (map->masked && map->masked[i]) continue;
        strange += isfinite(value) == 0;
        beyond += given && isfinite(value) &&
                  (value < map->scale.low || value > map->scale.high);
    }
    const char *name = map->panel ? map->panel : "the map";
    if (beyond)
        viz_note(canvas,
                 "%s: cells beyond the ends of the scale, shown as its ends: %zu.",
                 name, beyond);
    if (strange)
        viz_note(canvas, "%s: cells that are not numbers, drawn grey: %zu.", name,
                 strange);
}

/* A map to be shown in blocks of `by` x `by` cells. */
static void tell_shrunk(VizCanvas *canvas, const VizHeatMap *map, size_t by) {
    viz_note(
        canvas,
        "%s: %zu x %zu cells are shown as blocks of %zu x %zu, each by the maximum "
        "of its cells that are numbers; the .csv holds the blocks.",
        map->panel ? map->panel : "the map", map->rows, map->columns, by, by);
}

static VizRect draw(VizCanvas *canvas, VizRect rect, VizHeatMap map, size_t by) {
    record(canvas, &map);
    Plan p = plan(canvas, rect, &map);
    map.scale = scale_of(&map, p.number_size > 0);
    viz_shape(canvas, p.cells, "heat map: %zu x %zu cells, scale %g to %g, ramp %d%s",
              map.rows, map.columns, map.scale.low, map.scale.high, (int)map.scale.ramp,
              p.number_size > 0 ? ", numbers" : "");
    viz_heat_cells(canvas, p.cells, &map, p.number_size);
    if (p.own_labels)
        draw_own_labels(canvas, rect, &map, &p);
    else
        draw_positions(canvas, &map, &p, by);
    draw_axis_names(canvas, &map, &p, rect);
    return p.cells;
}

/* Blocks of cells until no side has more than VIZ_HEAT_MOST, nor two to a pixel. */
static size_t shrinking(const VizHeatMap *map, VizRect rect) {
    size_t most = map->rows > map->columns ? map->rows : map->columns;
    size_t room = (size_t)fmax(16, fmin(rect.w, rect.h) * 1.5);
    if (room > VIZ_HEAT_MOST) room = VIZ_HEAT_MOST;
    return most <= room ? 1 : (most + room - 1) / room;
}

VizRect viz_heatmap(VizCanvas *canvas, VizRect rect, const VizHeatMap *map) {
    viz_caption(canvas, &rect, map->panel);
    if (!map->rows || !map->columns) {
        viz_nothing(canvas, rect, map->panel);
        return rect;
    }
    tell_strange(canvas, map);
    size_t by = shrinking(map, rect);
    if (by == 1) return draw(canvas, rect, *map, 1);
    double *values;
    unsigned char *masked;
    VizHeatMap small = viz_heat_shrink(canvas, map, by, &values, &masked);
    tell_shrunk(canvas, map, by);
    VizRect cells = small.rows ? draw(canvas, rect, small, by) : rect;
    free(values);
    free(masked);
    return cells;
}
