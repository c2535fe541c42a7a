/* What is wrong with a drawn picture, found from the record of its labels. */
#ifndef KVSTEP_VIZ_AUDIT_H
#define KVSTEP_VIZ_AUDIT_H

#include "viz/canvas.h"
#include "viz/figure.h"

/* Fills the report: labels that overlap (two words closer than a tenth of their size
 * count), labels outside the canvas or their own place, the smallest label. */
void viz_audit(const VizCanvas *canvas, VizReport *report);

/* The picture as text: a line per part, a line per label
 * (`label X Y W H SIZE ROLE "TEXT"`), in the order drawn. */
void viz_audit_dump(const VizCanvas *canvas, VizBuffer *out);

#endif
