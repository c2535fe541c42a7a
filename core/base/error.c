#include "core/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void one_line(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = '?';
}

bool error_set(Error *err, const char *format, ...) {
    if (!err) return false;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    one_line(err->text);
    return false;
}

bool error_at(Error *err, const char *where) {
    if (!err) return false;
    Error inner = *err;
    return error_set(err, "%s: %s", where, inner.text);
}
