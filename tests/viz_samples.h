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

extern const Sample viz_samples[];
extern const size_t viz_sample_count;

#endif
