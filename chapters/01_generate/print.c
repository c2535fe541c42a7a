#include "chapters/01_generate/print.h"
#include "chapters/common/quantity.h"
#include "chapters/common/units.h"

enum { SHOWN_ROWS = 20 };

static void add_step(Table *table, const GenerateStep *step, const Units *unit) {
    const uint64_t *flops = step->counters.flops;
    const uint64_t total = counters_flops(&step->counters);
    units_add(table, step->context, 1);
    for (int part = 0; part < PARTS; part++) units_add(table, flops[part], unit->flops);
    units_add(table, total, unit->flops);
    units_add_share(table, step->done_before, total);
}

/* The table in one choice of units; *fits says whether a terminal holds it. Printed if
 * it does, or if it is the last choice. */
static bool print_in(const GenerateResult *r, const Units *unit, bool last, bool *fits,
                     FILE *stream, Error *err) {
    enum { COLUMNS = PARTS + 3 };
    TableColumn columns[COLUMNS] = {{"N", "tokens", false}};
    for (int part = 0; part < PARTS; part++)
        columns[1 + part] =
            (TableColumn){part_name((Part)part), unit->flops_name, false};
    columns[COLUMNS - 2] = (TableColumn){"total", unit->flops_name, false};
    columns[COLUMNS - 1] = (TableColumn){"done", "before", false};
    const size_t shown = table_shown(r->steps, SHOWN_ROWS);
    Table table;
    if (!table_open(&table, columns, COLUMNS, shown, r->memory, err)) return false;
    for (size_t i = 0; i < shown; i++)
        add_step(&table, &r->step[table_pick(r->steps, shown, i)], unit);
    *fits = table_width(&table) <= TERMINAL_COLUMNS;
    if (*fits || last) table_print(&table, stream);
    table_close(&table);
    return true;
}

bool generate_print_table(const GenerateResult *r, FILE *stream, Error *err) {
    fputs("Each step works through all N tokens; done before is the part of it that "
          "went\ninto rows of K and V with the same bits as in the step before:\n\n",
          stream);
    bool fits = false;
    for (size_t i = 0; !fits && i < UNITS; i++)
        if (!print_in(r, &units[i], i + 1 == UNITS, &fits, stream, err)) return false;
    const size_t shown = table_shown(r->steps, SHOWN_ROWS);
    char all[QUANTITY_TEXT];
    if (shown < r->steps)
        fprintf(stream, "(%zu of %s shown; --json has them all)\n", shown,
                quantity_of(r->steps, "step", "steps", all));
    return true;
}

static void print_last_step(const GenerateResult *r, FILE *stream) {
    const GenerateStep *last = &r->step[r->steps - 1];
    const size_t layers = r->model.weights.shape.layers;
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];
    fprintf(stream, "rows, last step: %s made (%s in %s); ",
            quantity_count(last->rows, a),
            quantity_of(last->context, "token", "tokens", b),
            quantity_of(layers, "layer", "layers", c));
    fprintf(stream, "%s had the same bits before\n", quantity_count(last->same, a));
}

/* Scores of masked pairs are what most code computes and drops. */
static void print_dense(const GenerateResult *r, FILE *stream) {
    const GenerateStep *last = &r->step[r->steps - 1];
    const uint64_t dense = counters_flops(&r->dense);
    const uint64_t causal = counters_flops(&r->causal);
    const bool full = r->model.weights.shape.layer[0].window == SHAPE_NO_WINDOW;
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT];
    fprintf(stream, "pairs per head, last step: N^2 = %s dense, %s %s causal\n",
            quantity_count(last->pairs_dense, a),
            full ? "N(N+1)/2 =" : "with the window",
            quantity_count(last->pairs_causal, b));
    fprintf(stream, "FLOPs in all: %s dense, %s causal: %.1f%% more\n",
            quantity_count(dense, a), quantity_count(causal, b),
            ((double)dense / (double)causal - 1) * 100);
}

void generate_print_totals(const GenerateResult *r, FILE *stream) {
    if (r->steps == 0) return;
    const uint64_t first = counters_flops(&r->step[0].counters);
    const uint64_t last = counters_flops(&r->step[r->steps - 1].counters);
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];
    fprintf(stream, "a step's FLOPs: first %s, last %s: ratio %s\n",
            quantity_count(first, a), quantity_count(last, b),
            quantity_ratio(last, first, c));
    print_last_step(r, stream);
    print_dense(r, stream);
    fprintf(stream, "time in all: %s (shown, never judged)\n",
            quantity_seconds(r->seconds, a));
    if (r->ended)
        fprintf(stream, "the model ended its text after %s\n",
                quantity_of(r->steps, "token", "tokens", a));
}

void generate_print_verdict(const GenerateResult *r, FILE *stream) {
    const uint64_t total = counters_flops(&r->total);
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT];
    fprintf(stream,
            "of %s FLOPs, %s (%u%%) went into rows that had the\n"
            "same bits one step earlier%s%s\n",
            quantity_count(total, a), quantity_count(r->done_before, b),
            units_percent(r->done_before, total), *r->digest ? "; digest " : "",
            r->digest);
}

void generate_print_next(FILE *stream) {
    fputs("Why the bits stay the same: kvstep attention. What is kept need not be "
          "made\nagain: kvstep cache.\n"
          "read: core/model/recompute.c  next: kvstep attention  exercise: predict "
          "the\nratio for --tokens 128, then run it\n",
          stream);
}
