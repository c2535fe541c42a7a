#define _GNU_SOURCE /* qsort_r */
#include "viz/timeline.h"
#include "viz/canvas.h"
#include "viz/csv.h"
#include "viz/label.h"
#include "viz/page.h"

#include <math.h>
#include <stdlib.h>

static const double AIR = 6, THICKEST = 26;

/* Which lane of its row each interval stands in, and how many lanes a row has. */
typedef struct {
    size_t *lane;  /* [count] */
    size_t *lanes; /* [row_count] */
    size_t *order; /* [count] by start */
} Lanes;

static bool is_drawable(const VizTimeline *line, const VizInterval *one) {
    return one->row < line->row_count && isfinite(one->start) && isfinite(one->end) &&
           one->end >= one->start;
}

static int by_start(const void *a, const void *b, void *data) {
    const VizInterval *intervals = data;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    double x = intervals[i].start, y = intervals[j].start;
    if (x != y) return x < y ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* The first lane that is free at the start of each, in order of starts. */
static bool find_lanes(VizCanvas *canvas, const VizTimeline *line, Lanes *lanes) {
    lanes->lane = viz_scratch(canvas, line->count, sizeof *lanes->lane);
    lanes->lanes = viz_scratch(canvas, line->row_count, sizeof *lanes->lanes);
    lanes->order = viz_scratch(canvas, line->count, sizeof *lanes->order);
    if (!lanes->lane || !lanes->lanes || !lanes->order) return false;
    size_t drawable = 0;
    for (size_t i = 0; i < line->count; i++)
        if (is_drawable(line, &line->intervals[i])) lanes->order[drawable++] = i;
    qsort_r(lanes->order, drawable, sizeof *lanes->order, by_start,
            (void *)(uintptr_t)line->intervals);
    for (size_t i = 0; i < drawable; i++) {
        const VizInterval *one = &line->intervals[lanes->order[i]];
        size_t lane = 0;
        for (size_t j = i; j-- > 0;) { /* the newest of the row decides most often */
            const VizInterval *other = &line->intervals[lanes->order[j]];
            if (other->row != one->row || other->end <= one->start) continue;
            size_t taken = lanes->lane[lanes->order[j]];
            if (taken >= lane) lane = taken + 1;
        }
        lanes->lane[lanes->order[i]] = lane;
        if (lane >= lanes->lanes[one->row]) lanes->lanes[one->row] = lane + 1;
    }
    for (size_t r = 0; r < line->row_count; r++)
        if (!lanes->lanes[r]) lanes->lanes[r] = 1;
    return true;
}

static void record(VizCanvas *canvas, const VizTimeline *line) {
    size_t strange = 0;
    for (size_t i = 0; i < line->count; i++) {
        const VizInterval *one = &line->intervals[i];
        if (!is_drawable(line, one)) strange++;
        bool named = one->row < line->row_count && line->rows;
        viz_csv(canvas, &(VizRow){.panel = line->panel,
                                  .row = named ? line->rows[one->row] : NULL,
                                  .row_number = (double)one->row,
                                  .column = one->label ? one->label : "",
                                  .value = one->start,
                                  .end = one->end});
    }
    if (strange)
        viz_note(
            canvas,
            "%s: %zu intervals have no row, no numbers, or end before they start, and "
            "are left out.",
            line->panel ? line->panel : "the time line", strange);
}

static bool find_range(const VizTimeline *line, double range[4]) {
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (size_t i = 0; i < line->count; i++) {
        if (!is_drawable(line, &line->intervals[i])) continue;
        range[0] = fmin(range[0], line->intervals[i].start);
        range[1] = fmax(range[1], line->intervals[i].end);
    }
    return range[0] <= range[1];
}

/* Where the rows stand. */
typedef struct {
    const VizFrame *frame;
    const Lanes *lanes;
    double thick; /* points a lane */
    double *top;  /* [row_count] */
} Rows;

static VizRect box_of(const VizTimeline *line, const Rows *rows, size_t i) {
    const VizInterval *one = &line->intervals[i];
    double x0 = viz_frame_x(rows->frame, one->start),
           x1 = viz_frame_x(rows->frame, one->end);
    double y = rows->top[one->row] + rows->thick * (double)rows->lanes->lane[i];
    return (VizRect){x0, y, fmax(x1 - x0 - 0.7, 0.7),
                     rows->thick - fmin(1, rows->thick / 4)};
}

static VizRgb color_of(const VizInterval *one) {
    return viz_rgb(viz_turn(one->color, one->row));
}

static void draw_bar(VizCanvas *canvas, const VizTimeline *line, const Rows *rows,
                     size_t i) {
    const VizInterval *one = &line->intervals[i];
    VizRect box = box_of(line, rows, i);
    if (!one->hatched) {
        viz_fill(canvas, box, color_of(one));
        return;
    }
    viz_hatch_rect(canvas, box);
    viz_outline(canvas, box, 0.8, color_of(one));
}

/* Drawn after the marks, on a piece of the bar's own color: no line goes through words.
 */
static void draw_label(VizCanvas *canvas, const VizTimeline *line, const Rows *rows,
                       size_t i) {
    const VizInterval *one = &line->intervals[i];
    VizRect box = box_of(line, rows, i);
    VizRgb ground = one->hatched ? viz_rgb(VIZ_WHITE) : color_of(one);
    VizLabel how = {.role = "interval",
                    .size = rows->thick >= 14 ? VIZ_SIZE_SMALL : VIZ_SIZE_TINY,
                    .user = line->user,
                    .ink = viz_ink_on(ground),
                    .align = 0.5,
                    .inside = box};
    if (!one->label || 1.2 * how.size > box.h) return;
    double width = viz_label_width(canvas, one->label, &how), x = box.x + box.w / 2;
    if (width > box.w - 4) return;
    viz_fill(canvas, (VizRect){x - width / 2 - 1, box.y + 1.5, width + 2, box.h - 3},
             ground);
    viz_label(canvas, one->label, x, viz_label_middle(box.y + box.h / 2, how.size),
              &how);
}

static void draw_row_name(VizCanvas *canvas, const VizTimeline *line, const Rows *rows,
                          size_t r, double left) {
    VizRect plot = rows->frame->plot;
    double height = rows->thick * (double)rows->lanes->lanes[r], y = rows->top[r];
    VizLabel how = {.role = "row",
                    .size = height >= 12 ? VIZ_SIZE_SMALL : VIZ_SIZE_TINY,
                    .align = 1,
                    .user = line->user,
                    .width = left};
    if (r)
        viz_line(canvas, plot.x, y - 0.5, plot.x + plot.w, y - 0.5, 0.5,
                 viz_rgb(VIZ_PALE));
    if (!line->rows) return;
    if (height >= 1.2 * how.size)
        viz_label(canvas, line->rows[r], plot.x - AIR,
                  viz_label_middle(y + height / 2, how.size), &how);
    else
        viz_note(canvas, "%s: some rows are too thin for a name; the .csv has all.",
                 line->panel ? line->panel : "the time line");
}

static void draw_rows(VizCanvas *canvas, const VizTimeline *line, const Rows *rows,
                      double left, double marks_top) {
    for (size_t r = 0; r < line->row_count; r++)
        draw_row_name(canvas, line, rows, r, left);
    for (size_t i = 0; i < line->count; i++)
        if (is_drawable(line, &line->intervals[i])) draw_bar(canvas, line, rows, i);
    viz_markers(canvas, rows->frame, marks_top, line->markers, line->marker_count,
                line->panel);
    for (size_t i = 0; i < line->count; i++)
        if (is_drawable(line, &line->intervals[i])) draw_label(canvas, line, rows, i);
}

static void place_rows(VizCanvas *canvas, const VizTimeline *line,
                       const VizFrame *frame, const Lanes *lanes, Rows *rows) {
    size_t total = 0;
    for (size_t r = 0; r < line->row_count; r++) total += lanes->lanes[r];
    *rows = (Rows){.frame = frame,
                   .lanes = lanes,
                   .thick = fmin(THICKEST, frame->plot.h / (double)total),
                   .top = viz_scratch(canvas, line->row_count, sizeof *rows->top)};
    double y = frame->plot.y;
    for (size_t r = 0; rows->top && r < line->row_count; r++) {
        rows->top[r] = y;
        y += rows->thick * (double)lanes->lanes[r];
    }
}

/* The axis is drawn where the rows end, not at the bottom of a large rectangle. */
static VizRect shrink_to_rows(VizRect rect, const VizTimeline *line,
                              const Lanes *lanes) {
    size_t total = 0;
    for (size_t r = 0; r < line->row_count; r++) total += lanes->lanes[r];
    rect.h = fmin(rect.h, THICKEST * (double)total + (line->x.label ? 38 : 22));
    return rect;
}

static void draw(VizCanvas *canvas, VizRect rect, const VizTimeline *line,
                 const Lanes *lanes, const double range[4]) {
    VizLabel how = {.size = VIZ_SIZE_SMALL, .user = line->user};
    double left =
        line->rows ? viz_label_widest(canvas, line->rows, line->row_count, &how) : 0;
    left = fmin(left, 0.3 * rect.w);
    viz_cut_left(&rect, left > 0 ? left + AIR : 0);
    VizRect head = viz_cut_top(&rect, viz_markers_height(line->marker_count));
    rect = shrink_to_rows(rect, line, lanes);
    VizFrame frame;
    viz_axes_flat(canvas, rect, &line->x, range, &frame);
    viz_shape(canvas, frame.plot, "time line: %zu rows, %zu intervals, x %g to %g",
              line->row_count, line->count, frame.x.low, frame.x.high);
    Rows rows;
    place_rows(canvas, line, &frame, lanes, &rows);
    if (rows.top) draw_rows(canvas, line, &rows, left, head.y);
    free(rows.top);
}

void viz_timeline(VizCanvas *canvas, VizRect rect, const VizTimeline *line) {
    viz_caption(canvas, &rect, line->panel);
    record(canvas, line);
    double range[4] = {0, 1, 0, 1};
    if (!line->row_count || !find_range(line, range)) {
        viz_nothing(canvas, rect, line->panel);
        return;
    }
    Lanes lanes = {0};
    if (find_lanes(canvas, line, &lanes)) draw(canvas, rect, line, &lanes, range);
    free(lanes.lane);
    free(lanes.lanes);
    free(lanes.order);
}
