#include "chapters/03_cache/figures.h"
#include "chapters/common/quantity.h"
#include "viz/blocks.h"
#include "viz/label.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_FRAMES = 5,
    MOST_COLUMNS = 96, /* more tokens share a square */
    SPLIT_LAYERS = 3,  /* up to so many layers K and V have rows of their own */
    MOST_ROWS = 12,
    KEPT = 0,
    NEW,
    UNSEEN,
    EMPTY,
    STATES
};

static const double WORDS = 104, ROW_NAMES = 64, POSITIONS = 14, AIR = 14;

static const VizKey states[STATES] = {
    {"there before this step", VIZ_BLUE, 0},
    {"new in this step", VIZ_VERMILLION, 0},
    {"out of sight of the newest query", VIZ_SILVER, 0},
    {"still empty", VIZ_PALE, 0}};

/* What every frame has in common. */
typedef struct {
    const CacheFigures *f;
    size_t rows, columns;
    size_t by;     /* tokens behind a square */
    size_t frames; /* steps shown */
    double side;   /* of a square */
    char name[MOST_ROWS][32];
    const char *row_name[MOST_ROWS];
    char column_text[MOST_COLUMNS][24];
    const char *column_name[MOST_COLUMNS];
} Plan;

/* Whether some row of the last step is out of every query's sight. */
static bool has_window(const CacheFigures *f) {
    bool window = false;
    for (size_t l = 0; l < f->rule.layers; l++)
        window |= f->rule.layer[l].recent < f->n;
    return window;
}

static size_t layers_of(const CacheFigures *f) {
    return f->result->model.weights.shape.layers;
}

/* Rows are layers; K and V apart when there are few. Of very many layers the first ones
 * stand for all: each gets one row of K and V a token. */
static void plan_rows(Plan *plan) {
    const size_t layers = layers_of(plan->f);
    const bool split = layers <= SPLIT_LAYERS;
    plan->rows = split ? 2 * layers : layers < MOST_ROWS ? layers : MOST_ROWS;
    for (size_t r = 0; r < plan->rows; r++) {
        if (split)
            snprintf(plan->name[r], sizeof plan->name[r], "layer %zu %s", r / 2,
                     r % 2 ? "V" : "K");
        else if (r == 10 && layers > MOST_ROWS)
            snprintf(plan->name[r], sizeof plan->name[r], "...");
        else
            snprintf(plan->name[r], sizeof plan->name[r], "layer %zu",
                     r == 11 ? layers - 1 : r);
        plan->row_name[r] = plan->name[r];
    }
}

static void plan_columns(Plan *plan) {
    const size_t n = plan->f->n;
    plan->by = (n + MOST_COLUMNS - 1) / MOST_COLUMNS;
    plan->columns = (n + plan->by - 1) / plan->by;
    for (size_t c = 0; c < plan->columns; c++) {
        snprintf(plan->column_text[c], sizeof plan->column_text[c], "%zu",
                 c * plan->by);
        plan->column_name[c] = plan->column_text[c];
    }
}

/* As many frames as leave the squares as large as the width does, up to a size that is
 * large enough. */
static void plan_frames(Plan *plan, VizRect rest) {
    const double rows = (double)plan->rows, columns = (double)plan->columns;
    const double wide = fmin((rest.w - WORDS - ROW_NAMES) / columns, 30);
    const size_t steps = plan->f->result->steps;
    for (plan->frames = steps < MOST_FRAMES ? steps : MOST_FRAMES;; plan->frames--) {
        const double frames = (double)plan->frames;
        const double high = (rest.h - AIR * (frames - 1)) / frames - POSITIONS;
        plan->side = fmin(wide, high / rows);
        if (plan->frames <= 2 || plan->side >= fmin(wide, 18)) break;
    }
}

/* Steps shown: the first, the last, and some evenly between. */
static size_t step_of(const CacheFigures *f, size_t frames, size_t frame) {
    return frames < 2 ? 0 : (f->result->steps - 1) * frame / (frames - 1);
}

/* At the left of a frame: which step, how many tokens, how many bytes. */
static void draw_words(VizCanvas *canvas, VizRect at, const CacheStep *step) {
    char text[3][80], a[QUANTITY_TEXT];
    snprintf(text[0], sizeof text[0], "step %zu", step->step);
    snprintf(text[1], sizeof text[1], "%s",
             quantity_of(step->context, "token", "tokens", a));
    snprintf(text[2], sizeof text[2], "%s bytes", quantity_count(step->cache_bytes, a));
    VizLabel how = {.role = "step", .face = VIZ_BOLD, .width = at.w};
    viz_label(canvas, text[0], at.x, at.y + 10, &how);
    how = (VizLabel){.role = "step", .size = VIZ_SIZE_SMALL, .width = at.w};
    for (size_t i = 1; i < 3; i++)
        viz_label(canvas, text[i], at.x, at.y + 10 + 13 * (double)i, &how);
}

/* Layer of a row. */
static size_t layer_of(const Plan *plan, size_t row) {
    const size_t layers = layers_of(plan->f);
    if (layers <= SPLIT_LAYERS) return row / 2;
    return row + 1 == MOST_ROWS ? layers - 1 : row;
}

static unsigned char state_of(const Plan *plan, const CacheStep *step, size_t row,
                              size_t column) {
    const size_t first = column * plan->by, old = step->context - step->rows;
    if (first >= step->context) return EMPTY;
    size_t last = first + plan->by - 1;
    if (last >= step->context) last = step->context - 1;
    if (last >= old) return NEW;
    const LayerRule *rule = &plan->f->rule.layer[layer_of(plan, row)];
    return rule_sees(rule, step->context - 1, last) ? KEPT : UNSEEN;
}

static void draw_frame(VizCanvas *canvas, VizRect at, const Plan *plan,
                       const CacheStep *step, bool positions) {
    const size_t cells = plan->rows * plan->columns;
    unsigned char state[MOST_ROWS * MOST_COLUMNS];
    for (size_t i = 0; i < cells; i++)
        state[i] = state_of(plan, step, i / plan->columns, i % plan->columns);
    char panel[40];
    snprintf(panel, sizeof panel, "step %zu", step->step);
    VizRect words = viz_cut_left(&at, WORDS);
    if (positions) viz_cut_top(&words, POSITIONS);
    draw_words(canvas, words, step);
    viz_blocks(canvas, at,
               &(VizBlocks){.rows = plan->rows,
                            .columns = plan->columns,
                            .state = state,
                            .states = states,
                            .state_count = STATES,
                            .row_labels = plan->row_name,
                            .column_labels = positions ? plan->column_name : NULL,
                            .no_key = true,
                            .largest = plan->side});
}

static void say(VizCanvas *canvas, const Plan *plan) {
    const CacheResult *r = plan->f->result;
    const CacheStep *last = &r->step[r->steps - 1];
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];
    viz_say(canvas,
            "After %s the cache has %s that a query sees: one row of K and one of V "
            "per token in each "
            "of %s.",
            quantity_of(last->context, "token", "tokens", a),
            quantity_bytes(last->cache_bytes, b),
            quantity_of(layers_of(plan->f), "layer", "layers", c));
    if (r->steps > 1)
        viz_say(canvas,
                "The last step writes %s bytes and leaves all rows that were there as "
                "they are.",
                quantity_count(last->cached.counters.kv_bytes_written, a));
    if (layers_of(plan->f) > MOST_ROWS)
        viz_say(canvas, "Of %zu layers %d are drawn; the others look the same.",
                layers_of(plan->f), MOST_ROWS - 1);
}

static void title_of(const CacheFigures *f, char *out, size_t size) {
    const CacheResult *r = f->result;
    const CacheStep *last = &r->step[r->steps - 1];
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];
    if (r->steps == 1)
        snprintf(out, size, "The first step puts %s into the cache: %s bytes",
                 quantity_of(last->context, "token", "tokens", a),
                 quantity_count(last->cache_bytes, b));
    else if (has_window(f))
        snprintf(out, size, "Each step adds %s bytes; of %s, %s can still be seen",
                 quantity_count(last->cached.counters.kv_bytes_written, a),
                 quantity_of(last->context, "token", "tokens", b),
                 quantity_bytes(last->cache_bytes, c));
    else
        snprintf(out, size,
                 "Each step adds %s bytes and touches nothing else: %s take %s",
                 quantity_count(last->cached.counters.kv_bytes_written, c),
                 quantity_of(last->context, "token", "tokens", a),
                 quantity_bytes(last->cache_bytes, b));
}

static void subtitle_of(const Plan *plan, char *out, size_t size) {
    char tokens[40] = "one token";
    char a[QUANTITY_TEXT];
    if (plan->by > 1) snprintf(tokens, sizeof tokens, "%zu tokens", plan->by);
    snprintf(out, size,
             "one square: %s of %s in one layer; columns: positions in the text. The "
             "cache may hold %s",
             layers_of(plan->f) <= SPLIT_LAYERS ? "K or V" : "K and V", tokens,
             quantity_of(plan->f->capacity, "token", "tokens", a));
}

static double draw_key(VizCanvas *canvas, VizRect rest, const CacheFigures *f) {
    if (has_window(f)) return viz_key(canvas, rest, states, STATES);
    const VizKey three[] = {states[KEPT], states[NEW], states[EMPTY]};
    return viz_key(canvas, rest, three, 3);
}

void cache_figure_growth(VizCanvas *canvas, const void *data) {
    const CacheFigures *f = data;
    char title[240], subtitle[240];
    Plan plan = {.f = f};
    plan_rows(&plan);
    plan_columns(&plan);
    title_of(f, title, sizeof title);
    subtitle_of(&plan, subtitle, sizeof subtitle);
    VizRect rest = viz_page(canvas, title, subtitle);
    say(canvas, &plan);
    viz_cut_top(&rest, draw_key(canvas, rest, f) + 8);
    plan_frames(&plan, rest);
    for (size_t i = 0; i < plan.frames; i++)
        draw_frame(canvas, viz_grid(rest, plan.frames, 1, AIR, i), &plan,
                   &f->result->step[step_of(f, plan.frames, i)], i == 0);
}
