#include "viz/film.h"
#include "viz/canvas.h"
#include "viz/label.h"
#include "viz/page.h"

static const double GAP = 22, CAPTION = 27;

static void draw_frame(VizCanvas *canvas, VizRect at, const VizFilm *film, size_t i) {
    VizRect words = {0};
    if (film->captions) words = viz_cut_top(&at, CAPTION);
    film->draw(canvas, at, film->data, i);
    if (!film->captions) return;
    VizLabel how = {
        .role = "caption", .size = VIZ_SIZE_SMALL, .width = words.w, .lines = 2};
    viz_label(canvas, film->captions[i], words.x, words.y + 9, &how);
}

void viz_film(VizCanvas *canvas, VizRect rect, const VizFilm *film) {
    if (!film->frames) {
        viz_nothing(canvas, rect, "the film strip");
        return;
    }
    size_t columns = film->per_row ? film->per_row : film->frames;
    size_t rows = (film->frames + columns - 1) / columns;
    viz_shape(canvas, rect, "film strip: %zu frames in %zu rows", film->frames, rows);
    for (size_t i = 0; i < film->frames; i++) {
        VizRect at = viz_grid(rect, rows, columns, GAP, i);
        draw_frame(canvas, at, film, i);
        double y = film->captions ? at.y + 6 : at.y + at.h / 2;
        bool last = i + 1 == film->frames || (i + 1) % columns == 0;
        if (!last)
            viz_arrow(canvas, at.x + at.w + 4, y, at.x + at.w + GAP - 4, y,
                      viz_rgb(VIZ_GREY));
    }
}
