/* Numbers as they are, or in thousands and more where a table would not fit. */
#ifndef KVSTEP_CHAPTERS_UNITS_H
#define KVSTEP_CHAPTERS_UNITS_H

#include "chapters/common/table.h"
#include <stdint.h>

typedef struct {
    uint64_t flops, bytes;
    const char *flops_name, *bytes_name;
} Units;

enum { UNITS = 4, TERMINAL_COLUMNS = 80 };

/* The exact one first, then ever coarser ones: a printer takes the first that fits. */
extern const Units units[UNITS];

/* Fills the next cell with count in units of `unit`, rounded. */
void units_add(Table *table, uint64_t count, uint64_t unit);

/* Fills the next cell with a share of the whole, like "96%"; "-" of nothing. */
void units_add_share(Table *table, uint64_t part, uint64_t whole);

/* The share in whole percent, rounded; but what is neither nothing nor all is not
 * called so: 1 to 99. 0 of nothing. */
unsigned units_percent(uint64_t part, uint64_t whole);

#endif
