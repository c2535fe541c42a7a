#include "viz/surface.h"
#include "viz/svgids.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>

static cairo_status_t collect(void *closure, const unsigned char *bytes,
                              unsigned count) {
    VizBuffer *buffer = closure;
    viz_buffer_add(buffer, bytes, count);
    return buffer->failed ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *open_png(double width, double height, double scale) {
    int w = (int)lround(width * scale), h = (int)lround(height * scale);
    return cairo_image_surface_create(CAIRO_FORMAT_RGB24, w, h);
}

static cairo_surface_t *open_svg(VizBuffer *bytes, double width, double height) {
    cairo_surface_t *svg =
        cairo_svg_surface_create_for_stream(collect, bytes, width, height);
    cairo_svg_surface_set_document_unit(svg, CAIRO_SVG_UNIT_PT);
    return svg;
}

/* Without a fixed date the clock would get into the bytes. */
static cairo_surface_t *open_pdf(VizBuffer *bytes, double width, double height) {
    cairo_surface_t *pdf =
        cairo_pdf_surface_create_for_stream(collect, bytes, width, height);
    cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_CREATE_DATE,
                                   "2000-01-01T00:00:00Z");
    return pdf;
}

bool viz_surface_open(VizSurface *surface, VizFormat format, double width,
                      double height, VizBuffer *bytes, Error *err) {
    *surface = (VizSurface){.format = format,
                            .width = width,
                            .height = height,
                            .scale = format == VIZ_PNG ? 2 : 1,
                            .bytes = bytes};
    if (format == VIZ_PNG)
        surface->cairo = open_png(width, height, surface->scale);
    else if (format == VIZ_SVG)
        surface->cairo = open_svg(bytes, width, height);
    else
        surface->cairo = open_pdf(bytes, width, height);
    cairo_status_t status = cairo_surface_status(surface->cairo);
    if (status == CAIRO_STATUS_SUCCESS) return true;
    return error_set(err, "cairo: %s", cairo_status_to_string(status));
}

void viz_surface_title(VizSurface *surface, const char *title) {
    if (surface->format == VIZ_PDF)
        cairo_pdf_surface_set_metadata(surface->cairo, CAIRO_PDF_METADATA_TITLE, title);
}

bool viz_surface_finish(VizSurface *surface, Error *err) {
    cairo_status_t status = CAIRO_STATUS_SUCCESS;
    if (surface->format == VIZ_PNG)
        status =
            cairo_surface_write_to_png_stream(surface->cairo, collect, surface->bytes);
    cairo_surface_finish(surface->cairo);
    if (surface->format == VIZ_SVG) viz_svg_renumber(surface->bytes);
    if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface->cairo);
    if (status == CAIRO_STATUS_SUCCESS) return true;
    return error_set(err, "cairo: %s", cairo_status_to_string(status));
}

void viz_surface_close(VizSurface *surface) {
    if (surface->cairo) cairo_surface_destroy(surface->cairo);
    *surface = (VizSurface){0};
}
