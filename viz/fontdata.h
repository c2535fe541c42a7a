/* The bundled fonts as bytes inside the program (viz/fonts/, licence beside them).
 *
 * Embedded, not looked for: a picture then needs no folder, no installed font and no
 * right guess of where the program stands, and is the same on every machine. */
#ifndef KVSTEP_VIZ_FONTDATA_H
#define KVSTEP_VIZ_FONTDATA_H

extern const unsigned char viz_font_sans[], viz_font_sans_end[];
extern const unsigned char viz_font_bold[], viz_font_bold_end[];
extern const unsigned char viz_font_mono[], viz_font_mono_end[];

#endif
