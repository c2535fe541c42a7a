#include "viz/page.h"
#include "viz/canvas.h"
#include "viz/label.h"
#include "viz/layout.h"
#include "viz/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double MARGIN = 24, KEY_SIDE = 10, KEY_LINE = 16;

VizRect viz_page(VizCanvas *canvas, const char *title, const char *subtitle) {
    viz_buffer_print(&canvas->title, "%s", title);
    viz_buffer_print(&canvas->subtitle, "%s", subtitle);
    VizRect rest = viz_inset((VizRect){0, 0, canvas->width, canvas->height}, MARGIN);
    VizLabel big = {.role = "title",
                    .size = VIZ_SIZE_TITLE,
                    .face = VIZ_BOLD,
                    .width = rest.w,
                    .lines = 2};
    VizLabel small = {.role = "subtitle",
                      .size = VIZ_SIZE_SUBTITLE,
                      .ink = viz_rgb(VIZ_GREY),
                      .width = rest.w,
                      .lines = 2};
    double top = rest.y;
    rest.y += viz_label(canvas, title, rest.x, rest.y + 0.76 * VIZ_SIZE_TITLE, &big);
    rest.y +=
        viz_label(canvas, subtitle, rest.x, rest.y + 0.85 * VIZ_SIZE_SUBTITLE, &small);
    rest.y += 10;
    rest.h = fmax(0, rest.h - (rest.y - top));
    return rest;
}

void viz_say(VizCanvas *canvas, const char *format, ...) {
    char text[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    viz_buffer_print(&canvas->words, "%s\n", text);
}

const char *viz_quote(VizCanvas *canvas, const char *text, char *out, size_t size) {
    VizLabel bold = {.face = VIZ_BOLD}, sans = {.face = VIZ_SANS};
    VizBuffer safe = {0}, quoted = {0};
    viz_text_escape(&safe, text);
    for (const char *p = viz_buffer_text(&safe), *next; *p; p = next) {
        char one[16] = {0};
        next = g_utf8_next_char(p);
        memcpy(one, p, (size_t)(next - p));
        if (!viz_is_drawable(canvas, one, &bold) ||
            !viz_is_drawable(canvas, one, &sans))
            snprintf(one, sizeof one, "U+%04X", g_utf8_get_char(p));
        if (quoted.used + strlen(one) >= size) break;
        viz_buffer_print(&quoted, "%s", one);
    }
    snprintf(out, size, "%s", viz_buffer_text(&quoted));
    viz_buffer_free(&safe);
    viz_buffer_free(&quoted);
    return out;
}

double viz_key(VizCanvas *canvas, VizRect rect, const VizKey *keys, size_t count) {
    VizLabel how = {.role = "key", .size = VIZ_SIZE_SMALL};
    double x = rect.x, y = rect.y;
    for (size_t i = 0; i < count; i++) {
        double width = fmin(viz_label_width(canvas, keys[i].name, &how), rect.w - 20);
        if (x > rect.x && x + KEY_SIDE + 5 + width > rect.x + rect.w) {
            x = rect.x;
            y += KEY_LINE;
        }
        VizRect square = {x, y + 2, KEY_SIDE, KEY_SIDE};
        if (keys[i].hatched)
            viz_hatch_rect(canvas, square);
        else
            viz_fill(canvas, square, viz_rgb(keys[i].color));
        if (keys[i].hatched || keys[i].color == VIZ_PALE || keys[i].color == VIZ_WHITE)
            viz_outline(canvas, square, 0.7, viz_rgb(VIZ_GREY));
        how.width = width + 1;
        viz_label(canvas, keys[i].name, x + KEY_SIDE + 5,
                  viz_label_middle(y + 2 + KEY_SIDE / 2, how.size), &how);
        x += KEY_SIDE + 5 + width + 16;
    }
    return count ? y - rect.y + KEY_LINE : 0;
}

void viz_caption(VizCanvas *canvas, VizRect *rect, const char *text) {
    if (!text || !*text) return;
    VizLabel how = {.role = "caption", .face = VIZ_BOLD, .width = rect->w};
    VizRect strip = viz_cut_top(rect, 18);
    viz_label(canvas, text, strip.x, strip.y + 10, &how);
}

void viz_nothing(VizCanvas *canvas, VizRect rect, const char *panel) {
    viz_shape(canvas, rect, "nothing");
    viz_outline(canvas, rect, 0.7, viz_rgb(VIZ_PALE));
    VizLabel how = {.role = "nothing",
                    .ink = viz_rgb(VIZ_GREY),
                    .align = 0.5,
                    .width = fmax(20, rect.w - 4)};
    viz_label(canvas, "no data", rect.x + rect.w / 2, rect.y + rect.h / 2, &how);
    viz_note(canvas, "%s: there is no data to draw.",
             panel && *panel ? panel : "a panel");
}
