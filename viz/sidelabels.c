#include "viz/sidelabels.h"
#include "viz/canvas.h"
#include "viz/label.h"
#include "viz/spread.h"

#include <math.h>

static const double GAP = 12.5, REACH = 11;

void viz_side_labels(VizCanvas *canvas, VizRect room, double x,
                     const VizSideLabel *labels, size_t count, const char *panel) {
    double low = room.y + GAP / 2, high = room.y + room.h - GAP / 2;
    double at[VIZ_SPREAD_MOST];
    size_t fit = viz_spread_fit(count, GAP, low, high);
    for (size_t i = 0; i < fit; i++) at[i] = labels[i].y;
    viz_spread(at, fit, GAP, low, high);
    for (size_t i = 0; i < fit; i++) {
        VizLabel how = {.role = "name",
                        .size = VIZ_SIZE_SMALL,
                        .face = VIZ_BOLD,
                        .ink = viz_word_rgb(labels[i].ink),
                        .user = labels[i].user,
                        .width = fmax(8, room.x + room.w - x - REACH)};
        if (x - labels[i].from > REACH)
            viz_line(canvas, labels[i].from + 5, labels[i].y, x, labels[i].y, 0.7,
                     viz_rgb(VIZ_SILVER));
        if (fabs(at[i] - labels[i].y) > 0.3 * GAP)
            viz_line(canvas, x, labels[i].y, x + REACH - 2, at[i], 0.7, labels[i].ink);
        viz_label(canvas, labels[i].text, x + REACH, viz_label_middle(at[i], how.size),
                  &how);
    }
    if (fit < count)
        viz_note(canvas, "%s: %zu of %zu names find no room; the .csv has them.",
                 panel ? panel : "a panel", count - fit, count);
}
