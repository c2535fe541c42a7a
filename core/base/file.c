#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_all(FILE *stream, const char *path, Bytes *bytes, Memory *memory,
                     Error *err) {
    struct stat info;
    if (fstat(fileno(stream), &info) != 0)
        return error_set(err, "%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return error_set(err, "%s: is not a regular file; give the file itself", path);
    bytes->size = (size_t)info.st_size;
    bytes->data = memory_new(memory, bytes->size, 1, err);
    if (!bytes->data) return error_at(err, path);
    if (fread(bytes->data, 1, bytes->size, stream) == bytes->size) return true;
    memory_free(memory, bytes->data);
    *bytes = (Bytes){0};
    return error_set(err, "%s: cannot be read to its end: %s", path, strerror(errno));
}

bool file_read(const char *path, Bytes *bytes, Memory *memory, Error *err) {
    *bytes = (Bytes){0};
    /* O_NONBLOCK: opening a pipe that nobody writes must be refused, not wait. */
    int descriptor = open(path, O_RDONLY | O_NONBLOCK);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
    if (!stream) {
        error_set(err, "%s: cannot be opened: %s", path, strerror(errno));
        if (descriptor >= 0) close(descriptor);
        return false;
    }
    bool done = read_all(stream, path, bytes, memory, err);
    fclose(stream);
    return done;
}

bool file_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

bool file_is_same(const char *a, const char *b) {
    struct stat left, right;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

static char *copy_of(const char *text, const char *ending, Memory *memory, Error *err) {
    size_t length = strlen(text) + strlen(ending) + 1;
    char *copy = memory_new(memory, length, 1, err);
    if (copy) snprintf(copy, length, "%s%s", text, ending);
    return copy;
}

static bool is_special(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static void forget(FileOut *out) {
    memory_free(out->memory, out->path);
    memory_free(out->memory, out->temporary);
    *out = (FileOut){0};
}

/* The first free name of NAME.part00 to NAME.part99: leftovers of killed runs are stepped
 * over, and the umask applies as for any new file. */
static FILE *open_temporary(char *name) {
    char *digits = name + strlen(name) - 2;
    for (int n = 0; n < 100; n++) {
        digits[0] = (char)('0' + n / 10);
        digits[1] = (char)('0' + n % 10);
        int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (descriptor >= 0) {
            FILE *stream = fdopen(descriptor, "wb");
            if (!stream) close(descriptor);
            return stream;
        }
        if (errno != EEXIST) return NULL;
    }
    return NULL;
}

/* Opening a pipe that nobody reads is refused: it would wait for ever. */
static FILE *open_special(const char *path) {
    const int descriptor = open(path, O_WRONLY | O_NONBLOCK);
    if (descriptor < 0) return NULL;
    FILE *stream = NULL;
    if (fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) == 0)
        stream = fdopen(descriptor, "wb");
    if (!stream) close(descriptor);
    return stream;
}

bool file_create(const char *path, FileOut *out, Memory *memory, Error *err) {
    *out = (FileOut){.memory = memory};
    struct stat info;
    if (!*path) return error_set(err, "a file without a name cannot be written");
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return error_set(err, "%s: is a folder; give a file's name", path);
    bool special = is_special(path);
    out->path = copy_of(path, "", memory, err);
    if (out->path && !special) out->temporary = copy_of(path, ".part00", memory, err);
    if (!out->path || (!special && !out->temporary)) {
        forget(out);
        return false;
    }
    out->stream = special ? open_special(path) : open_temporary(out->temporary);
    if (out->stream) return true;
    if (special && errno == ENXIO)
        error_set(err, "%s: nobody reads this pipe; start its reader first", path);
    else if (errno == EEXIST)
        error_set(err,
                  "%s: cannot be written: %s and all before it are left over from "
                  "runs that were killed; remove them",
                  path, out->temporary);
    else
        error_set(err, "%s: cannot be written: %s", path, strerror(errno));
    forget(out);
    return false;
}

bool file_commit(FileOut *out, Error *err) {
    bool written = !ferror(out->stream) && fflush(out->stream) == 0;
    if (written && out->temporary) written = fsync(fileno(out->stream)) == 0;
    written &= fclose(out->stream) == 0;
    out->stream = NULL;
    if (written && out->temporary) written = rename(out->temporary, out->path) == 0;
    if (!written) {
        error_set(err, "%s: cannot be written: %s", out->path, strerror(errno));
        if (out->temporary) unlink(out->temporary);
    }
    forget(out);
    return written;
}

void file_discard(FileOut *out) {
    if (out->stream) fclose(out->stream);
    if (out->temporary) unlink(out->temporary);
    forget(out);
}
