#include "viz/text.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

static const char OPEN_BOX[] = "\xE2\x90\xA3"; /* U+2423 */
static const char ELLIPSIS[] = "\xE2\x80\xA6"; /* U+2026 */

static bool is_invisible(gunichar c) {
    switch (g_unichar_type(c)) {
    case G_UNICODE_FORMAT:
    case G_UNICODE_SURROGATE:
    case G_UNICODE_PRIVATE_USE:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
        return true;
    default:
        return false;
    }
}

static void add_control(VizBuffer *out, unsigned c) {
    if (c == '\n')
        viz_buffer_print(out, "\\n");
    else if (c == '\t')
        viz_buffer_print(out, "\\t");
    else if (c == '\r')
        viz_buffer_print(out, "\\r");
    else
        viz_buffer_print(out, "\\x%02X", c);
}

/* Adds the character that starts at text and says how many bytes it took. */
static size_t add_character(VizBuffer *out, const char *text, size_t left) {
    gunichar c = g_utf8_get_char_validated(text, (gssize)left);
    if (c == (gunichar)-1 || c == (gunichar)-2) {
        viz_buffer_print(out, "\\x%02X", (unsigned)(unsigned char)*text);
        return 1;
    }
    size_t length = (size_t)g_unichar_to_utf8(c, NULL);
    if (g_unichar_type(c) == G_UNICODE_CONTROL)
        add_control(out, c);
    else if (is_invisible(c))
        viz_buffer_print(out, "U+%04X", c);
    else
        viz_buffer_add(out, text, length);
    return length;
}

/* Spaces before `from` and at or after `to` are shown as open boxes. */
static void escape(VizBuffer *out, const char *text, size_t from, size_t to) {
    size_t length = strlen(text), shown = 0;
    for (size_t i = 0; i < length; shown++) {
        if (shown == VIZ_TEXT_LONGEST) {
            viz_buffer_print(out, "%s", ELLIPSIS);
            return;
        }
        if (text[i] == ' ' && (i < from || i >= to)) {
            viz_buffer_print(out, "%s", OPEN_BOX);
            i++;
        } else {
            i += add_character(out, text + i, length - i);
        }
    }
}

void viz_text_escape(VizBuffer *out, const char *text) {
    escape(out, text, 0, strlen(text));
}

void viz_text_escape_spaces(VizBuffer *out, const char *text) {
    size_t to = strlen(text), from = strspn(text, " ");
    while (to > from && text[to - 1] == ' ') to--;
    escape(out, text, from, to);
}
