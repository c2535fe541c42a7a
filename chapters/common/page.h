/* index.html beside the pictures of a run: one file without scripts or anything from
 * elsewhere, light and dark as the reader's system is, narrow screens too. Not in the
 * MINIMAL build. */
#ifndef KVSTEP_CHAPTERS_PAGE_H
#define KVSTEP_CHAPTERS_PAGE_H

#include "chapters/common/gallery.h"
#include "core/base/file.h"

typedef struct {
    FileOut file; /* print HTML to file.stream */
    Memory *memory;
} Page;

/* Begins FOLDER/index.html; the title stands as heading, too. */
bool page_open(Page *page, const char *folder, const char *title, Memory *memory,
               Error *err);

/* Text for between tags or inside quotes: markup escaped, newlines as blanks. */
void page_text(const Page *page, const char *text, size_t length);

/* A picture with its finding below and its words for those who do not see it. */
void page_picture(const Page *page, const GalleryPicture *picture);

/* Ends it and puts it into place. */
bool page_close(Page *page, Error *err);

/* Leaves it; nothing is written. */
void page_discard(Page *page);

#endif
