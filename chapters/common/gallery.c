#include "chapters/common/gallery.h"
#include "chapters/common/text.h"
#include "core/base/file.h"

#include <assert.h>
#include <string.h>

static const char *const endings[] = {"png", "svg", "pdf"};

bool gallery_open(Gallery *gallery, const Options *options, Memory *memory,
                  Error *err) {
    *gallery = (Gallery){.folder = options->out, .memory = memory};
    return viz_format_from(options->format, &gallery->format, err);
}

void gallery_close(Gallery *gallery) {
    for (size_t i = 0; i < gallery->count; i++)
        memory_free(gallery->memory, gallery->picture[i].words);
    *gallery = (Gallery){0};
}

/* "FOLDER/NAME" and the ending; free it with memory_free. */
static char *path_of(const Gallery *gallery, const char *name, const char *ending,
                     Error *err) {
    const size_t room = strlen(gallery->folder) + strlen(name) + strlen(ending) + 2;
    char *path = memory_new(gallery->memory, room, 1, err);
    if (path) snprintf(path, room, "%s/%s%s", gallery->folder, name, ending);
    return path;
}

/* The words as they were written, so that what is printed is what the file says. */
static bool read_words(const Gallery *gallery, const char *name, char **words,
                       Error *err) {
    char *path = path_of(gallery, name, ".txt", err);
    Bytes bytes = {0};
    bool done = path && file_read(path, &bytes, gallery->memory, err);
    *words = done ? memory_new(gallery->memory, bytes.size + 1, 1, err) : NULL;
    if (*words) memcpy(*words, bytes.data, bytes.size);
    memory_free(gallery->memory, bytes.data);
    memory_free(gallery->memory, path);
    return *words;
}

bool gallery_draw(Gallery *gallery, const char *name, VizDraw draw, const void *data,
                  Error *err) {
    assert(gallery->count < GALLERY_MOST);
    GalleryPicture *picture = &gallery->picture[gallery->count];
    char *path = path_of(gallery, name, "", err);
    bool done = path && viz_write(draw, data, VIZ_SLIDE_WIDTH, VIZ_SLIDE_HEIGHT,
                                  gallery->format, path, NULL, err);
    memory_free(gallery->memory, path);
    if (!done || !read_words(gallery, name, &picture->words, err)) return false;
    snprintf(picture->file, sizeof picture->file, "%s.%s", name,
             endings[gallery->format]);
    gallery->count++;
    return true;
}

size_t gallery_finding(const GalleryPicture *picture) {
    return strcspn(picture->words, "\n");
}

void gallery_print(const Gallery *gallery, const Options *options, FILE *stream) {
    if (options->json || options->digest || options->quiet) return;
    char folder[400];
    text_escape(gallery->folder, strlen(gallery->folder), folder, sizeof folder);
    fputs("\npictures, each with its numbers (.csv) and its words (.txt):\n", stream);
    for (size_t i = 0; i < gallery->count; i++) {
        const GalleryPicture *picture = &gallery->picture[i];
        fprintf(stream, "  %s/%s: %.*s\n", folder, picture->file,
                (int)gallery_finding(picture), picture->words);
    }
    if (options->page) fprintf(stream, "all on one page: %s/index.html\n", folder);
}
