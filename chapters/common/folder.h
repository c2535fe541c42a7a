/* The folder of --out: made when it is missing, refused before any work when nothing
 * can be written there, taken away again when the command is refused. */
#ifndef KVSTEP_CHAPTERS_FOLDER_H
#define KVSTEP_CHAPTERS_FOLDER_H

#include "core/base/memory.h"

typedef struct {
    char *path; /* [length + 1] without slashes at the end; NULL: none */
    char *made; /* [length + 1] 1: the folder whose name ends here did not exist */
    size_t length;
    Memory *memory;
} Folder;

/* Makes the folder and its parents and writes and removes a file in it. One line on
 * anything wrong, and nothing left behind. path NULL: nothing happens. */
bool folder_open(Folder *folder, const char *path, Memory *memory, Error *err);

/* keep false: folders made here are removed again, as far as they are empty. */
void folder_close(Folder *folder, bool keep);

#endif
