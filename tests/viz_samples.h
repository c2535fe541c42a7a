/* Figures with made-up data, one or more per part: nice ones as on a slide, and ugly
 * ones (empty, all equal, not numbers, too many, too long). Used by the picture tests.
 */
#ifndef KVSTEP_TESTS_VIZ_SAMPLES_H
#define KVSTEP_TESTS_VIZ_SAMPLES_H

#include "viz/figure.h"

typedef struct {
    const char *name;
    VizDraw draw;
    double width, height;
    bool golden; /* its picture and dump are kept in tests/viz_golden/ */
} Sample;

/* In viz_samples_ugly.c. */
void sample_heat_ugly(VizCanvas *canvas, const void *data);
void sample_heat_huge(VizCanvas *canvas, const void *data);
void sample_lines_ugly(VizCanvas *canvas, const void *data);
void sample_bars_ugly(VizCanvas *canvas, const void *data);
void sample_blocks_ugly(VizCanvas *canvas, const void *data);
void sample_timeline_ugly(VizCanvas *canvas, const void *data);
void sample_boxes_ugly(VizCanvas *canvas, const void *data);
void sample_long_titles(VizCanvas *canvas, const void *data);

extern const Sample viz_samples[];
extern const size_t viz_sample_count;

#endif
