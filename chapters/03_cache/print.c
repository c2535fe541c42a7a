#include "chapters/03_cache/print.h"
#include "chapters/common/describe.h"
#include "chapters/common/quantity.h"
#include "chapters/common/units.h"

#include <string.h>

enum { SHOWN_ROWS = 20 };

void cache_print_model(const CacheResult *result, FILE *stream) {
    char prompt[QUANTITY_TEXT];
    describe_model(&result->model, stream);
    const bool random = strncmp(result->model.name, "random:", 7) == 0;
    fprintf(stream, "prompt: %s, <s> included; the text as it is drawn%s:\n",
            quantity_of(result->prompt_tokens, "token", "tokens", prompt),
            random ? " (untrained: noise)" : "");
}

static void add_step(Table *table, const CacheStep *step, bool prefill,
                     const Units *unit) {
    char text[QUANTITY_TEXT];
    const uint64_t without = counters_flops(&step->recompute.counters);
    const uint64_t with = counters_flops(&step->cached.counters);
    table_add(table, prefill ? "prefill" : "decode");
    units_add(table, step->context, 1);
    units_add(table, without, unit->flops);
    units_add(table, with, unit->flops);
    table_add(table, quantity_ratio(without, with, text));
    units_add(table, step->cache_bytes, unit->bytes);
    table_add(table, quantity_seconds(step->recompute.seconds, text));
    table_add(table, quantity_seconds(step->cached.seconds, text));
}

/* The table in one choice of units; *fits says whether a terminal holds it. Printed if
 * it does, or if it is the last choice. */
static bool print_in(const CacheResult *result, const Units *unit, bool last,
                     bool *fits, FILE *stream, Error *err) {
    const TableColumn columns[] = {
        {"step", "", true},
        {"N", "tokens", false},
        {"recompute", unit->flops_name, false},
        {"cached", unit->flops_name, false},
        {"ratio", "", false},
        {"live cache", unit->bytes_name, false},
        {"recompute", "time", false},
        {"cached", "time", false},
    };
    const size_t shown = table_shown(result->steps, SHOWN_ROWS);
    Table table;
    if (!table_open(&table, columns, sizeof columns / sizeof *columns, shown,
                    result->memory, err))
        return false;
    for (size_t i = 0; i < shown; i++) {
        size_t step = table_pick(result->steps, shown, i);
        add_step(&table, &result->step[step], step == 0, unit);
    }
    *fits = table_width(&table) <= TERMINAL_COLUMNS;
    if (*fits || last) table_print(&table, stream);
    table_close(&table);
    return true;
}

bool cache_print_table(const CacheResult *result, FILE *stream, Error *err) {
    fputs("recompute works through all N tokens in every step, cached through the new "
          "ones:\n\n",
          stream);
    const size_t shown = table_shown(result->steps, SHOWN_ROWS);
    bool fits = false;
    for (size_t i = 0; !fits && i < UNITS; i++)
        if (!print_in(result, &units[i], i + 1 == UNITS, &fits, stream, err))
            return false;
    char all[QUANTITY_TEXT];
    if (shown < result->steps)
        fprintf(stream, "(%zu of %s shown; --trace FILE writes them all)\n", shown,
                quantity_of(result->steps, "step", "steps", all));
    return true;
}

static void print_rows_worked(const CacheResult *result, FILE *stream) {
    uint64_t without = 0, with = 0;
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT], d[QUANTITY_TEXT];
    for (size_t i = 0; i < result->steps; i++) {
        without += result->step[i].context;
        with += result->step[i].rows;
    }
    const CacheStep *last = &result->step[result->steps - 1];
    fprintf(
        stream, "rows worked through: %s without, %s with; last step: %s against %s\n",
        quantity_count(without, a), quantity_count(with, b),
        quantity_of(last->context, "row", "rows", c), quantity_count(last->rows, d));
}

static void print_bills(const CacheResult *result, FILE *stream) {
    const uint64_t without = counters_flops(&result->recompute.counters);
    const uint64_t with = counters_flops(&result->cached.counters);
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];
    fprintf(stream, "FLOPs in all: %s without, %s with: ratio %s\n",
            quantity_count(without, a), quantity_count(with, b),
            quantity_ratio(without, with, c));
    fprintf(stream, "time in all: %s without, %s with (shown, never judged)\n",
            quantity_seconds(result->recompute.seconds, a),
            quantity_seconds(result->cached.seconds, b));
}

void cache_print_totals(const CacheResult *result, FILE *stream) {
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];
    if (result->steps == 0) return;
    print_rows_worked(result, stream);
    print_bills(result, stream);
    fprintf(stream, "cache bytes (%s): %s predicted, %s reserved\n", result->kind,
            quantity_count(result->predicted, a),
            quantity_count(result->bytes.reserved, b));
    fprintf(stream, "of these %s live, %s wasted; beside them %s of tables and lists\n",
            quantity_count(result->bytes.live, a),
            quantity_count(result->bytes.wasted, b),
            quantity_count(result->bytes.metadata, c));
    if (result->rows_copied > 0)
        fprintf(
            stream, "copied while growing: %s rows, %s bytes; most at once: %s bytes\n",
            quantity_count(result->rows_copied, a),
            quantity_count(result->bytes_copied, b), quantity_count(result->peak, c));
    if (result->ended)
        fprintf(stream, "the model ended its text after %s\n",
                quantity_of(result->steps, "token", "tokens", a));
}

/* Under another rule than the full model's: what the bits are the same as, and from where
 * on the full model says something else. */
static void print_rule(const CacheResult *result, FILE *stream) {
    fprintf(stream, "that is: as recomputing with %s;\n", result->words);
    if (result->full_differs == FULL_MODEL_SAME &&
        result->full_compared < result->steps)
        fprintf(stream,
                "the full model agrees for the %zu steps that its context of %zu "
                "allows\n",
                result->full_compared, result->model.weights.shape.context);
    else if (result->full_differs == FULL_MODEL_SAME)
        fprintf(stream, "so far the full model agrees\n");
    else
        fprintf(stream, "the full model differs from step %zu on\n",
                result->full_differs);
}

void cache_print_verdict(const CacheResult *result, FILE *stream) {
    const CacheDifference *d = &result->difference;
    char steps[QUANTITY_TEXT];
    if (!d->differs)
        fprintf(stream, "same bits: all %s%s%s\n",
                quantity_of(result->steps, "step", "steps", steps),
                *result->digest ? ", digest " : "", result->digest);
    if (!d->differs && !result->full && result->steps > 0) print_rule(result, stream);
    if (!d->differs) return;
    if (d->in_rows)
        fprintf(
            stream,
            "bits differ: first at step %zu, layer %zu, position %zu, in a row of K "
            "or V\n",
            d->step, d->layer, d->position);
    else
        fprintf(stream,
                "bits differ: first at step %zu, layer %zu (the logits), position %zu; "
                "every row of K and V is equal\n",
                d->step, d->layer, d->position);
}

void cache_print_next(FILE *stream) {
    fputs("read: core/model/cached.c  next: kvstep forward (what a step computes)\n"
          "exercise: predict the last ratio for --tokens 128, then run it\n",
          stream);
}
