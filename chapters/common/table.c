#include "chapters/common/table.h"
#include "chapters/common/text.h"

#include <string.h>

static const char gap[] = "  ";

bool table_open(Table *table, const TableColumn *column, size_t columns, size_t rows,
                Memory *memory, Error *err) {
    *table =
        (Table){.column = column, .columns = columns, .room = rows, .memory = memory};
    table->cell = memory_new(memory, rows, columns * sizeof *table->cell, err);
    return table->cell;
}

void table_close(Table *table) {
    if (table->memory) memory_free(table->memory, table->cell);
    *table = (Table){0};
}

void table_add(Table *table, const char *text) {
    if (table->cells == table->room * table->columns) return;
    snprintf(table->cell[table->cells++], TABLE_CELL, "%s", text);
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t column_width(const Table *table, size_t column) {
    size_t width = larger(text_width(table->column[column].title),
                          text_width(table->column[column].unit));
    for (size_t i = column; i < table->cells; i += table->columns)
        width = larger(width, text_width(table->cell[i]));
    return width;
}

size_t table_width(const Table *table) {
    size_t width = 0;
    for (size_t c = 0; c < table->columns; c++)
        width += column_width(table, c) + (c > 0 ? sizeof gap - 1 : 0);
    return width;
}

static void print_cell(const Table *table, size_t column, const char *text,
                       FILE *stream) {
    const bool last = column + 1 == table->columns;
    const size_t wide = column_width(table, column), used = text_width(text);
    const int pad = wide > used ? (int)(wide - used) : 0;
    if (column > 0) fputs(gap, stream);
    if (table->column[column].left)
        fprintf(stream, "%s%*s", text, last ? 0 : pad, "");
    else
        fprintf(stream, "%*s%s", pad, "", text);
    if (last) fputc('\n', stream);
}

void table_print(const Table *table, FILE *stream) {
    bool units = false;
    for (size_t c = 0; c < table->columns; c++) {
        print_cell(table, c, table->column[c].title, stream);
        units |= *table->column[c].unit != 0;
    }
    for (size_t c = 0; units && c < table->columns; c++)
        print_cell(table, c, table->column[c].unit, stream);
    for (size_t i = 0, c = 0; i < table->cells; i++) {
        print_cell(table, c, table->cell[i], stream);
        c = c + 1 == table->columns ? 0 : c + 1;
    }
}

size_t table_shown(size_t rows, size_t most) {
    return rows <= most + most / 4 ? rows : most; /* a few too many are no long run */
}

size_t table_pick(size_t rows, size_t shown, size_t i) {
    if (shown < 2) return 0;
    /* In two parts, so that a long run does not overflow. */
    const size_t each = (rows - 1) / (shown - 1), rest = (rows - 1) % (shown - 1);
    return i * each + (i * rest + (shown - 1) / 2) / (shown - 1);
}
