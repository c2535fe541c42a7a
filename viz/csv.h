/* The data of a picture as CSV, one value a line, the same six columns for every part:
 * panel,row,column,value,end,note. Parts write it by themselves, so the file holds what
 * the picture was drawn from. A figure may add lines of its own. */
#ifndef KVSTEP_VIZ_CSV_H
#define KVSTEP_VIZ_CSV_H

#include "viz/rect.h"

typedef struct {
    const char *panel;  /* which part; NULL: empty */
    const char *row;    /* series, bar or row of a table; NULL: row_number */
    const char *column; /* x, segment or column of a table; NULL: column_number */
    double row_number, column_number;
    double value;     /* NaN is written as nan */
    double end;       /* of an interval; 0: the field stays empty */
    const char *note; /* "masked", a state's name, ...; NULL: empty */
    int no_value;     /* the value field stays empty */
} VizRow;

void viz_csv(VizCanvas *canvas, const VizRow *row);

#endif
