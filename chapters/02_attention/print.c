#include "chapters/02_attention/print.h"
#include "chapters/02_attention/matrix.h"
#include "chapters/common/describe.h"
#include "chapters/common/quantity.h"
#include "chapters/common/text.h"
#include "chapters/common/units.h"

enum { SHOWN_HEADS = 8, SHOWN_KEYS = 3 };

void attention_print_inputs(const AttentionResult *r, FILE *stream) {
    const struct {
        const char *name, *words;
        const float *cell;
        size_t cols;
    } inputs[] = {
        {"Q", "what each token seeks, turned by its position", r->q, r->k_size},
        {"K", "what each token offers, turned by its position", r->k, r->k_size},
        {"V", "what each token gives", r->v, r->v_size},
    };
    char count[QUANTITY_TEXT];
    describe_model(&r->model, stream);
    fprintf(stream,
            "opened: layer %zu, head %zu, which reads kv head %zu; %s, " DESCRIBE_BLANK
            " is a blank\n",
            r->layer, r->head, r->kv_head, quantity_of(r->n, "token", "tokens", count));
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        fprintf(stream, "\n%s [%zu][%zu]: %s\n", inputs[i].name, r->n, inputs[i].cols,
                inputs[i].words);
        matrix_print(&(MatrixView){.result = r,
                                   .cell = inputs[i].cell,
                                   .cols = inputs[i].cols,
                                   .decimals = 2},
                     stream);
    }
}

void attention_print_scores(const AttentionResult *r, FILE *stream) {
    fprintf(stream,
            "\nscores [%zu][%zu] = q . k / sqrt(%zu), a row per query, a column per "
            "key%s\n",
            r->n, r->n, r->k_size,
            r->no_mask ? "" : ";\n. is a key that the mask hides from the query");
    matrix_print(&(MatrixView){.result = r,
                               .cell = r->scores,
                               .cols = r->n,
                               .decimals = 2,
                               .masked = true},
                 stream);
    fprintf(stream,
            "\nweights [%zu][%zu] = softmax of each row: no less than 0, 1 in all;\n"
            "= marks rows with the same bits as in the step with one token less\n",
            r->n, r->n);
    matrix_print(&(MatrixView){.result = r,
                               .cell = r->weights + r->head * r->n * r->n,
                               .cols = r->n,
                               .decimals = 3,
                               .masked = true,
                               .marked = true},
                 stream);
    fprintf(stream, "\noutput [%zu][%zu] = weights times V\n", r->n, r->v_size);
    matrix_print(
        &(MatrixView){.result = r, .cell = r->out, .cols = r->v_size, .decimals = 2},
        stream);
}

/* The key of rank `rank` (0: the heaviest) of the newest query of a head. */
static size_t heaviest(const float *weight, size_t n, size_t rank) {
    size_t taken[SHOWN_KEYS] = {0}, best = 0;
    for (size_t k = 0; k <= rank; k++) {
        best = n;
        for (size_t i = 0; i < n; i++) {
            bool free = true;
            for (size_t e = 0; e < k; e++) free &= taken[e] != i;
            if (free && (best == n || weight[i] > weight[best])) best = i;
        }
        taken[k] = best;
    }
    return best;
}

static void add_head(Table *table, const AttentionResult *r, size_t head) {
    char cell[TABLE_CELL], label[MATRIX_LABEL];
    const float *newest = r->weights + (head * r->n + r->n - 1) * r->n;
    units_add(table, head, 1);
    units_add(table,
              head / (r->heads / r->model.weights.shape.layer[r->layer].kv_heads), 1);
    snprintf(cell, sizeof cell, "%zu of %zu", r->head_same[head], r->n - 1);
    table_add(table, cell);
    for (size_t rank = 0; rank < SHOWN_KEYS; rank++) {
        if (rank >= r->n) {
            table_add(table, "");
            continue;
        }
        const size_t key = heaviest(newest, r->n, rank);
        snprintf(cell, sizeof cell, "%s (%.3f)", matrix_label(r, key, label),
                 (double)newest[key]);
        table_add(table, cell);
    }
}

bool attention_print_heads(const AttentionResult *r, FILE *stream, Error *err) {
    const TableColumn columns[] = {{"head", "", false},
                                   {"kv head", "", false},
                                   {"rows as before", "", false},
                                   {"newest looks at", "", true},
                                   {"then", "", true},
                                   {"then", "", true}};
    const size_t shown = table_shown(r->heads, SHOWN_HEADS);
    char label[MATRIX_LABEL];
    Table table;
    if (!table_open(&table, columns, sizeof columns / sizeof *columns, shown, r->memory,
                    err))
        return false;
    for (size_t i = 0; i < shown; i++)
        add_head(&table, r, table_pick(r->heads, shown, i));
    fprintf(stream, "\nall heads of layer %zu; the newest token is %s\n", r->layer,
            matrix_label(r, r->n - 1, label));
    table_print(&table, stream);
    if (shown < r->heads)
        fprintf(stream, "(%zu of %zu heads shown; --json has them all)\n", shown,
                r->heads);
    table_close(&table);
    return true;
}

/* "row 0 <s> with 11 tokens: 0.093 .." as far as a line holds it. */
static void print_weights(const AttentionResult *r, size_t row, const float *weight,
                          size_t tokens, FILE *stream) {
    char label[MATRIX_LABEL], line[MATRIX_LABEL + 60];
    char count[QUANTITY_TEXT];
    snprintf(line, sizeof line, "row %s with %s:", matrix_label(r, row, label),
             quantity_of(tokens, "token", "tokens", count));
    const size_t fit = (TERMINAL_COLUMNS - 3 - text_width(line)) / 6;
    fputs(line, stream);
    for (size_t i = 0; i < tokens && i < fit; i++)
        fprintf(stream, " %.3f", (double)weight[i]);
    fputs(fit < tokens ? " ..\n" : "\n", stream);
}

/* A row that the newest token changed, before and after. */
static void print_changed(const AttentionResult *r, FILE *stream) {
    size_t row = 0;
    while (row + 1 < r->n && r->same[row]) row++;
    if (row + 1 >= r->n) return;
    print_weights(r, row, r->older + row * (r->n - 1), r->n - 1, stream);
    print_weights(r, row, r->weights + (r->head * r->n + row) * r->n, r->n, stream);
}

static void print_pairs(const AttentionResult *r, FILE *stream) {
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT];
    const bool full = r->model.weights.shape.layer[r->layer].window == SHAPE_NO_WINDOW;
    fprintf(stream, "pairs per head: N^2 = %s dense, %s %s causal\n",
            quantity_count(r->pairs_dense, a), full ? "N(N+1)/2 =" : "with the window",
            quantity_count(r->pairs_causal, b));
    fprintf(stream,
            "weights above the diagonal, of a later key: %zu of %zu are not 0\n",
            r->above_diagonal, r->pairs_above);
}

void attention_print_overlay(const AttentionResult *r, FILE *stream) {
    fprintf(stream, "\nthe same step with one token less: %zu against N = %zu tokens\n",
            r->n - 1, r->n);
    print_pairs(r, stream);
    print_changed(r, stream);
    if (r->n == 1)
        fputs("one token alone has nothing to be compared with; give a --prompt\n",
              stream);
    else if (r->rows_same == r->rows_compared)
        fputs("A token sees itself and earlier ones only, so a new one changes no old "
              "row:\nwhat was computed for the old rows was computed for nothing.\n",
              stream);
    else if (r->no_mask)
        fputs("Without the mask a new token changes the rows of those before it: they "
              "must\nall be computed again.\n",
              stream);
    else
        fputs("Old rows changed although the mask is there: this should not be.\n",
              stream);
}

void attention_print_verdict(const AttentionResult *r, FILE *stream) {
    const size_t old = r->n - 1;
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT];
    fprintf(stream,
            "same bits: %zu of %zu old rows of head %zu; %s of %s in all layers\n",
            r->head_same[r->head], old, r->head, quantity_count(r->rows_same, a),
            quantity_count(r->rows_compared, b));
}

void attention_print_next(FILE *stream) {
    fputs("read: core/kernels/naive_attention.c  next: kvstep cache  exercise: "
          "predict how\nmany rows are the same with --no-mask, then run it\n",
          stream);
}
