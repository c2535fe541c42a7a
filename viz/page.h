/* The one page style: white ground of its own (so it stands on a dark page, too), the
 * finding as title, how to read it as subtitle, the rest for the parts. */
#ifndef KVSTEP_VIZ_PAGE_H
#define KVSTEP_VIZ_PAGE_H

#include "viz/color.h"
#include "viz/rect.h"

/* Draws title and subtitle (each up to two lines) and returns what is left for parts.
 * Call it once, first. A title says the finding ("The cache makes a step 12x cheaper"),
 * a subtitle how to read the picture ("one bar per step, height = FLOPs"). A user's
 * words in them must be made safe before, by viz_quote. */
VizRect viz_page(VizCanvas *canvas, const char *title, const char *subtitle);

/* A sentence or more for the .txt, as one paragraph: what the picture shows, with its
 * numbers, for someone who does not see it. */
__attribute__((format(printf, 2, 3))) void viz_say(VizCanvas *canvas,
                                                   const char *format, ...);

/* A user's text for use inside our own words (titles, captions, wherever a part has no
 * `user` flag): escaped, characters outside the bundled
 * fonts as code points, cut to fit out[size]. Returns out. */
const char *viz_quote(VizCanvas *canvas, const char *text, char *out, size_t size);

/* A key of colored squares and words along the top of rect; entries that do not fit go
 * to further lines. Use it only where words cannot stand at the things themselves.
 * Returns the height it took. */
typedef struct {
    const char *name;
    VizColor color;
    int hatched; /* hatched instead of filled */
} VizKey;

double viz_key(VizCanvas *canvas, VizRect rect, const VizKey *keys, size_t count);

/* A panel's caption at the top of *rect, in bold; cuts it off *rect. NULL: nothing. */
void viz_caption(VizCanvas *canvas, VizRect *rect, const char *text);

/* "no data", grey, in the middle: what every part draws for empty arrays. */
void viz_nothing(VizCanvas *canvas, VizRect rect, const char *panel);

#endif
