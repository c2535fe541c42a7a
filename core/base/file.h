/* Files: read whole, written whole or not at all. */
#ifndef KVSTEP_BASE_FILE_H
#define KVSTEP_BASE_FILE_H

#include "core/base/memory.h"
#include <stdio.h>

/* Bytes of a file in memory, on a 64-byte border. */
typedef struct {
    unsigned char *data; /* [size] */
    size_t size;
} Bytes;

/* Reads a regular file whole; anything else (missing, a folder, a pipe, unreadable) is
 * an error that begins with the path. Free bytes->data with memory_free. */
bool file_read(const char *path, Bytes *bytes, Memory *memory, Error *err);

/* Whether something is there under this name; whether two names mean the same file. */
bool file_exists(const char *path);
bool file_is_same(const char *a, const char *b);

/* A file being written. It appears under its name only at file_commit; until then the
 * old one, if any, is untouched. A path that exists and is no regular file (a device, a
 * pipe) is written in place. */
typedef struct {
    FILE *stream;           /* print to this */
    char *path, *temporary; /* temporary NULL: written in place */
    Memory *memory;
} FileOut;

/* Opens for writing; an unwritable place is refused here, before any work. */
bool file_create(const char *path, FileOut *out, Memory *memory, Error *err);

/* Closes and renames into place. A full disk shows here: error, nothing left behind. */
bool file_commit(FileOut *out, Error *err);

/* Closes and removes what was written. Does nothing after a commit. */
void file_discard(FileOut *out);

#endif
