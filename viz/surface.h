/* What a picture is drawn onto. The bytes of the file are collected in a buffer. */
#ifndef KVSTEP_VIZ_SURFACE_H
#define KVSTEP_VIZ_SURFACE_H

#include "viz/buffer.h"
#include "viz/figure.h"
#include <cairo.h>

typedef struct {
    cairo_surface_t *cairo;
    VizFormat format;
    double width, height; /* points */
    double scale;         /* pixels a point: 2 for PNG, 1 for the others */
    VizBuffer *bytes;
} VizSurface;

/* bytes must outlive the surface. */
bool viz_surface_open(VizSurface *surface, VizFormat format, double width,
                      double height, VizBuffer *bytes, Error *err);

/* The document's title, where the format has one. */
void viz_surface_title(VizSurface *surface, const char *title);

/* Puts the last bytes into the buffer. */
bool viz_surface_finish(VizSurface *surface, Error *err);

void viz_surface_close(VizSurface *surface);

#endif
