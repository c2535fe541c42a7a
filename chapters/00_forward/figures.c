#include "chapters/00_forward/figures.h"
#include "chapters/common/gallery.h"
#include "chapters/common/labels.h"
#include "chapters/common/quantity.h"
#include "viz/bars.h"
#include "viz/boxes.h"
#include "viz/page.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST_BOXES = 64,
    SPLIT_LAYERS = 6, /* up to so many layers each has four boxes; more have one */
    ONE_ROW = 13,     /* boxes that stand in one row; then there is room below */
    DETAIL = 160,
};

static const double STRIP = 232;

typedef struct {
    VizBox box[MOST_BOXES];
    char name[MOST_BOXES][48], detail[MOST_BOXES][DETAIL];
    size_t count;
} Strip;

/* What a station belongs to; the first word is the name of the box. */
static const struct {
    const char *station, *box;
    VizColor color;
} groups[] = {
    {"W_q", "qkv", VIZ_BLUE},         {"W_k", "qkv", VIZ_BLUE},
    {"W_v", "qkv", VIZ_BLUE},         {"rotate q", "qkv", VIZ_BLUE},
    {"rotate k", "qkv", VIZ_BLUE},    {"attention", "attention", VIZ_VERMILLION},
    {"W_o", "output", VIZ_SKY},       {"W_gate", "MLP", VIZ_GREEN},
    {"W_up", "MLP", VIZ_GREEN},       {"SwiGLU", "MLP", VIZ_GREEN},
    {"W_down", "MLP", VIZ_GREEN},     {"embedding", "embedding", VIZ_BLUE},
    {"logits", "logits", VIZ_PURPLE},
};
enum { GROUPS = sizeof groups / sizeof *groups };

static VizBox *add(Strip *strip, const char *name, VizColor color) {
    const size_t i = strip->count;
    if (i == MOST_BOXES) return NULL;
    snprintf(strip->name[i], sizeof strip->name[i], "%s", name);
    strip->detail[i][0] = 0;
    strip->box[i] =
        (VizBox){.name = strip->name[i], .detail = strip->detail[i], .color = color};
    strip->count++;
    return &strip->box[i];
}

/* The shape and the first numbers that leave a station. */
static void tell_numbers(const ForwardBox *from, char out[DETAIL]) {
    int used = snprintf(out, DETAIL, "[%zu]", from->out);
    for (size_t i = 0; i < from->numbers && i < 3; i++)
        used += snprintf(out + used, DETAIL - (size_t)used, "\n%.3f",
                         (double)from->number[i]);
    if (from->out > 3) snprintf(out + used, DETAIL - (size_t)used, "\n...");
}

/* One station goes into the last box if it belongs there, else opens the next one. */
static void add_station(Strip *strip, const ForwardBox *from, bool split) {
    size_t g = 0;
    char name[48];
    while (g < GROUPS && strcmp(groups[g].station, from->name) != 0) g++;
    VizBox *last = strip->count ? &strip->box[strip->count - 1] : NULL;
    if (from->layer == FORWARD_NO_LAYER && g == GROUPS) return; /* the final norm */
    if (from->layer == FORWARD_NO_LAYER)
        snprintf(name, sizeof name, "%s", groups[g].box);
    else if (!split)
        snprintf(name, sizeof name, "layer %zu", from->layer);
    else if (g < GROUPS)
        snprintf(name, sizeof name, "layer %zu %s", from->layer, groups[g].box);
    else if (last)
        return; /* norms and sums of a layer have no box of their own */
    if (!last || strcmp(last->name, name) != 0)
        last = add(strip, name, split && g < GROUPS ? groups[g].color : VIZ_BLUE);
    if (!last) return;
    last->value += (double)from->multiply_adds;
    tell_numbers(from, strip->detail[last - strip->box]);
}

/* The two ends: the token that goes in and the likeliest one to come out. */
static void add_end(Strip *strip, const char *name, const char *piece, int id,
                    const char *more) {
    VizBox *box = add(strip, name, VIZ_AUTO);
    if (!box) return;
    snprintf(strip->detail[box - strip->box], DETAIL, "\"%.100s\"\nid %d\n%s", piece,
             id, more);
    box->user = true;
}

static void add_newest(Strip *strip, const ForwardResult *r) {
    char piece[LABEL_ROOM], more[40];
    const ForwardToken *newest = &r->token[r->tokens - 1];
    snprintf(more, sizeof more, "position %zu", r->tokens - 1);
    add_end(strip, "newest token",
            r->tokens == 1 ? "<s>" : label_of(newest->piece, piece), newest->id, more);
}

static void add_next(Strip *strip, const ForwardResult *r) {
    char piece[LABEL_ROOM], more[40];
    snprintf(more, sizeof more, "%.1f%%", 100 * r->choice[0].probability);
    add_end(strip, "next token", label_of(r->choice[0].piece, piece), r->choice[0].id,
            more);
}

static void make_strip(Strip *strip, const ForwardResult *r) {
    const bool split = r->model.weights.shape.layers <= SPLIT_LAYERS;
    strip->count = 0;
    add_newest(strip, r);
    for (size_t i = 0; i < r->boxes; i++) add_station(strip, &r->box[i], split);
    if (strip->count == MOST_BOXES) strip->count--; /* room for the end */
    add_next(strip, r);
}

static void draw_parts(VizCanvas *canvas, VizRect at, const ForwardResult *r) {
    static const char *const count = "multiply-adds";
    const char *names[PARTS];
    double values[PARTS];
    for (size_t p = 0; p < PARTS; p++) {
        names[p] = part_name((Part)p);
        values[p] = (double)r->part[p];
    }
    viz_bars(canvas, at,
             &(VizBars){.panel = "where the multiply-adds are",
                        .bars = PARTS,
                        .parts = 1,
                        .values = values,
                        .bar_names = names,
                        .part_names = &count,
                        .totals = true});
}

static void draw_choices(VizCanvas *canvas, VizRect at, const ForwardResult *r) {
    static const char *const share = "probability";
    char text[FORWARD_CHOICES][LABEL_ROOM];
    const char *names[FORWARD_CHOICES];
    double values[FORWARD_CHOICES];
    for (size_t c = 0; c < r->choices; c++) {
        names[c] = label_of(r->choice[c].piece, text[c]);
        values[c] = r->choice[c].probability;
    }
    viz_bars(canvas, at,
             &(VizBars){.panel = "the likeliest next tokens",
                        .bars = r->choices,
                        .parts = 1,
                        .values = values,
                        .bar_names = names,
                        .part_names = &share,
                        .user = true,
                        .totals = true});
}

void forward_figure(VizCanvas *canvas, const void *data) {
    const ForwardResult *r = data;
    char title[200], a[QUANTITY_TEXT];
    const double all = (double)r->multiply_adds;
    const double mlp = 100 * (double)r->part[PART_MLP] / all;
    const double pairs =
        100 * (double)(r->part[PART_SCORES] + r->part[PART_VALUES]) / all;
    snprintf(title, sizeof title,
             "One token costs %s multiply-adds: %.0f%% in MLPs, %.1f%% in attention",
             quantity_count(r->multiply_adds, a), mlp, pairs);
    VizRect rest = viz_page(canvas, title,
                            "the newest token's way, from left to right; area of a "
                            "box: its multiply-adds; below: how many numbers leave it, "
                            "and the first of them");
    viz_say(canvas,
            "The newest of %zu tokens goes through %zu layers in %zu stations and "
            "takes %s multiply-adds. Attention sees %zu rows. The likeliest next token "
            "has id %d and probability %.3f.",
            r->tokens, r->model.weights.shape.layers, r->boxes, a, r->context,
            r->choice[0].id, r->choice[0].probability);
    Strip strip;
    make_strip(&strip, r);
    VizRect top = strip.count > ONE_ROW ? rest : viz_cut_top(&rest, STRIP);
    viz_boxes(canvas, top, &(VizBoxes){.boxes = strip.box, .count = strip.count});
    if (strip.count > ONE_ROW) return;
    draw_parts(canvas, viz_grid(rest, 1, 2, 30, 0), r);
    draw_choices(canvas, viz_grid(rest, 1, 2, 30, 1), r);
}

bool forward_draw(const ForwardResult *result, const Options *options, Error *err) {
    Memory memory = {0};
    Gallery gallery;
    bool done = gallery_open(&gallery, options, &memory, err) &&
                gallery_draw(&gallery, "forward", forward_figure, result, err);
    if (done) gallery_print(&gallery, options, stdout);
    gallery_close(&gallery);
    return done;
}
