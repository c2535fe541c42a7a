/* Numbers as people read them. */
#ifndef KVSTEP_VIZ_NUMBER_H
#define KVSTEP_VIZ_NUMBER_H

#include <stddef.h>

enum { VIZ_NUMBER_ROOM = 32 };

/* What a number counts, for its ending. */
typedef enum {
    VIZ_COUNT, /* 940, 12.3k, 4.56M, 1.2G: thousands; small ones with three digits */
    VIZ_BYTES, /* 940 B, 12.0 KiB, 4.5 MiB: powers of 1024 */
} VizUnit;

/* Writes at most three digits that count, and the ending. Returns out. */
const char *viz_number(double value, VizUnit unit, char out[VIZ_NUMBER_ROOM]);

/* Exactly, for CSV: the fewest digits that give the same double back. */
const char *viz_number_exact(double value, char out[VIZ_NUMBER_ROOM]);

/* For cells of a table, all alike: how many digits after the point `count` values need
 * (0 when all are whole, else 2), NaN and infinite ones aside. */
int viz_cell_digits(const double *values, size_t count);

/* A cell's text: fixed digits below 10000, viz_number above, "NaN", "inf". */
const char *viz_cell(double value, int digits, char out[VIZ_NUMBER_ROOM]);

/* The power of the unit that fits a number (1, 1e3, 1e6 ...; 1, 1024, ...) and its
 * ending
 * ("", "k", "M" ...; " B", " KiB" ...). Numbers under 10000 keep 1. */
double viz_unit_power(double largest, VizUnit unit, const char **ending);

#endif
