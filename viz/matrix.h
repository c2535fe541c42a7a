/* A matrix of small numbers: every entry shown can be read. Where not all fit, rows and
 * columns of the middle are replaced by dots; the shape stands beside the name. */
#ifndef KVSTEP_VIZ_MATRIX_H
#define KVSTEP_VIZ_MATRIX_H

#include "viz/color.h"
#include "viz/rect.h"
#include <stdbool.h>

typedef struct {
    const char *name; /* "Q"; NULL: none */
    size_t rows, columns;
    const double *values;        /* [rows][columns] */
    const unsigned char *masked; /* [rows][columns], 1: hatched; NULL: none */
    const unsigned char *marked; /* [rows][columns], 1: in a green frame; NULL: none */
    const char *const *row_labels;    /* [rows]; NULL: none */
    const char *const *column_labels; /* [columns]; NULL: none */
    bool user;                        /* labels are a user's text */
    VizScale scale;                   /* tints the cells; low = high: from the data */
    bool plain;                       /* white cells */
} VizMatrix;

/* Draws at the top left of rect and returns where the entries are. */
VizRect viz_matrix(VizCanvas *canvas, VizRect rect, const VizMatrix *matrix);

#endif
