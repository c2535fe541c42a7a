#include "tests/viz_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char *row_of(cairo_surface_t *s, int y) {
    return cairo_image_surface_get_data(s) +
           (size_t)y * (size_t)cairo_image_surface_get_stride(s);
}

cairo_surface_t *picture_half(const char *png) {
    cairo_surface_t *full = cairo_image_surface_create_from_png(png);
    if (cairo_surface_status(full) != CAIRO_STATUS_SUCCESS) {
        cairo_surface_destroy(full);
        return NULL;
    }
    int w = cairo_image_surface_get_width(full) / 2;
    int h = cairo_image_surface_get_height(full) / 2;
    cairo_surface_t *half = cairo_image_surface_create(CAIRO_FORMAT_RGB24, w, h);
    size_t stride = (size_t)cairo_image_surface_get_stride(half);
    unsigned char *out = cairo_image_surface_get_data(half);
    for (int y = 0; y < h; y++)
        for (int i = 0; i < 4 * w; i++) {
            const unsigned char *a = row_of(full, 2 * y), *b = row_of(full, 2 * y + 1);
            int left = i / 4 * 8 + i % 4;
            int sum = a[left] + a[left + 4] + b[left] + b[left + 4];
            out[(size_t)y * stride + (size_t)i] = (unsigned char)((sum + 2) / 4);
        }
    cairo_surface_mark_dirty(half);
    cairo_surface_destroy(full);
    return half;
}

double picture_difference(cairo_surface_t *a, cairo_surface_t *b) {
    int w = cairo_image_surface_get_width(a), h = cairo_image_surface_get_height(a);
    if (w != cairo_image_surface_get_width(b) || h != cairo_image_surface_get_height(b))
        return 1;
    size_t differ = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const unsigned char *p = row_of(a, y) + 4 * x, *q = row_of(b, y) + 4 * x;
            int most = 0;
            for (int c = 0; c < 3; c++)
                if (abs(p[c] - q[c]) > most) most = abs(p[c] - q[c]);
            differ += most > 40;
        }
    return (double)differ / ((double)w * (double)h);
}

static bool words_agree(const char *a, size_t m, const char *b, size_t n) {
    if (m == n && memcmp(a, b, m) == 0) return true;
    char *end_a, *end_b;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);
    return end_a == a + m && end_b == b + n && m && n && fabs(x - y) <= 1.5;
}

/* What stands in quotes is text: "12" and "13" are different labels. */
static bool lines_agree(const char *a, const char *b) {
    const char *quote_a = strchr(a, '"'), *quote_b = strchr(b, '"');
    if ((quote_a == NULL) != (quote_b == NULL)) return false;
    if (quote_a && strcmp(quote_a, quote_b) != 0) return false;
    for (;;) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        size_t m = strcspn(a, " "), n = strcspn(b, " ");
        if (!m || !n) return m == n;
        if (*a == '"') return true;
        if (!words_agree(a, m, b, n)) return false;
        a += m;
        b += n;
    }
}

static const char *next_line(const char *text, char line[1200]) {
    size_t length = strcspn(text, "\n");
    snprintf(line, 1200, "%.*s", (int)length, text);
    return text[length] ? text + length + 1 : text + length;
}

bool dumps_agree(const char *a, const char *b, char where[600]) {
    char one[1200], other[1200];
    while (*a || *b) {
        a = next_line(a, one);
        b = next_line(b, other);
        if (lines_agree(one, other)) continue;
        snprintf(where, 600, "'%.250s' and '%.250s'", one, other);
        return false;
    }
    return true;
}

char *file_text(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = calloc(1, 1u << 24);
    size_t length = fread(text, 1, (1u << 24) - 1, file);
    fclose(file);
    if (size) *size = length;
    return text;
}

bool xml_is_well_formed(const char *text, char what[120]) {
    char open[64][64];
    size_t depth = 0, seen = 0;
    for (const char *p = strchr(text, '<'); p; p = strchr(p + 1, '<'), seen++) {
        const char *end = strchr(p, '>');
        if (!end) return snprintf(what, 120, "a tag has no end"), false;
        size_t length = strcspn(p + 1 + (p[1] == '/'), " \n/>");
        if (p[1] == '?' || p[1] == '!' || end[-1] == '/') continue;
        if (p[1] != '/') {
            if (depth == 64) return snprintf(what, 120, "too deep"), false;
            snprintf(open[depth++], 64, "%.*s", (int)length, p + 1);
        } else if (!depth || strlen(open[depth - 1]) != length ||
                   strncmp(open[depth - 1], p + 2, length) != 0) {
            return snprintf(what, 120, "</%.*s> closes nothing", (int)length, p + 2),
                   false;
        } else {
            depth--;
        }
    }
    if (depth) snprintf(what, 120, "<%s> is not closed", open[depth - 1]);
    if (!seen) snprintf(what, 120, "no tag at all");
    return depth == 0 && seen > 0;
}
