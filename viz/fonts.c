#define _GNU_SOURCE /* memfd_create */
#include "viz/fonts.h"
#include "viz/fontdata.h"

#include <errno.h>
#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-fontmap.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* State of the whole process, because fontconfig wants it so: it keeps one current
 * configuration, and whoever finds none (pango does, in a thread of its own) loads the
 * machine's. Ours is set as the current one before pango is first touched and stays
 * until the process ends, with the memory files its fonts are read from. */
static FcConfig *private_config;

static const char *const chinese[] = {
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    "/usr/share/fonts/truetype/droid/DroidSansFallback.ttf",
    "/usr/share/fonts-droid-fallback/truetype/DroidSansFallbackFull.ttf",
    "/usr/share/fonts-droid-fallback/truetype/DroidSansFallback.ttf",
    "/usr/share/fonts/google-droid-sans-fonts/DroidSansFallbackFull.ttf",
};

static const char *chinese_font(void) {
    for (size_t i = 0; i < sizeof chinese / sizeof *chinese; i++)
        if (access(chinese[i], R_OK) == 0) return chinese[i];
    return NULL;
}

bool viz_fonts_chinese(void) {
    return chinese_font() != NULL;
}

static bool write_all(int file, const unsigned char *bytes, size_t count) {
    while (count) {
        ssize_t done = write(file, bytes, count);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        bytes += done;
        count -= (size_t)done;
    }
    return true;
}

/* fontconfig and cairo open fonts by name only, so the embedded bytes get a name that
 * lives as long as the process: a memory file under /proc/self/fd. */
static bool add_font(FcConfig *config, const char *name, const unsigned char *start,
                     const unsigned char *end, Error *err) {
    int file = memfd_create(name, MFD_CLOEXEC);
    if (file < 0)
        return error_set(err, "font %s: no memory file (%s)", name, strerror(errno));
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (write_all(file, start, (size_t)(end - start)) &&
        FcConfigAppFontAddFile(config, (const FcChar8 *)path))
        return true;
    close(file);
    return error_set(err, "font %s cannot be read from %s; is /proc mounted?", name,
                     path);
}

static bool add_all(FcConfig *config, Error *err) {
    if (!add_font(config, "DejaVuSans", viz_font_sans, viz_font_sans_end, err) ||
        !add_font(config, "DejaVuSans-Bold", viz_font_bold, viz_font_bold_end, err) ||
        !add_font(config, "DejaVuSansMono", viz_font_mono, viz_font_mono_end, err))
        return false;
    const char *fallback = chinese_font(); /* a broken one is as good as none */
    if (fallback) FcConfigAppFontAddFile(config, (const FcChar8 *)fallback);
    return true;
}

static bool open_config(Error *err) {
    if (private_config) return true;
    FcConfig *config = FcConfigCreate(); /* empty: no folders, no rules, no caches */
    if (!config) return error_set(err, "fontconfig gives no configuration");
    FcConfigSetSysRoot(config, NULL);
    if (!add_all(config, err)) {
        FcConfigDestroy(config);
        return false;
    }
    if (!FcConfigSetCurrent(config)) {
        FcConfigDestroy(config);
        return error_set(err, "fontconfig does not take our configuration");
    }
    private_config = config;
    return true;
}

PangoFontMap *viz_fonts_open(Error *err) {
    if (!open_config(err)) return NULL;
    PangoFontMap *map = pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT);
    if (!map) {
        error_set(err, "this pango draws no FreeType fonts; install libpango1.0-dev");
        return NULL;
    }
    pango_fc_font_map_set_config(PANGO_FC_FONT_MAP(map), private_config);
    return map;
}
