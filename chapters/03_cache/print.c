#include "chapters/03_cache/print.h"
#include "chapters/common/quantity.h"
#include "chapters/common/table.h"
#include "chapters/common/text.h"

#include <string.h>

enum { SHOWN_ROWS = 20, TERMINAL = 80 };

static const char *short_name(const char *name) {
    if (strncmp(name, "random:", 7) == 0) return "random weights (untrained)";
    const char *slash = strrchr(name, '/');
    return slash && slash[1] ? slash + 1 : name;
}

void cache_print_model(const CacheResult *result, FILE *stream) {
    const Shape *shape = &result->model.weights.shape;
    const char *name = short_name(result->model.name);
    char escaped[60], parameters[QUANTITY_TEXT], prompt[QUANTITY_TEXT];
    text_escape(name, strlen(name), escaped, sizeof escaped);
    fprintf(
        stream, "model: %s: %s, dim %zu, %zu layers, %zu heads (%zu kv)\n", escaped,
        quantity_of(weights_parameters(shape), "parameter", "parameters", parameters),
        shape->dim, shape->layers, shape->layer[0].heads, shape->layer[0].kv_heads);
    fprintf(stream, "prompt: %s, <s> included; the text as it is drawn:\n",
            quantity_of(result->prompt_tokens, "token", "tokens", prompt));
}

/* Numbers as they are, or in thousands and more when the table would not fit. */
typedef struct {
    uint64_t flops, bytes;
    const char *flops_name, *bytes_name;
} Units;

static const Units exact = {1, 1, "FLOPs", "bytes"};
static const Units rounded[] = {
    {1000, 1024, "kFLOPs", "KiB"},
    {1000000, 1024, "MFLOPs", "KiB"},
    {1000000000, 1048576, "GFLOPs", "MiB"},
};

static void add_count(Table *table, uint64_t count, uint64_t unit) {
    char text[QUANTITY_TEXT];
    table_add(table,
              quantity_count(count / unit + (count % unit >= unit - unit / 2), text));
}

static void add_step(Table *table, const CacheStep *step, bool prefill,
                     const Units *units) {
    char text[QUANTITY_TEXT];
    const uint64_t without = counters_flops(&step->recompute.counters);
    const uint64_t with = counters_flops(&step->cached.counters);
    table_add(table, prefill ? "prefill" : "decode");
    add_count(table, step->context, 1);
    add_count(table, without, units->flops);
    add_count(table, with, units->flops);
    table_add(table, quantity_ratio(without, with, text));
    add_count(table, step->cache_bytes, units->bytes);
    table_add(table, quantity_seconds(step->recompute.seconds, text));
    table_add(table, quantity_seconds(step->cached.seconds, text));
}

/* The table in one choice of units; *fits says whether a terminal holds it. Printed if
 * it does, or if it is the last choice. */
static bool print_in(const CacheResult *result, const Units *units, bool last,
                     bool *fits, FILE *stream, Error *err) {
    const TableColumn columns[] = {
        {"step", "", true},
        {"N", "tokens", false},
        {"recompute", units->flops_name, false},
        {"cached", units->flops_name, false},
        {"ratio", "", false},
        {"live cache", units->bytes_name, false},
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
        add_step(&table, &result->step[step], step == 0, units);
    }
    *fits = table_width(&table) <= TERMINAL;
    if (*fits || last) table_print(&table, stream);
    table_close(&table);
    return true;
}

bool cache_print_table(const CacheResult *result, FILE *stream, Error *err) {
    fputs("recompute works through all N tokens in every step, cached through the new "
          "ones:\n\n",
          stream);
    const size_t choices = sizeof rounded / sizeof *rounded;
    const size_t shown = table_shown(result->steps, SHOWN_ROWS);
    bool fits;
    if (!print_in(result, &exact, false, &fits, stream, err)) return false;
    for (size_t i = 0; !fits && i < choices; i++)
        if (!print_in(result, &rounded[i], i + 1 == choices, &fits, stream, err))
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
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT], d[QUANTITY_TEXT];
    if (result->steps == 0) return;
    print_rows_worked(result, stream);
    print_bills(result, stream);
    fprintf(
        stream, "cache bytes: %s predicted, %s reserved; %s live, %s wasted\n",
        quantity_count(result->predicted, a), quantity_count(result->bytes.reserved, b),
        quantity_count(result->bytes.live, c), quantity_count(result->bytes.wasted, d));
    if (result->ended)
        fprintf(stream, "the model ended its text after %s\n",
                quantity_of(result->steps, "token", "tokens", a));
}

void cache_print_verdict(const CacheResult *result, FILE *stream) {
    const CacheDifference *d = &result->difference;
    char steps[QUANTITY_TEXT];
    if (!d->differs)
        fprintf(stream, "same bits: all %s%s%s\n",
                quantity_of(result->steps, "step", "steps", steps),
                *result->digest ? ", digest " : "", result->digest);
    else if (d->in_rows)
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
    fputs("read: README.md  next: kvstep cache --scores dense  exercise: predict the "
          "last ratio for --tokens 128, then run it\n",
          stream);
}
