/* Stacked bars: upright, one per step or case, each of parts from the bottom up. The
 * parts are named beside the last bar; the staircase of a growing cost is this, too. */
#ifndef KVSTEP_VIZ_BARS_H
#define KVSTEP_VIZ_BARS_H

#include "viz/axes.h"
#include "viz/color.h"

typedef struct {
    const char *panel; /* caption; NULL: none */
    const char *x_label;
    VizAxis y; /* linear; from zero; of low and high only high is used, if not zero */
    size_t bars, parts;            /* parts at most 64 */
    const double *values;          /* [bars][parts], not below zero */
    const char *const *bar_names;  /* [bars]; NULL: positions from 0 */
    const char *const *part_names; /* [parts] */
    const VizColor *colors;        /* [parts]; NULL: in turn */
    bool user;                     /* bar names are a user's text */
    bool totals;                   /* each bar's sum above it, where there is room */
} VizBars;

void viz_bars(VizCanvas *canvas, VizRect rect, const VizBars *bars);

#endif
