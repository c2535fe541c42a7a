#include "viz/blocks.h"
#include "viz/canvas.h"
#include "viz/csv.h"
#include "viz/label.h"

#include <math.h>
#include <stdio.h>

static const double LARGEST = 30, AIR = 6, SEAM_FROM = 5;

enum { NO_BLOCK = 255 };

static VizLabel row_style(double align) {
    return (VizLabel){.role = "row", .size = VIZ_SIZE_SMALL, .align = align};
}

static const VizKey *state_of(const VizBlocks *blocks, size_t i) {
    return blocks->state[i] < blocks->state_count ? &blocks->states[blocks->state[i]]
                                                  : NULL;
}

static void record(VizCanvas *canvas, const VizBlocks *blocks) {
    size_t unknown = 0;
    for (size_t i = 0; i < blocks->rows * blocks->columns; i++) {
        const VizKey *state = state_of(blocks, i);
        if (blocks->state[i] == NO_BLOCK) continue;
        unknown += state == NULL;
        size_t r = i / blocks->columns, c = i % blocks->columns;
        viz_csv(canvas,
                &(VizRow){.panel = blocks->panel,
                          .row = blocks->row_labels ? blocks->row_labels[r] : NULL,
                          .row_number = (double)r,
                          .column_number = (double)c,
                          .value = blocks->state[i],
                          .note = state ? state->name : "unknown state"});
    }
    if (unknown)
        viz_note(canvas, "%s: %zu blocks have an unknown state and are crossed out.",
                 blocks->panel ? blocks->panel : "the blocks", unknown);
}

static void draw_block(VizCanvas *canvas, const VizBlocks *blocks, VizRect box,
                       size_t i) {
    const VizKey *state = state_of(blocks, i);
    double side = fmin(box.w, box.h),
           seam = side >= SEAM_FROM ? fmin(1.5, side / 8) : 0;
    box.w -= seam;
    box.h -= seam;
    if (!state) {
        viz_outline(canvas, box, 0.7, viz_rgb(VIZ_GREY));
        viz_line(canvas, box.x, box.y, box.x + box.w, box.y + box.h, 0.7,
                 viz_rgb(VIZ_GREY));
        return;
    }
    if (state->hatched)
        viz_hatch_rect(canvas, box);
    else
        viz_fill(canvas, box, viz_rgb(state->color));
    if (seam > 0 && (state->hatched || state->color == VIZ_WHITE))
        viz_outline(canvas, box, 0.7, viz_rgb(VIZ_GREY));
    if (!blocks->labels || !blocks->labels[i]) return;
    VizLabel how = {.role = "block",
                    .size = side >= 20 ? VIZ_SIZE_SMALL : VIZ_SIZE_TINY,
                    .align = 0.5,
                    .user = blocks->user,
                    .ink =
                        viz_ink_on(viz_rgb(state->hatched ? VIZ_WHITE : state->color)),
                    .inside = box};
    if (viz_label_width(canvas, blocks->labels[i], &how) <= box.w - 2 &&
        1.2 * how.size <= box.h)
        viz_label(canvas, blocks->labels[i], box.x + box.w / 2,
                  viz_label_middle(box.y + box.h / 2, how.size), &how);
}

static void draw_columns(VizCanvas *canvas, const VizBlocks *blocks, VizRect at,
                         double side) {
    VizLabel how = {.role = "position",
                    .size = VIZ_SIZE_SMALL,
                    .ink = viz_rgb(VIZ_GREY),
                    .align = 0.5,
                    .user = blocks->user && blocks->column_labels};
    char number[32];
    snprintf(number, sizeof number, "%zu", blocks->columns);
    double room = viz_label_width(canvas, number, &how) + AIR;
    if (blocks->column_labels) /* words: each has its own column or is cut */
        room =
            fmin(viz_label_widest(canvas, blocks->column_labels, blocks->columns, &how),
                 40) +
            AIR / 2;
    size_t step = 1;
    for (int i = 0; (double)step * side < room && step < blocks->columns; i++)
        step = step * (i % 3 == 1 ? 5 : 4) / 2;
    how.width = fmax((double)step * side - AIR / 2, 10);
    for (size_t c = 0; c < blocks->columns; c += step) {
        snprintf(number, sizeof number, "%zu", c);
        viz_label(canvas, blocks->column_labels ? blocks->column_labels[c] : number,
                  at.x + ((double)c + 0.5) * side, at.y - 4, &how);
    }
}

/* Labels at the left, notes at the right; every k-th row when rows are thin. */
static void draw_rows(VizCanvas *canvas, const VizBlocks *blocks, VizRect at,
                      double side, double left, double right) {
    size_t step = (size_t)fmax(1, ceil(VIZ_SIZE_SMALL * 1.2 / side));
    for (size_t r = 0; r < blocks->rows; r += step) {
        VizLabel how = row_style(1);
        double y = viz_label_middle(at.y + ((double)r + 0.5) * side, how.size);
        how.width = left;
        if (blocks->row_labels)
            viz_label(canvas, blocks->row_labels[r], at.x - AIR, y, &how);
        how = row_style(0);
        how.ink = viz_rgb(VIZ_GREY);
        how.width = right;
        if (blocks->row_notes)
            viz_label(canvas, blocks->row_notes[r], at.x + at.w + AIR, y, &how);
    }
}

VizRect viz_blocks(VizCanvas *canvas, VizRect rect, const VizBlocks *blocks) {
    viz_caption(canvas, &rect, blocks->panel);
    if (!blocks->rows || !blocks->columns) {
        viz_nothing(canvas, rect, blocks->panel);
        return rect;
    }
    record(canvas, blocks);
    if (!blocks->no_key)
        viz_cut_top(&rect,
                    viz_key(canvas, rect, blocks->states, blocks->state_count) + 2);
    VizLabel how = row_style(0);
    double left = viz_label_widest(canvas, blocks->row_labels, blocks->rows, &how);
    double right = viz_label_widest(canvas, blocks->row_notes, blocks->rows, &how);
    left = fmin(left, 0.3 * rect.w);
    right = fmin(right, 0.3 * rect.w);
    viz_cut_left(&rect, left > 0 ? left + AIR : 0);
    viz_cut_right(&rect, right > 0 ? right + AIR : 0);
    bool named = blocks->positions || blocks->column_labels;
    viz_cut_top(&rect, named ? VIZ_SIZE_SMALL + 5 : 0);
    double side = fmin(rect.w / (double)blocks->columns, rect.h / (double)blocks->rows);
    side = fmin(side, blocks->largest > 0 ? blocks->largest : LARGEST);
    if (side >= 4) side = floor(2 * side) / 2;
    VizRect at = {rect.x, rect.y, side * (double)blocks->columns,
                  side * (double)blocks->rows};
    viz_shape(canvas, at, "blocks: %zu x %zu, %zu states", blocks->rows,
              blocks->columns, blocks->state_count);
    for (size_t i = 0; i < blocks->rows * blocks->columns; i++) {
        if (blocks->state[i] == NO_BLOCK) continue;
        double x = at.x + side * (double)(i % blocks->columns);
        double y = at.y + side * (double)(i / blocks->columns);
        draw_block(canvas, blocks, (VizRect){x, y, side, side}, i);
    }
    draw_rows(canvas, blocks, at, side, left, right);
    if (named) draw_columns(canvas, blocks, at, side);
    return at;
}
