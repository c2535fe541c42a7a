/* The one palette: Okabe and Ito's colors, told apart by color-blind readers, and
 * greys. Figures name colors; nobody mixes his own.
 *
 * Say the same thing in the same color everywhere: blue what is there, vermillion what
 * is new or wasted, green what is saved. */
#ifndef KVSTEP_VIZ_COLOR_H
#define KVSTEP_VIZ_COLOR_H

#include <stddef.h>

typedef enum {
    VIZ_AUTO, /* the part chooses: the series' turn in the palette */
    VIZ_BLUE,
    VIZ_VERMILLION,
    VIZ_GREEN,
    VIZ_ORANGE,
    VIZ_SKY,
    VIZ_PURPLE,
    VIZ_GREY,   /* second-rank text, axes */
    VIZ_SILVER, /* what is old beside what is new */
    VIZ_PALE,   /* empty places, grid lines */
    VIZ_INK,    /* text */
    VIZ_WHITE
} VizColor;

typedef struct {
    double r, g, b; /* sRGB, 0 to 1 */
} VizRgb;

VizRgb viz_rgb(VizColor color);

/* The color of the i-th of several series: blue, vermillion, green, orange, ... */
VizColor viz_turn(VizColor wanted, size_t i);

/* Black or white, whichever is read better on the given ground. */
VizRgb viz_ink_on(VizRgb ground);

/* The color made dark enough to be read as words on white (contrast 4.5). */
VizRgb viz_word_rgb(VizRgb color);

/* The color ramps of maps. */
typedef enum {
    VIZ_RAMP_AUTO,    /* numbers in the cells: blue or signed; none: cividis */
    VIZ_RAMP_BLUE,    /* light to dark, zero nearly white */
    VIZ_RAMP_SIGNED,  /* vermillion below zero, white at zero, blue above */
    VIZ_RAMP_CIVIDIS, /* dark blue to yellow, for large maps without numbers */
} VizRamp;

/* A ramp over numbers; signed ramps are symmetric about zero (low = -high). */
typedef struct {
    double low, high;
    VizRamp ramp;
} VizScale;

/* The color of a finite value; values outside the scale take its ends. */
VizRgb viz_scale_rgb(const VizScale *scale, double value);

#endif
