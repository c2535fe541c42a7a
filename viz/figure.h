/* A figure is one function that draws, in points, what plain named arrays say. Whether
 * it becomes PNG, SVG or PDF is not its business.
 *
 * The function calls viz_page (page.h) for title and subtitle, draws parts (heatmap.h,
 * lines.h, bars.h, blocks.h, timeline.h, film.h, matrix.h, boxes.h, dial.h) inside
 * rectangles (rect.h), and says in words what is to be seen (viz_say). Parts record
 * their data as CSV by themselves. Only core/base is known here: nothing about what the
 * numbers mean. */
#ifndef KVSTEP_VIZ_FIGURE_H
#define KVSTEP_VIZ_FIGURE_H

#include "core/base/error.h"
#include "viz/rect.h"
#include <stddef.h>

typedef void (*VizDraw)(VizCanvas *canvas, const void *data);

typedef enum { VIZ_PNG, VIZ_SVG, VIZ_PDF } VizFormat;

/* A slide, in points; a PNG has two pixels a point, so 1920 x 1080. */
#define VIZ_SLIDE_WIDTH  960.0
#define VIZ_SLIDE_HEIGHT 540.0

/* How the picture turned out. overlaps and outside must be 0. */
typedef struct {
    size_t labels;
    size_t overlaps;    /* pairs of labels that cover one another */
    size_t outside;     /* labels that leave the canvas or their place */
    size_t shortened;   /* labels ended by an ellipsis */
    size_t unknown;     /* characters of a user's text drawn as their code point */
    double smallest_px; /* height of the smallest label when shown at 1920 x 1080 */
    char problem[240];  /* the first overlap or label outside, for a test's message */
} VizReport;

/* "png", "svg", "pdf"; anything else is refused by name. */
bool viz_format_from(const char *name, VizFormat *format, Error *err);

/* Draws and writes PATH.png (or .svg, .pdf), PATH.csv with the data and PATH.txt with
 * the picture in words, each whole or not at all; the same data give the same bytes
 * again. `path` has no ending; a dot in it is not taken for one. report may be NULL.
 * Fails for an unwritable place, a canvas under 100 or over 8000 points, a label of our
 * own that the bundled fonts cannot draw. Overlaps do not fail: look at the report. */
bool viz_write(VizDraw draw, const void *data, double width, double height,
               VizFormat format, const char *path, VizReport *report, Error *err);

/* Draws without a file and gives what was drawn as text, a line per part and label.
 * Free it with free(). NULL on error. */
char *viz_dump(VizDraw draw, const void *data, double width, double height,
               VizReport *report, Error *err);

#endif
