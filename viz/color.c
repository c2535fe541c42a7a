#include "viz/color.h"

#include <math.h>

static VizRgb from_hex(unsigned hex) {
    return (VizRgb){(hex >> 16 & 255) / 255.0, (hex >> 8 & 255) / 255.0,
                    (hex & 255) / 255.0};
}

VizRgb viz_rgb(VizColor color) {
    static const unsigned hex[] = {
        [VIZ_AUTO] = 0x0072b2,   [VIZ_BLUE] = 0x0072b2,   [VIZ_VERMILLION] = 0xd55e00,
        [VIZ_GREEN] = 0x009e73,  [VIZ_ORANGE] = 0xe69f00, [VIZ_SKY] = 0x56b4e9,
        [VIZ_PURPLE] = 0xcc79a7, [VIZ_GREY] = 0x5f6368,   [VIZ_PALE] = 0xe4e6e9,
        [VIZ_SILVER] = 0xbfc4ca, [VIZ_INK] = 0x1b1d20,    [VIZ_WHITE] = 0xffffff,
    };
    return from_hex(hex[color]);
}

VizColor viz_turn(VizColor wanted, size_t i) {
    static const VizColor turn[] = {VIZ_BLUE,   VIZ_VERMILLION, VIZ_GREEN,
                                    VIZ_ORANGE, VIZ_SKY,        VIZ_PURPLE};
    return wanted == VIZ_AUTO ? turn[i % (sizeof turn / sizeof *turn)] : wanted;
}

static double linear(double s) {
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

static double luminance(VizRgb c) {
    return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

/* Contrast as WCAG 2 defines it: (lighter + 0.05) / (darker + 0.05). */
VizRgb viz_ink_on(VizRgb ground) {
    VizRgb ink = viz_rgb(VIZ_INK), white = viz_rgb(VIZ_WHITE);
    double light = luminance(ground) + 0.05;
    double dark_ink = light / (luminance(ink) + 0.05), white_ink = 1.05 / light;
    return dark_ink >= white_ink ? ink : white;
}

VizRgb viz_word_rgb(VizRgb c) {
    while (1.05 / (luminance(c) + 0.05) < 4.5)
        c = (VizRgb){0.95 * c.r, 0.95 * c.g, 0.95 * c.b};
    return c;
}

/* t from 0 to 1 along equally spaced colors. */
static VizRgb between(const unsigned *hex, size_t count, double t) {
    double place = fmin(fmax(t, 0), 1) * (double)(count - 1);
    size_t i = (size_t)place;
    if (i + 1 >= count) return from_hex(hex[count - 1]);
    VizRgb a = from_hex(hex[i]), b = from_hex(hex[i + 1]);
    double s = place - (double)i;
    return (VizRgb){a.r + s * (b.r - a.r), a.g + s * (b.g - a.g),
                    a.b + s * (b.b - a.b)};
}

static VizRgb blue_ramp(double t) {
    static const unsigned hex[] = {0xf7fafd, 0xcfe4f3, 0x8fc1e3,
                                   0x3f93cb, 0x0072b2, 0x004a7a};
    return between(hex, sizeof hex / sizeof *hex, t);
}

static VizRgb vermillion_ramp(double t) {
    static const unsigned hex[] = {0xfdfaf7, 0xfbdfc8, 0xf4b585,
                                   0xe58540, 0xd55e00, 0x963f00};
    return between(hex, sizeof hex / sizeof *hex, t);
}

static VizRgb cividis(double t) {
    static const unsigned hex[] = {0x00204d, 0x00306f, 0x2a406c, 0x48526b,
                                   0x5e626e, 0x727374, 0x878479, 0x9e9677,
                                   0xb6a971, 0xd0be67, 0xead357, 0xffea46};
    return between(hex, sizeof hex / sizeof *hex, t);
}

VizRgb viz_scale_rgb(const VizScale *scale, double value) {
    if (scale->ramp == VIZ_RAMP_SIGNED) {
        double reach = fmax(fabs(scale->low), fabs(scale->high));
        double t = reach > 0 ? value / reach : 0;
        return t < 0 ? vermillion_ramp(-t) : blue_ramp(t);
    }
    double span = scale->high - scale->low;
    double t = span > 0 ? (value - scale->low) / span : value > 0 ? 1 : 0;
    return scale->ramp == VIZ_RAMP_CIVIDIS ? cividis(t) : blue_ramp(t);
}
