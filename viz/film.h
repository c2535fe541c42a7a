/* A film strip: small panels of the same kind one after the other, a caption above each
 * and an arrow between, so that the eye compares what changed. */
#ifndef KVSTEP_VIZ_FILM_H
#define KVSTEP_VIZ_FILM_H

#include "viz/rect.h"

typedef struct {
    size_t frames;
    const char *const *captions; /* [frames], up to two lines; NULL: none */
    /* Draws frame i inside rect: any part, all frames at the same size. */
    void (*draw)(VizCanvas *canvas, VizRect rect, const void *data, size_t i);
    const void *data;
    size_t per_row; /* frames in a row; 0: all in one */
} VizFilm;

void viz_film(VizCanvas *canvas, VizRect rect, const VizFilm *film);

#endif
