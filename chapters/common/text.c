#include "chapters/common/text.h"
#include "core/text/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { ESCAPED = 4 * 4 + 1 }; /* \xNN for each byte of the longest character, and 0 */

static uint32_t code_point(const char *bytes, size_t length) {
    const unsigned char *b = (const unsigned char *)bytes;
    uint32_t code = length == 1 ? b[0] : b[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) code = code << 6 | (b[i] & 0x3Fu);
    return code;
}

static bool is_control(uint32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

/* One character, or one byte that begins none, as it is shown; returns the bytes it
 * took. */
static size_t show_one(const char *bytes, size_t length, bool one_line,
                       char out[ESCAPED]) {
    size_t taken = utf8_length(bytes, length);
    bool plain = taken > 0 && !is_control(code_point(bytes, taken));
    if (taken == 0) taken = 1;
    if (one_line && (*bytes == '\n' || *bytes == '\t' || *bytes == '\\')) {
        snprintf(out, ESCAPED, "\\%c",
                 *bytes == '\n'   ? 'n'
                 : *bytes == '\t' ? 't'
                                  : '\\');
    } else if (plain || *bytes == '\n' || *bytes == '\t') {
        memcpy(out, bytes, taken);
        out[taken] = 0;
    } else {
        for (size_t i = 0; i < taken; i++)
            snprintf(out + 4 * i, ESCAPED - 4 * i, "\\x%02x", (unsigned char)bytes[i]);
    }
    return taken;
}

static size_t show(TextOut *out, const char *bytes, size_t length) {
    char shown[ESCAPED];
    size_t taken = show_one(bytes, length, false, shown);
    fputs(shown, out->stream);
    out->shown = *shown == '\n' ? 0 : out->shown + strlen(shown);
    return taken;
}

/* The held half, as far as it can be shown; all of it at the end. */
static void show_held(TextOut *out, bool all) {
    while (out->count > 0 && (all || !utf8_is_beginning(out->held, out->count))) {
        size_t taken = show(out, out->held, out->count);
        out->count -= taken;
        memmove(out->held, out->held + taken, out->count);
    }
}

void text_put(TextOut *out, const char *bytes, size_t length) {
    /* Byte by byte: held is never longer than one character. */
    for (size_t i = 0; i < length; i++) {
        out->held[out->count++] = bytes[i];
        show_held(out, false);
    }
    fflush(out->stream);
}

void text_end(TextOut *out) {
    show_held(out, true);
    if (out->shown > 0) fputc('\n', out->stream);
    out->shown = 0;
}

const char *text_escape(const char *bytes, size_t length, char *out, size_t room) {
    static const char cut[] = "..";
    size_t used = 0, fits = 0; /* fits: where the cut mark still finds room */
    out[0] = 0;
    for (size_t i = 0; i < length;) {
        char shown[ESCAPED];
        i += show_one(bytes + i, length - i, true, shown);
        if (used + strlen(shown) + 1 > room) {
            if (fits + sizeof cut <= room) memcpy(out + fits, cut, sizeof cut);
            break;
        }
        used += (size_t)snprintf(out + used, room - used, "%s", shown);
        if (used + sizeof cut <= room) fits = used;
    }
    return out;
}

/* First and last code point, and columns, of what is not one column wide. */
static const struct {
    uint32_t first, last;
    unsigned columns;
} widths[] = {
    {0x0300, 0x036F, 0},   {0x0483, 0x0489, 0},   {0x0591, 0x05BD, 0},
    {0x064B, 0x065F, 0},   {0x1100, 0x115F, 2},   {0x1AB0, 0x1AFF, 0},
    {0x1DC0, 0x1DFF, 0},   {0x200B, 0x200F, 0},   {0x20D0, 0x20FF, 0},
    {0x2E80, 0x303E, 2},   {0x3041, 0xA4CF, 2},   {0xA960, 0xA97F, 2},
    {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},   {0xFE00, 0xFE0F, 0},
    {0xFE20, 0xFE2F, 0},   {0xFE30, 0xFE6F, 2},   {0xFF00, 0xFF60, 2},
    {0xFFE0, 0xFFE6, 2},   {0x1F300, 0x1F64F, 2}, {0x1F680, 0x1F6FF, 2},
    {0x1F900, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
};

static unsigned columns_of(uint32_t code) {
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (code >= widths[i].first && code <= widths[i].last) return widths[i].columns;
    return 1;
}

size_t text_width(const char *text) {
    size_t width = 0, length = strlen(text);
    for (size_t i = 0; i < length;) {
        size_t taken = utf8_length(text + i, length - i);
        width += taken ? columns_of(code_point(text + i, taken)) : 1;
        i += taken ? taken : 1;
    }
    return width;
}
