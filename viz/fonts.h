/* Where letters come from: the three bundled DejaVu fonts and, if the machine has it,
 * Droid Sans Fallback for Chinese in a user's text. Nothing else, whatever fonts,
 * FONTCONFIG_FILE or FONTCONFIG_SYSROOT the machine has. */
#ifndef KVSTEP_VIZ_FONTS_H
#define KVSTEP_VIZ_FONTS_H

#include "core/base/error.h"
#include <pango/pango.h>

/* A new font map; the caller unrefs it. Fails when the kernel gives no memory file or
 * /proc is not there. */
PangoFontMap *viz_fonts_open(Error *err);

/* Whether Chinese can be drawn here. */
bool viz_fonts_chinese(void);

#endif
