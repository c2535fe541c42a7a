#include "viz/layout.h"
#include "viz/text.h"

#include <pango/pangocairo.h>
#include <string.h>

double viz_layout_size(const VizLabel *how) {
    return how->size > 0 ? how->size : VIZ_SIZE_TEXT;
}

static PangoLayout *layout_of(VizCanvas *canvas, const char *text,
                              const VizLabel *how) {
    static const char *const family[] = {"DejaVu Sans", "DejaVu Sans",
                                         "DejaVu Sans Mono"};
    PangoLayout *layout = pango_layout_new(canvas->letters);
    PangoFontDescription *font = pango_font_description_new();
    pango_font_description_set_family_static(font, family[how->face]);
    pango_font_description_set_absolute_size(font, viz_layout_size(how) * PANGO_SCALE);
    if (how->face == VIZ_BOLD)
        pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    pango_layout_set_auto_dir(layout, FALSE);
    if (!how->user) { /* the named font or nothing */
        PangoAttrList *attributes = pango_attr_list_new();
        pango_attr_list_insert(attributes, pango_attr_fallback_new(FALSE));
        pango_layout_set_attributes(layout, attributes);
        pango_attr_list_unref(attributes);
    }
    pango_layout_set_text(layout, text, -1);
    return layout;
}

bool viz_is_drawable(VizCanvas *canvas, const char *text, const VizLabel *how) {
    PangoLayout *layout = layout_of(canvas, text, how);
    bool known = pango_layout_get_unknown_glyphs_count(layout) == 0;
    g_object_unref(layout);
    return known;
}

/* Escaped, and each character that no font here has as its code point. */
static void user_text(VizCanvas *canvas, const char *text, const VizLabel *how,
                      VizBuffer *out, bool count) {
    VizBuffer plain = {0};
    viz_text_escape_spaces(&plain, text);
    const char *from = viz_buffer_text(&plain);
    if (viz_is_drawable(canvas, from, how)) {
        viz_buffer_add(out, from, plain.used);
    } else {
        for (const char *p = from, *next; *p; p = next) {
            char one[8] = {0};
            next = g_utf8_next_char(p);
            memcpy(one, p, (size_t)(next - p));
            bool known = viz_is_drawable(canvas, one, how);
            if (known)
                viz_buffer_print(out, "%s", one);
            else
                viz_buffer_print(out, "U+%04X", g_utf8_get_char(p));
            if (!known && count) canvas->unknown++;
        }
    }
    out->failed |= plain.failed;
    viz_buffer_free(&plain);
}

PangoLayout *viz_layout(VizCanvas *canvas, const char *text, const VizLabel *how,
                        bool drawn) {
    PangoLayout *layout;
    if (how->user) {
        VizBuffer safe = {0};
        user_text(canvas, text, how, &safe, drawn);
        if (safe.failed) viz_fail(canvas, "out of memory for a label");
        layout = layout_of(canvas, viz_buffer_text(&safe), how);
        viz_buffer_free(&safe);
    } else {
        layout = layout_of(canvas, text, how);
        if (pango_layout_get_unknown_glyphs_count(layout) > 0)
            viz_fail(canvas,
                     "the bundled fonts have no glyph for all of '%.60s'; use other "
                     "words, or mark it as a user's text",
                     text);
    }
    return layout;
}
