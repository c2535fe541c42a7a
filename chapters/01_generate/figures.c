#include "chapters/01_generate/figures.h"
#include "chapters/common/gallery.h"
#include "chapters/common/quantity.h"
#include "core/count/formula.h"
#include "viz/bars.h"
#include "viz/blocks.h"
#include "viz/film.h"

#include <stdio.h>

enum { FRAMES = 6, PER_ROW = 3, MOST_SIDE = 64 };

bool generate_figures_open(GenerateFigures *f, const GenerateResult *result,
                           const Options *options, Memory *memory, Error *err) {
    const size_t steps = result->steps;
    Rule rule;
    rule_full(&rule, &result->model.weights.shape, &format_f32);
    *f = (GenerateFigures){.result = result,
                           .dense = options->dense,
                           .rule = rule.layer[0],
                           .memory = memory};
    f->flops = memory_new(memory, steps, 2 * sizeof *f->flops, err);
    f->context_name = memory_new(memory, steps, sizeof *f->context_name, err);
    f->context_text = memory_new(memory, steps, sizeof *f->context_text, err);
    if (!f->flops || !f->context_name || !f->context_text) {
        generate_figures_close(f);
        return false;
    }
    for (size_t i = 0; i < steps; i++) {
        const GenerateStep *step = &result->step[i];
        const size_t n = step->context, old = step->tokens_same;
        f->flops[2 * i] = (double)(counters_flops(&step->counters) - step->done_before);
        f->flops[2 * i + 1] = (double)step->done_before;
        snprintf(f->context_text[i], sizeof f->context_text[i], "%zu", n);
        f->context_name[i] = f->context_text[i];
        f->pairs += formula_pairs(&f->rule, 0, n, f->dense);
        f->pairs_new += formula_pairs(&f->rule, old, n - old, f->dense);
    }
    return true;
}

void generate_figures_close(GenerateFigures *f) {
    memory_free(f->memory, f->flops);
    memory_free(f->memory, f->context_name);
    memory_free(f->memory, f->context_text);
    *f = (GenerateFigures){0};
}

void generate_figure_staircase(VizCanvas *canvas, const void *data) {
    const GenerateFigures *f = data;
    const GenerateResult *r = f->result;
    const GenerateStep *last = &r->step[r->steps - 1];
    const uint64_t flops = counters_flops(&last->counters);
    const uint64_t all = counters_flops(&r->total);
    char title[200], a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];
    snprintf(title, sizeof title,
             r->steps == 1 ? "In the first step nothing was done before: %.0f%% of it"
                           : "%.1f%% of the last step's work was done in the step "
                             "before",
             100 * (double)last->done_before / (double)flops);
    VizRect rest =
        viz_page(canvas, title,
                 "one bar per step, height: its FLOPs without a cache; grey: "
                 "for tokens whose rows of K and V are the same bits as in "
                 "the step before");
    viz_say(canvas,
            "The last of %zu steps sees %zu tokens and takes %s FLOPs; %s of them go "
            "into %zu tokens that had the same rows before. Of all steps together, %s "
            "FLOPs, %.1f%% was done before.",
            r->steps, last->context, quantity_count(flops, a),
            quantity_count(last->done_before, b), last->tokens_same,
            quantity_count(all, c), 100 * (double)r->done_before / (double)all);
    static const char *const names[] = {"new", "done before"};
    static const VizColor colors[] = {VIZ_VERMILLION, VIZ_SILVER};
    viz_bars(canvas, rest,
             &(VizBars){.x_label = "N, tokens seen",
                        .y = {.label = "FLOPs of the step"},
                        .bars = r->steps,
                        .parts = 2,
                        .values = f->flops,
                        .bar_names = f->context_name,
                        .part_names = names,
                        .colors = colors});
}

enum { AGAIN, NEW, TO_COME, DROPPED, STATES, NOTHING = 255 };

static const VizKey states[STATES] = {
    {"computed before, computed again", VIZ_SILVER, 0},
    {"new", VIZ_VERMILLION, 0},
    {"of a later step", VIZ_PALE, 0},
    {"masked: computed and dropped", VIZ_WHITE, 1}};

static size_t step_of(const GenerateFigures *f, size_t frames, size_t frame) {
    return frames < 2 ? 0 : (f->result->steps - 1) * frame / (frames - 1);
}

static unsigned char state_of(const GenerateFigures *f, const GenerateStep *step,
                              size_t q, size_t k) {
    if (q >= step->context || k >= step->context)
        return rule_sees(&f->rule, q, k) ? TO_COME : NOTHING;
    if (!rule_sees(&f->rule, q, k)) return f->dense ? DROPPED : NOTHING;
    return q < step->tokens_same ? AGAIN : NEW;
}

/* All frames have the last one's side, so that the triangle grows before the eye. A
 * square of several pairs shows the newest of them. */
static void draw_frame(VizCanvas *canvas, VizRect at, const void *data, size_t frame) {
    const GenerateFigures *f = data;
    const GenerateResult *r = f->result;
    const size_t frames = r->steps < FRAMES ? r->steps : FRAMES;
    const GenerateStep *step = &r->step[step_of(f, frames, frame)];
    const size_t n = r->step[r->steps - 1].context;
    const size_t by = (n + MOST_SIDE - 1) / MOST_SIDE, side = (n + by - 1) / by;
    unsigned char state[MOST_SIDE * MOST_SIDE];
    for (size_t cell = 0; cell < side * side; cell++) {
        const size_t q = cell / side * by, k = cell % side * by;
        size_t newest = q + by - 1;
        if (newest >= step->context && q < step->context) newest = step->context - 1;
        state[cell] = state_of(f, step, newest, k);
    }
    char panel[40];
    snprintf(panel, sizeof panel, "step %zu", step->step);
    viz_blocks(canvas, at,
               &(VizBlocks){.rows = side,
                            .columns = side,
                            .state = state,
                            .states = states,
                            .state_count = STATES,
                            .no_key = true});
}

void generate_figure_triangle(VizCanvas *canvas, const void *data) {
    const GenerateFigures *f = data;
    const GenerateResult *r = f->result;
    const size_t frames = r->steps < FRAMES ? r->steps : FRAMES;
    char title[200], captions[FRAMES][120], a[QUANTITY_TEXT], b[QUANTITY_TEXT];
    const char *caption[FRAMES];
    snprintf(title, sizeof title,
             "Without a cache %s pairs of tokens are scored, %s of them new",
             quantity_count(f->pairs, a), quantity_count(f->pairs_new, b));
    VizRect rest = viz_page(
        canvas, title,
        "one triangle per step shown, of one head in one layer; a square: the score of "
        "a query (row) and a key (column)");
    viz_say(canvas,
            "Without a cache the triangle of scores is computed anew in each of %zu "
            "steps: %s pairs per head and layer, %s of them new.",
            r->steps, a, b);
    for (size_t i = 0; i < frames; i++) {
        const GenerateStep *step = &r->step[step_of(f, frames, i)];
        const size_t n = step->context, old = step->tokens_same;
        snprintf(
            captions[i], sizeof captions[i], "step %zu: %s, %s new", step->step,
            quantity_of(formula_pairs(&f->rule, 0, n, f->dense), "pair", "pairs", a),
            quantity_count(formula_pairs(&f->rule, old, n - old, f->dense), b));
        caption[i] = captions[i];
    }
    viz_cut_top(&rest, viz_key(canvas, rest, states, f->dense ? STATES : DROPPED) + 8);
    viz_film(canvas, rest,
             &(VizFilm){.frames = frames,
                        .captions = caption,
                        .draw = draw_frame,
                        .data = f,
                        .per_row = PER_ROW});
}

bool generate_draw(const GenerateResult *result, const Options *options, Error *err) {
    Memory memory = {0};
    GenerateFigures figures;
    Gallery gallery;
    if (!generate_figures_open(&figures, result, options, &memory, err)) return false;
    bool done =
        gallery_open(&gallery, options, &memory, err) &&
        gallery_draw(&gallery, "staircase", generate_figure_staircase, &figures, err) &&
        gallery_draw(&gallery, "triangle", generate_figure_triangle, &figures, err);
    if (done) gallery_print(&gallery, options, stdout);
    gallery_close(&gallery);
    generate_figures_close(&figures);
    return done;
}
