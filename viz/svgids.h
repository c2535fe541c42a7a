/* cairo numbers the surfaces and images of an SVG by a counter of the whole process, so
 * the second picture of a run would differ from the same one drawn first. Here they are
 * numbered anew, in the order they appear. */
#ifndef KVSTEP_VIZ_SVGIDS_H
#define KVSTEP_VIZ_SVGIDS_H

#include "viz/buffer.h"

void viz_svg_renumber(VizBuffer *svg);

#endif
