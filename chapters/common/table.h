/* Aligned tables: a title, a unit and an alignment per column, cells as text.
 *
 *   step       N    recompute      cached
 *         tokens        FLOPs       FLOPs
 *   prefill    1      205,184     205,184
 */
#ifndef KVSTEP_CHAPTERS_TABLE_H
#define KVSTEP_CHAPTERS_TABLE_H

#include "core/base/memory.h"
#include <stdio.h>

typedef struct {
    const char *title;
    const char *unit; /* "" for none */
    bool left;        /* aligned left; numbers stand right */
} TableColumn;

enum { TABLE_CELL = 64 }; /* bytes of a cell with its end; longer ones are cut */

typedef struct {
    const TableColumn *column; /* [columns], the caller's */
    size_t columns, room;
    size_t cells;             /* filled so far, row by row */
    char (*cell)[TABLE_CELL]; /* [room][columns] */
    Memory *memory;
} Table;

bool table_open(Table *table, const TableColumn *column, size_t columns, size_t rows,
                Memory *memory, Error *err);
void table_close(Table *table);

/* Fills the next cell, from left to right and row by row; what is over the room that
 * table_open was given is left out. */
void table_add(Table *table, const char *text);

/* Columns that the widest line takes. */
size_t table_width(const Table *table);

/* Titles, units (if any column has one), rows. */
void table_print(const Table *table, FILE *stream);

/* Long runs are thinned: of `rows` rows, `most` are shown, the first and the last among
 * them, evenly spread. The row that is shown in place i of `shown`. */
size_t table_shown(size_t rows, size_t most);
size_t table_pick(size_t rows, size_t shown, size_t i);

#endif
