#include "chapters/common/folder.h"
#include "core/base/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Makes the folder whose name ends at `end`; for that the path is cut there and put
 * together again. */
static bool make_one(Folder *folder, size_t end, Error *err) {
    const char kept = folder->path[end];
    folder->path[end] = 0;
    bool done = is_folder(folder->path);
    if (!done && mkdir(folder->path, 0777) == 0) folder->made[end] = done = true;
    if (!done)
        error_set(err, "--out %s: cannot be made: %s", folder->path,
                  strerror(errno == EEXIST ? ENOTDIR : errno));
    folder->path[end] = kept;
    return done;
}

/* Parents first. */
static bool make_all(Folder *folder, Error *err) {
    if (is_folder(folder->path)) return true;
    for (size_t i = 1; i <= folder->length; i++)
        if ((folder->path[i] == '/' || i == folder->length) &&
            !make_one(folder, i, err))
            return false;
    return true;
}

static bool try_writing(const Folder *folder, Error *err) {
    static const char name[] = "/kvstep-probe";
    size_t room = strlen(folder->path) + sizeof name;
    char *path = memory_new(folder->memory, room, 1, err);
    if (!path) return false;
    memcpy(path, folder->path, room - sizeof name);
    memcpy(path + room - sizeof name, name, sizeof name);
    FileOut probe;
    bool done = file_create(path, &probe, folder->memory, err);
    if (done) file_discard(&probe);
    memory_free(folder->memory, path);
    return done;
}

bool folder_open(Folder *folder, const char *path, Memory *memory, Error *err) {
    *folder = (Folder){.memory = memory};
    if (!path) return true;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    folder->length = length;
    folder->path = memory_new(memory, length + 1, 1, err);
    folder->made = memory_new(memory, length + 1, 1, err);
    bool done = folder->path && folder->made;
    if (done) memcpy(folder->path, path, length);
    if (done && make_all(folder, err) && try_writing(folder, err)) return true;
    folder_close(folder, false);
    return false;
}

void folder_close(Folder *folder, bool keep) {
    for (size_t end = folder->length; !keep && folder->path && folder->made && end > 0;
         end--) {
        if (!folder->made[end]) continue;
        folder->path[end] = 0;
        rmdir(folder->path);
    }
    memory_free(folder->memory, folder->path);
    memory_free(folder->memory, folder->made);
    *folder = (Folder){0};
}
