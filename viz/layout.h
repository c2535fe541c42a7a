/* A label's text as glyphs: the font is chosen, a user's text made safe, characters
 * without a glyph found. For label.c and page.c. */
#ifndef KVSTEP_VIZ_LAYOUT_H
#define KVSTEP_VIZ_LAYOUT_H

#include "viz/canvas.h"
#include "viz/label.h"

/* The text on one line; unref it with g_object_unref. Fails the canvas when our own
 * text has a character the bundled fonts lack. Characters of a user's text without a
 * glyph are counted if it is going to be drawn. */
PangoLayout *viz_layout(VizCanvas *canvas, const char *text, const VizLabel *how,
                        bool drawn);

/* Whether every character has a glyph. */
bool viz_is_drawable(VizCanvas *canvas, const char *text, const VizLabel *how);

double viz_layout_size(const VizLabel *how);

#endif
