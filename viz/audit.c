#include "viz/audit.h"

#include <math.h>
#include <stdio.h>

/* Rounding of glyph positions; a touch is no overlap. */
static const double SLACK = 0.3;

static bool overlap(const VizPlaced *a, const VizPlaced *b) {
    double air = 0.1 * fmin(a->size, b->size);
    bool across = a->box.x + a->box.w + air > b->box.x + SLACK &&
                  b->box.x + b->box.w + air > a->box.x + SLACK;
    bool along = a->box.y + a->box.h > b->box.y + SLACK &&
                 b->box.y + b->box.h > a->box.y + SLACK;
    return across && along && a->box.w > 0 && b->box.w > 0;
}

static bool is_outside(const VizPlaced *label) {
    const VizRect *b = &label->box, *in = &label->inside;
    return b->x < in->x - SLACK || b->y < in->y - SLACK ||
           b->x + b->w > in->x + in->w + SLACK || b->y + b->h > in->y + in->h + SLACK;
}

static void first_problem(VizReport *report, const char *what, const VizPlaced *a,
                          const VizPlaced *b) {
    if (report->problem[0]) return;
    snprintf(report->problem, sizeof report->problem,
             "%s '%.60s' (%s) at %.0f, %.0f%s%.60s%s", what, a->text, a->role, a->box.x,
             a->box.y, b ? " and '" : "", b ? b->text : "", b ? "'" : "");
}

void viz_audit(const VizCanvas *canvas, VizReport *report) {
    *report = (VizReport){.labels = canvas->labels,
                          .shortened = canvas->shortened,
                          .unknown = canvas->unknown};
    double smallest = INFINITY;
    for (size_t i = 0; i < canvas->labels; i++) {
        const VizPlaced *a = &canvas->placed[i];
        smallest = fmin(smallest, a->size);
        if (is_outside(a)) {
            report->outside++;
            first_problem(report, "outside its place:", a, NULL);
        }
        for (size_t j = 0; j < i; j++) {
            if (!overlap(&canvas->placed[j], a)) continue;
            report->overlaps++;
            first_problem(report, "overlap:", &canvas->placed[j], a);
        }
    }
    if (canvas->labels)
        report->smallest_px =
            smallest * fmin(1920 / canvas->width, 1080 / canvas->height);
}

void viz_audit_dump(const VizCanvas *canvas, VizBuffer *out) {
    viz_buffer_print(out, "canvas %.0f %.0f\n%s", canvas->width, canvas->height,
                     viz_buffer_text(&canvas->shapes));
    for (size_t i = 0; i < canvas->labels; i++) {
        const VizPlaced *p = &canvas->placed[i];
        viz_buffer_print(out, "label %.1f %.1f %.1f %.1f %.1f %s \"%s\"\n", p->box.x,
                         p->box.y, p->box.w, p->box.h, p->size, p->role, p->text);
    }
}
