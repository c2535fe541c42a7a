#include "viz/buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(VizBuffer *buffer, size_t count) {
    if (buffer->failed) return false;
    if (buffer->room - buffer->used > count)
        return true; /* one more for the zero byte */
    if (count > SIZE_MAX / 4 || buffer->room > SIZE_MAX / 4) {
        buffer->failed = true;
        return false;
    }
    size_t room = 2 * buffer->room + count + 64;
    char *bytes = realloc(buffer->bytes, room);
    if (!bytes) {
        buffer->failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->room = room;
    return true;
}

void viz_buffer_add(VizBuffer *buffer, const void *bytes, size_t count) {
    if (!make_room(buffer, count)) return;
    if (count) memcpy(buffer->bytes + buffer->used, bytes, count);
    buffer->used += count;
    buffer->bytes[buffer->used] = 0;
}

void viz_buffer_print(VizBuffer *buffer, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length >= 0 && make_room(buffer, (size_t)length)) {
        vsnprintf(buffer->bytes + buffer->used, (size_t)length + 1, format, again);
        buffer->used += (size_t)length;
    }
    va_end(again);
}

const char *viz_buffer_text(const VizBuffer *buffer) {
    return buffer->bytes ? buffer->bytes : "";
}

void viz_buffer_free(VizBuffer *buffer) {
    free(buffer->bytes);
    *buffer = (VizBuffer){0};
}
