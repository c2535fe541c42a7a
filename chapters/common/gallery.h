/* The pictures of one run, written into the folder of --out: NAME.png (or .svg, .pdf)
 * with its numbers in NAME.csv and its words in NAME.txt. The folder is there already
 * (folder.h). Not in the MINIMAL build, where --out is refused by name. */
#ifndef KVSTEP_CHAPTERS_GALLERY_H
#define KVSTEP_CHAPTERS_GALLERY_H

#include "chapters/common/options.h"
#include "core/base/memory.h"
#include "viz/figure.h"
#include <stdio.h>

enum { GALLERY_MOST = 8, GALLERY_NAME = 48 };

typedef struct {
    char file[GALLERY_NAME]; /* "step-cost.png" */
    char *words;             /* of the .txt, as it was written; its first line is the
                                finding */
} GalleryPicture;

typedef struct {
    const char *folder;
    VizFormat format;
    GalleryPicture picture[GALLERY_MOST];
    size_t count;
    Memory *memory;
} Gallery;

/* options->out and options->format. */
bool gallery_open(Gallery *gallery, const Options *options, Memory *memory, Error *err);
void gallery_close(Gallery *gallery);

/* Draws one at slide size. A picture whose labels cover one another is still written:
 * the tests see to that. */
bool gallery_draw(Gallery *gallery, const char *name, VizDraw draw, const void *data,
                  Error *err);

/* Length of the first line of its words. */
size_t gallery_finding(const GalleryPicture *picture);

/* A line per picture: its file and what it says. Nothing under --json, --digest and
 * --quiet, which promise to print something else and no more. */
void gallery_print(const Gallery *gallery, const Options *options, FILE *stream);

#endif
