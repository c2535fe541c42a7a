#include "viz/boxes.h"
#include "viz/canvas.h"
#include "viz/csv.h"
#include "viz/label.h"
#include "viz/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double GAP = 14, NAME_ROOM = 34, LINE = 12.5, SMALLEST = 1.5, EMPTY = 12,
                    NARROWEST = 56, NUMBER_ROOM = 18, LEAST = 12;

enum { MOST_LINES = 8, LINE_LENGTH = 200 };

static double value_of(const VizBox *box) {
    return isfinite(box->value) && box->value > 0 ? box->value : 0;
}

static size_t lines_in(const char *text) {
    size_t lines = text && *text ? 1 : 0;
    for (const char *p = text; p && *p; p++) lines += *p == '\n';
    return lines < MOST_LINES ? lines : MOST_LINES;
}

static void record(VizCanvas *canvas, const VizBoxes *boxes) {
    size_t strange = 0;
    for (size_t i = 0; i < boxes->count; i++) {
        const VizBox *box = &boxes->boxes[i];
        strange += !isfinite(box->value) || box->value < 0;
        viz_csv(canvas, &(VizRow){.row = box->name,
                                  .column = boxes->unit ? boxes->unit : "",
                                  .value = box->value,
                                  .note = box->detail});
    }
    if (strange)
        viz_note(
            canvas,
            "boxes whose value is negative or not a number: %zu; they have no area.",
            strange);
}

static void draw_detail(VizCanvas *canvas, const VizBox *box, double x, double y,
                        double width, size_t lines) {
    VizLabel how = {.role = "detail",
                    .size = VIZ_SIZE_SMALL,
                    .ink = viz_rgb(VIZ_GREY),
                    .align = 0.5,
                    .width = width,
                    .user = box->user};
    const char *p = box->detail;
    for (size_t i = 0; p && *p && i < lines; i++, y += LINE) {
        size_t length = strcspn(p, "\n");
        char line[LINE_LENGTH];
        snprintf(line, sizeof line, "%.*s",
                 (int)(length < LINE_LENGTH ? length : LINE_LENGTH - 1), p);
        viz_label(canvas, line, x, y, &how);
        p += length + (p[length] == '\n');
    }
}

static void draw_box(VizCanvas *canvas, VizRect square, const VizBox *box) {
    if (value_of(box) > 0) {
        viz_fill(canvas, square,
                 viz_rgb(box->color == VIZ_AUTO ? VIZ_BLUE : box->color));
        return;
    }
    cairo_set_dash(canvas->cr, (double[]){2, 2}, 2, 0);
    viz_outline(canvas, square, 1, viz_rgb(VIZ_GREY));
    cairo_set_dash(canvas->cr, NULL, 0, 0);
}

static void draw_words(VizCanvas *canvas, const VizBoxes *boxes, const VizBox *box,
                       VizRect slot, double number_y, size_t lines) {
    double x = slot.x + slot.w / 2;
    VizLabel name = {.role = "name",
                     .size = VIZ_SIZE_SMALL,
                     .face = VIZ_BOLD,
                     .align = 0.5,
                     .width = slot.w,
                     .lines = 2};
    viz_label(canvas, box->name, x, slot.y + 10, &name);
    char number[VIZ_NUMBER_ROOM], text[80];
    viz_number(value_of(box), boxes->number, number);
    VizLabel how = {
        .role = "value", .size = VIZ_SIZE_SMALL, .align = 0.5, .width = slot.w};
    bool unit = boxes->unit && value_of(box) > 0;
    snprintf(text, sizeof text, "%s%s%.40s", number, unit ? " " : "",
             unit ? boxes->unit : "");
    viz_label(canvas, text, x, number_y, &how);
    draw_detail(canvas, box, x, number_y + LINE + 1, slot.w, lines);
}

/* Squares, because a square keeps small and large ones comparable by eye: the side goes
 * by the root of the number. */
static double side_of(const VizBox *box, double per_root, size_t *tiny) {
    double value = value_of(box);
    if (value <= 0) return EMPTY;
    double side = per_root * sqrt(value);
    if (side >= SMALLEST) return side;
    ++*tiny;
    return SMALLEST;
}

/* How the stations are laid out. */
typedef struct {
    size_t shown, rows, columns;
    size_t lines;    /* of detail, each */
    double most;     /* the largest square's side */
    double per_root; /* side of a square for the number 1 */
} Plan;

/* As many in a row as are wide enough to be named, as many rows as there is height for;
 * squares come first, then lines of detail. */
static Plan plan_of(VizRect rect, const VizBoxes *boxes, double largest, size_t lines) {
    Plan p = {.shown = boxes->count, .lines = lines};
    double across = floor((rect.w + GAP) / (NARROWEST + GAP));
    double down = floor((rect.h + GAP) / (NAME_ROOM + NUMBER_ROOM + LEAST + GAP));
    p.columns = across < 1 ? 1 : (size_t)across;
    if (p.columns > boxes->count) p.columns = boxes->count;
    p.rows = (boxes->count + p.columns - 1) / p.columns;
    if ((double)p.rows > fmax(1, down)) {
        p.rows = (size_t)fmax(1, down);
        p.shown = p.rows * p.columns;
    }
    VizRect slot = viz_grid(rect, p.rows, p.columns, GAP, 0);
    double left = slot.h - NAME_ROOM - NUMBER_ROOM - LEAST;
    if (LINE * (double)p.lines > left) p.lines = (size_t)(fmax(0, left) / LINE);
    p.most = slot.h - NAME_ROOM - NUMBER_ROOM - LINE * (double)p.lines;
    p.most = fmax(4, fmin(slot.w, p.most));
    p.per_root = largest > 0 ? p.most / sqrt(largest) : 0;
    return p;
}

static void draw_stations(VizCanvas *canvas, const VizBoxes *boxes, VizRect rect,
                          const Plan *plan) {
    double end = 0;
    size_t tiny = 0;
    for (size_t i = 0; i < plan->shown; i++) {
        const VizBox *box = &boxes->boxes[i];
        VizRect slot = viz_grid(rect, plan->rows, plan->columns, GAP, i);
        double side = fmin(side_of(box, plan->per_root, &tiny), plan->most);
        double x = slot.x + slot.w / 2, middle = slot.y + NAME_ROOM + plan->most / 2;
        if (i % plan->columns && !boxes->no_arrows)
            viz_arrow(canvas, end + 3, middle, x - side / 2 - 3, middle,
                      viz_rgb(VIZ_GREY));
        draw_box(canvas, (VizRect){x - side / 2, middle - side / 2, side, side}, box);
        draw_words(canvas, boxes, box, slot, middle + plan->most / 2 + 13, plan->lines);
        end = x + side / 2;
    }
    if (tiny) viz_note(canvas, "boxes too small to be seen, drawn larger: %zu.", tiny);
    if (plan->shown < boxes->count)
        viz_note(canvas, "only the first %zu of %zu boxes find room; the .csv has all.",
                 plan->shown, boxes->count);
}

void viz_boxes(VizCanvas *canvas, VizRect rect, const VizBoxes *boxes) {
    if (!boxes->count) {
        viz_nothing(canvas, rect, "the boxes");
        return;
    }
    record(canvas, boxes);
    double largest = 0;
    size_t lines = 0;
    for (size_t i = 0; i < boxes->count; i++) {
        largest = fmax(largest, value_of(&boxes->boxes[i]));
        size_t here = lines_in(boxes->boxes[i].detail);
        if (here > lines) lines = here;
    }
    Plan plan = plan_of(rect, boxes, largest, lines);
    viz_shape(canvas, rect, "boxes: %zu of %zu in %zu rows, largest %g", plan.shown,
              boxes->count, plan.rows, largest);
    if (plan.lines < lines)
        viz_note(canvas, "of %zu lines below a box %zu find room; the .csv has all.",
                 lines, plan.lines);
    draw_stations(canvas, boxes, rect, &plan);
}
