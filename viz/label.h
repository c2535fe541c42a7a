/* Every word in a picture is a label: drawn by its baseline, recorded, checked.
 *
 * Our own labels use the bundled fonts alone; a character they lack is an error,
 * because it would be a box on another machine. In a user's text (`user`) an unknown
 * character is drawn as its code point (U+1F600) and counted. */
#ifndef KVSTEP_VIZ_LABEL_H
#define KVSTEP_VIZ_LABEL_H

#include "viz/color.h"
#include "viz/rect.h"
#include <stdbool.h>

/* The one type scale, in points. A slide of 960 x 540 points is shown at 1920 x 1080,
 * so the smallest becomes 15 pixels there. */
#define VIZ_SIZE_TITLE    20.0
#define VIZ_SIZE_SUBTITLE 12.0
#define VIZ_SIZE_TEXT     11.0
#define VIZ_SIZE_SMALL    9.0
#define VIZ_SIZE_TINY     7.5

typedef enum { VIZ_SANS, VIZ_BOLD, VIZ_MONO } VizFace;

typedef struct {
    const char *role; /* for the record: "title", "tick", "cell", ... */
    double size;      /* points; 0: VIZ_SIZE_TEXT */
    VizFace face;
    VizRgb ink;   /* all zero: VIZ_INK */
    double align; /* which part of its width stands at x: 0 left, 0.5 middle, 1 right */
    double width; /* shortened by an ellipsis beyond this; 0: no limit */
    int lines;    /* wrapped into at most so many lines; 0 and 1: one */
    bool upright; /* turned to read upwards; then the baseline is at x, align along y */
    bool user;    /* a user's text */
    VizRect inside; /* where it must stay; w = 0: the canvas */
} VizLabel;

/* Draws the text with its (first) baseline at y and returns its height below the top of
 * the first line. NULL and "" draw nothing. */
double viz_label(VizCanvas *canvas, const char *text, double x, double y,
                 const VizLabel *how);

/* Its width on one line, in points, when nothing is shortened. */
double viz_label_width(VizCanvas *canvas, const char *text, const VizLabel *how);

/* The widest of several; NULL entries are skipped. */
double viz_label_widest(VizCanvas *canvas, const char *const *texts, size_t count,
                        const VizLabel *how);

/* The baseline that centers capitals and digits of this size about y. */
double viz_label_middle(double y, double size);

#endif
