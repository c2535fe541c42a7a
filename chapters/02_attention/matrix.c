#include "chapters/02_attention/matrix.h"
#include "chapters/common/describe.h"
#include "chapters/common/text.h"
#include "chapters/common/units.h"

#include <string.h>

enum { MOST_ROWS = 16, LAST_ROWS = 3 };

/* What is shown of `all` rows or columns: the first, dots, the last. */
typedef struct {
    size_t first, last, all;
} Shown;

static Shown shown_of(size_t all, size_t most, size_t last) {
    if (all <= most) return (Shown){all, 0, all};
    /* Dots take the room of one. */
    return (Shown){most > last + 1 ? most - last - 1 : 1, last, all};
}

static size_t shown_count(const Shown *shown) {
    return shown->first + shown->last;
}

static size_t shown_index(const Shown *shown, size_t i) {
    return i < shown->first ? i : shown->all - shown->last + (i - shown->first);
}

static bool dots_before(const Shown *shown, size_t i) {
    return i == shown->first && shown->last > 0;
}

static void put_number(const MatrixView *m, size_t row, size_t col,
                       char out[DESCRIBE_NUMBER]) {
    if (m->masked && !attention_sees(m->result, row, col))
        snprintf(out, DESCRIBE_NUMBER, ".");
    else
        describe_number(m->cell[row * m->cols + col], m->decimals, out);
}

const char *matrix_label(const AttentionResult *r, size_t position,
                         char out[MATRIX_LABEL]) {
    char piece[24];
    describe_token(position, r->token[position].piece, piece, sizeof piece);
    snprintf(out, MATRIX_LABEL, "%zu %s", position, piece);
    return out;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Columns of a label, the mark included, and of a cell. */
static void measure(const MatrixView *m, const Shown *rows, size_t *label,
                    size_t *cell) {
    char text[MATRIX_LABEL];
    *label = 0;
    *cell = 1 + (size_t)snprintf(NULL, 0, "%zu", m->cols - 1);
    for (size_t i = 0; i < shown_count(rows); i++) {
        const size_t row = shown_index(rows, i);
        *label = larger(*label, text_width(matrix_label(m->result, row, text)));
        for (size_t col = 0; col < m->cols; col++) {
            char number[DESCRIBE_NUMBER];
            put_number(m, row, col, number);
            *cell = larger(*cell, strlen(number) + 1);
        }
    }
    *label += m->marked ? 2 : 0;
}

static void print_row(const MatrixView *m, size_t row, const Shown *cols, size_t label,
                      size_t cell, FILE *stream) {
    char text[MATRIX_LABEL];
    matrix_label(m->result, row, text);
    const bool same = m->marked && row + 1 < m->result->n && m->result->same[row];
    const int pad = (int)(label - text_width(text));
    if (m->marked)
        fprintf(stream, "%s%*s%c", text, pad - 1, "", same ? '=' : ' ');
    else
        fprintf(stream, "%s%*s", text, pad, "");
    for (size_t i = 0; i < shown_count(cols); i++) {
        char number[DESCRIBE_NUMBER];
        if (dots_before(cols, i)) fputs(" ..", stream);
        put_number(m, row, shown_index(cols, i), number);
        fprintf(stream, "%*s", (int)cell, number);
    }
    fputc('\n', stream);
}

void matrix_print(const MatrixView *m, FILE *stream) {
    size_t label, cell;
    const Shown rows = shown_of(m->result->n, MOST_ROWS, LAST_ROWS);
    measure(m, &rows, &label, &cell);
    const Shown cols = shown_of(m->cols, (TERMINAL_COLUMNS - label) / cell, 1);
    fprintf(stream, "%*s", (int)label, "");
    for (size_t i = 0; i < shown_count(&cols); i++) {
        if (dots_before(&cols, i)) fputs(" ..", stream);
        fprintf(stream, "%*zu", (int)cell, shown_index(&cols, i));
    }
    fputc('\n', stream);
    for (size_t i = 0; i < shown_count(&rows); i++) {
        if (dots_before(&rows, i)) fputs("..\n", stream);
        print_row(m, shown_index(&rows, i), &cols, label, cell, stream);
    }
}
