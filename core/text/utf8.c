#include "core/text/utf8.h"

/* What a first byte promises: the character's length and the range of its second byte.
 * The narrowed ranges keep out overlong forms (E0, F0), surrogates (ED) and values over
 * U+10FFFF (F4); all later bytes are 80 to BF. The Unicode Standard, table 3-7. */
static const struct Lead {
    unsigned char first, last; /* first bytes, from and to */
    unsigned char length;
    unsigned char low, high; /* second byte, from and to */
} leads[] = {
    {0x00, 0x7F, 1, 0, 0},       {0xC2, 0xDF, 2, 0x80, 0xBF},
    {0xE0, 0xE0, 3, 0xA0, 0xBF}, {0xE1, 0xEC, 3, 0x80, 0xBF},
    {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF},
    {0xF0, 0xF0, 4, 0x90, 0xBF}, {0xF1, 0xF3, 4, 0x80, 0xBF},
    {0xF4, 0xF4, 4, 0x80, 0x8F},
};

/* How many bytes of text fit the character that its first byte promises (0: there is no
 * such character), and how many that character has. */
static size_t fitting(const char *text, size_t bytes, size_t *length) {
    *length = 0;
    if (bytes == 0) return 0;
    const unsigned char *b = (const unsigned char *)text;
    const struct Lead *lead = leads;
    while (b[0] > lead->last) /* the last lead byte is F4 */
        if (++lead == leads + sizeof leads / sizeof *leads) return 0;
    if (b[0] < lead->first) return 0;
    *length = lead->length;
    if (lead->length == 1 || bytes == 1) return 1;
    if (b[1] < lead->low || b[1] > lead->high) return 1;
    size_t fit = 2;
    while (fit < lead->length && fit < bytes && (b[fit] & 0xC0) == 0x80) fit++;
    return fit;
}

size_t utf8_length(const char *text, size_t bytes) {
    size_t length;
    return fitting(text, bytes, &length) == length ? length : 0;
}

size_t utf8_valid(const char *text, size_t bytes) {
    size_t valid = 0;
    while (valid < bytes) {
        size_t length = utf8_length(text + valid, bytes - valid);
        if (length == 0) break;
        valid += length;
    }
    return valid;
}

bool utf8_is_beginning(const char *text, size_t bytes) {
    size_t length;
    size_t fit = fitting(text, bytes, &length);
    return bytes == 0 || (fit == bytes && bytes < length);
}
