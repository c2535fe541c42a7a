/* Comparing pictures and their dumps with tolerance: versions of freetype and pango
 * move a soft edge, they do not move a label. */
#ifndef KVSTEP_TESTS_VIZ_COMPARE_H
#define KVSTEP_TESTS_VIZ_COMPARE_H

#include <cairo.h>
#include <stdbool.h>
#include <stddef.h>

/* A PNG at half its size (2 x 2 pixels averaged), the size goldens are kept at. NULL
 * when the file is no PNG that cairo reads. */
cairo_surface_t *picture_half(const char *png);

/* Share of pixels, 0 to 1, of which a channel differs by more than 40 of 255; 1 when
 * the sizes differ. */
double picture_difference(cairo_surface_t *a, cairo_surface_t *b);

/* Compares word by word; numbers may differ by 1.5. On failure `where` is the first
 * pair of lines that differ. */
bool dumps_agree(const char *a, const char *b, char where[600]);

/* A whole file, freed with free(); NULL if there is none. *size may be NULL. */
char *file_text(const char *path, size_t *size);

/* Whether every tag of an XML text is closed in order; `what` says what is wrong. */
bool xml_is_well_formed(const char *text, char what[120]);

#endif
