#include "viz/figure.h"
#include "core/base/file.h"
#include "viz/audit.h"
#include "viz/canvas.h"
#include "viz/surface.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const endings[] = {"png", "svg", "pdf"};

bool viz_format_from(const char *name, VizFormat *format, Error *err) {
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcmp(name, endings[i]) == 0) {
            *format = (VizFormat)i;
            return true;
        }
    return error_set(err, "unknown picture format '%s'; use png, svg or pdf", name);
}

static bool size_fits(double width, double height, Error *err) {
    if (width >= 100 && width <= 8000 && height >= 100 && height <= 8000) return true;
    return error_set(err, "a picture of %g x %g points; both must be from 100 to 8000",
                     width, height);
}

/* Whether what was drawn can be used at all. */
static bool is_good(VizCanvas *canvas, Error *err) {
    if (canvas->failed) return error_set(err, "%s", canvas->error.text);
    cairo_status_t status = cairo_status(canvas->cr);
    if (status != CAIRO_STATUS_SUCCESS)
        return error_set(err, "cairo: %s", cairo_status_to_string(status));
    if (canvas->csv.failed || canvas->words.failed || canvas->notes.failed ||
        canvas->shapes.failed || canvas->title.failed || canvas->subtitle.failed)
        return error_set(err, "out of memory for a picture's text");
    return true;
}

static void tell(const VizCanvas *canvas, VizBuffer *out) {
    viz_buffer_print(out, "%s\n\n%s\n", viz_buffer_text(&canvas->title),
                     viz_buffer_text(&canvas->subtitle));
    if (canvas->words.used)
        viz_buffer_print(out, "\n%s", viz_buffer_text(&canvas->words));
    if (canvas->notes.used || canvas->unknown || canvas->shortened)
        viz_buffer_print(out, "\nNotes:\n%s", viz_buffer_text(&canvas->notes));
    if (canvas->unknown)
        viz_buffer_print(out,
                         "- %zu characters have no glyph here and are drawn as their "
                         "code point.\n",
                         canvas->unknown);
    if (canvas->shortened)
        viz_buffer_print(out, "- %zu labels were too long and end in an ellipsis.\n",
                         canvas->shortened);
}

/* The three files of a figure, opened together before any work. */
enum { PICTURE, CSV, WORDS, FILES };

typedef struct {
    FileOut file[FILES];
    VizBuffer bytes[FILES];
} Output;

static void discard(Output *output) {
    for (int i = 0; i < FILES; i++) {
        file_discard(&output->file[i]);
        viz_buffer_free(&output->bytes[i]);
    }
}

static bool create(Output *output, const char *path, VizFormat format, Error *err) {
    const char *const ending[FILES] = {endings[format], "csv", "txt"};
    for (int i = 0; i < FILES; i++) {
        VizBuffer name = {0};
        viz_buffer_print(&name, "%s.%s", path, ending[i]);
        bool done = name.failed ? error_set(err, "out of memory for a file's name")
                                : file_create(name.bytes, &output->file[i], NULL, err);
        viz_buffer_free(&name);
        if (!done) return false;
    }
    return true;
}

/* The picture comes last: whoever sees it finds its data and words beside it. */
static bool commit(Output *output, Error *err) {
    for (int i = FILES - 1; i >= 0; i--) {
        VizBuffer *bytes = &output->bytes[i];
        if (bytes->failed) return error_set(err, "out of memory for a picture");
        fwrite(viz_buffer_text(bytes), 1, bytes->used, output->file[i].stream);
        if (!file_commit(&output->file[i], err)) return false;
    }
    return true;
}

/* A drawn canvas that can be used, or an error and nothing open. */
static bool draw_on(VizSurface *surface, VizCanvas *canvas, VizDraw draw,
                    const void *data, VizReport *report, Error *err) {
    if (!viz_canvas_open(canvas, surface->cairo, surface->width, surface->height,
                         surface->scale, err))
        return false;
    viz_fill(canvas, (VizRect){0, 0, surface->width, surface->height},
             viz_rgb(VIZ_WHITE));
    draw(canvas, data);
    if (!is_good(canvas, err)) {
        viz_canvas_close(canvas);
        return false;
    }
    if (report) viz_audit(canvas, report);
    return true;
}

bool viz_write(VizDraw draw, const void *data, double width, double height,
               VizFormat format, const char *path, VizReport *report, Error *err) {
    Output output = {0};
    VizSurface surface = {0};
    VizCanvas canvas = {0};
    bool done = size_fits(width, height, err) && create(&output, path, format, err) &&
                viz_surface_open(&surface, format, width, height,
                                 &output.bytes[PICTURE], err) &&
                draw_on(&surface, &canvas, draw, data, report, err);
    if (done) {
        viz_buffer_print(&output.bytes[CSV], "panel,row,column,value,end,note\n%s",
                         viz_buffer_text(&canvas.csv));
        tell(&canvas, &output.bytes[WORDS]);
        viz_surface_title(&surface, viz_buffer_text(&canvas.title));
        viz_canvas_close(&canvas);
        done = viz_surface_finish(&surface, err) && commit(&output, err);
    }
    viz_surface_close(&surface);
    discard(&output);
    return done || error_at(err, path);
}

char *viz_dump(VizDraw draw, const void *data, double width, double height,
               VizReport *report, Error *err) {
    VizBuffer unused = {0}, text = {0};
    VizSurface surface = {0};
    VizCanvas canvas = {0};
    if (size_fits(width, height, err) &&
        viz_surface_open(&surface, VIZ_PNG, width, height, &unused, err) &&
        draw_on(&surface, &canvas, draw, data, report, err)) {
        viz_audit_dump(&canvas, &text);
        if (text.failed) {
            error_set(err, "out of memory for a picture's text");
            viz_buffer_free(&text);
        }
        viz_canvas_close(&canvas);
    }
    viz_surface_close(&surface);
    return text.bytes;
}
