#include "chapters/common/folder.h"
#include "core/base/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the parent's name ends in `path`, or 0 if it has none of its own. */
static size_t parent_length(const char *path) {
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] != '/') length--;
    while (length > 0 && path[length - 1] == '/') length--;
    return length;
}

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Makes the last folder of folder->path. */
static bool make_one(Folder *folder, Error *err) {
    if (is_folder(folder->path)) return true;
    if (mkdir(folder->path, 0777) == 0) {
        folder->made++;
        return true;
    }
    const int reason = errno == EEXIST ? ENOTDIR : errno;
    return error_set(err, "--out %s: cannot be made: %s", folder->path,
                     strerror(reason));
}

/* Parents first; the path is cut and put together again on the way. */
static bool make_all(Folder *folder, Error *err) {
    char *path = folder->path;
    const size_t all = strlen(path);
    bool done = is_folder(path);
    if (done) return true;
    for (size_t i = 1; i <= all; i++) {
        const char kept = path[i];
        if (kept != '/' && kept != 0) continue;
        path[i] = 0;
        done = make_one(folder, err);
        path[i] = kept;
        if (!done) return false;
    }
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
    folder->path = memory_new(memory, length + 1, 1, err);
    if (!folder->path) return false;
    memcpy(folder->path, path, length);
    if (make_all(folder, err) && try_writing(folder, err)) return true;
    folder_close(folder, false);
    return false;
}

void folder_close(Folder *folder, bool keep) {
    while (!keep && folder->made > 0 && rmdir(folder->path) == 0) {
        folder->path[parent_length(folder->path)] = 0;
        folder->made--;
    }
    memory_free(folder->memory, folder->path);
    *folder = (Folder){0};
}
