/* A strip of boxes: stations from left to right, joined by arrows, the area of each box
 * in proportion to one number. Stations without room go on in further rows. */
#ifndef KVSTEP_VIZ_BOXES_H
#define KVSTEP_VIZ_BOXES_H

#include "viz/color.h"
#include "viz/number.h"
#include "viz/rect.h"
#include <stdbool.h>

typedef struct {
    const char *name;   /* above, bold, up to two lines */
    double value;       /* area; 0: a dashed outline of fixed size */
    const char *detail; /* below, lines divided by \n: shape, numbers; NULL: none */
    VizColor color;     /* VIZ_AUTO: blue */
    bool user;          /* the detail is a user's text */
} VizBox;

typedef struct {
    const VizBox *boxes; /* [count] */
    size_t count;
    const char *unit; /* after each number, such as "multiply-adds"; NULL: none */
    VizUnit number;
    bool no_arrows;
} VizBoxes;

void viz_boxes(VizCanvas *canvas, VizRect rect, const VizBoxes *boxes);

#endif
