#include "viz/ticks.h"

#include <math.h>
#include <stdio.h>

static const double HUGE_RANGE = 1e300, TINY = 1e-300;

static void add(VizTicks *ticks, double at, const char *label) {
    if (ticks->count == VIZ_MAX_TICKS) return;
    VizTick *tick = &ticks->tick[ticks->count++];
    tick->at = at;
    snprintf(tick->label, sizeof tick->label, "%s", label);
}

/* The smallest of 1, 2, 5 x 10^n (bytes: 2^n) that is at least `step`. */
static double nice_step(double step, VizUnit unit) {
    if (unit == VIZ_BYTES) return exp2(ceil(log2(fmax(step, 1)) - 1e-9));
    double power = pow(10, floor(log10(step)));
    const double digits[] = {1, 2, 5, 10};
    for (size_t i = 0; i < 4; i++)
        if (digits[i] * power >= step * (1 - 1e-9)) return digits[i] * power;
    return 10 * power;
}

/* Digits after the point so that neighbours `step` apart differ. */
static int digits_for(double step) {
    int digits = 0;
    for (double s = step; digits < 6 && fabs(s - round(s)) > 1e-6 * s; s *= 10)
        digits++;
    return digits;
}

static void linear(VizTicks *ticks, bool whole, VizUnit unit, size_t most) {
    double step = nice_step((ticks->high - ticks->low) / (double)most, unit);
    if (whole && step < 1) step = 1;
    /* Widening can add a mark at either end; then take the next step. */
    while (ceil(ticks->high / step - 1e-9) - floor(ticks->low / step + 1e-9) >
           (double)most)
        step = nice_step(step * 1.5, unit);
    double first = floor(ticks->low / step + 1e-9),
           last = ceil(ticks->high / step - 1e-9);
    if (last <= first) last = first + 1;
    ticks->low = first * step;
    ticks->high = last * step;
    const char *ending;
    double power =
        viz_unit_power(fmax(fabs(ticks->low), fabs(ticks->high)), unit, &ending);
    bool plain = step >= 1e-5 && fmax(-first, last) * step < 1e21;
    int digits = digits_for(step / power);
    for (double i = first; i <= last; i++) {
        char label[VIZ_NUMBER_ROOM];
        double value = i * step;
        if (!plain)
            snprintf(label, sizeof label, "%.2g", value);
        else
            snprintf(label, sizeof label, "%s%.*f%s", value < 0 ? "\xE2\x88\x92" : "",
                     digits, fabs(value) / power, ending);
        add(ticks, value, value == 0 ? "0" : label);
    }
}

/* 1, 10, 100, 1k, 10k ...; tiny and huge ones as powers of ten. */
static const char *log_label(double value, VizUnit unit, char out[VIZ_NUMBER_ROOM]) {
    if (unit == VIZ_BYTES || (value >= 10000 && value < 1e21))
        return viz_number(value, unit, out);
    if (value < 1e-4 || value >= 1e21)
        snprintf(out, VIZ_NUMBER_ROOM, "%.0e", value);
    else if (value < 1000)
        snprintf(out, VIZ_NUMBER_ROOM, "%g", value);
    else
        snprintf(out, VIZ_NUMBER_ROOM, "%.0fk", value / 1000);
    return out;
}

/* The nearest 1, 2 or 5 x 10^n outside: whole decades would leave paper empty. */
static void widen(VizTicks *ticks) {
    static const double steps[] = {5, 2, 1};
    double below = pow(10, floor(log10(ticks->low) + 1e-9));
    double above = pow(10, floor(log10(ticks->high) - 1e-9));
    double low = below, high = 10 * above;
    for (size_t i = 0; i < 3; i++) {
        if (steps[i] * above >= ticks->high * (1 - 1e-9)) high = steps[i] * above;
        if (steps[2 - i] * below <= ticks->low * (1 + 1e-9)) low = steps[2 - i] * below;
    }
    ticks->low = low;
    ticks->high = high;
}

/* Every `stride`-th decade has a label; with room, 2 and 5 between them, too. */
static void decades(VizTicks *ticks, size_t most) {
    widen(ticks);
    double from = floor(log10(ticks->low) + 1e-9), to = ceil(log10(ticks->high) - 1e-9);
    double stride = fmax(1, ceil((to - from) / (double)most));
    bool inner = 3 * (to - from) <= (double)most;
    char text[VIZ_NUMBER_ROOM];
    for (double d = from; d <= to; d++)
        for (int digit = 1; digit <= 9; digit++) {
            double at = digit * pow(10, d);
            if (at < ticks->low * (1 - 1e-9) || at > ticks->high * (1 + 1e-9)) continue;
            bool labelled = digit == 1 ? fmod(d - from, stride) == 0
                                       : inner && (digit == 2 || digit == 5);
            if (labelled || to - from <= 6)
                add(ticks, at, labelled ? log_label(at, VIZ_COUNT, text) : "");
        }
}

static void doublings(VizTicks *ticks, size_t most) {
    double from = floor(log2(ticks->low) + 1e-9), to = ceil(log2(ticks->high) - 1e-9);
    double stride = fmax(1, ceil((to - from) / (double)most));
    to = from + ceil((to - from) / stride) * stride;
    char text[VIZ_NUMBER_ROOM];
    for (double e = from; e <= to; e += stride)
        add(ticks, exp2(e), log_label(exp2(e), VIZ_BYTES, text));
    ticks->low = exp2(from);
    ticks->high = exp2(to);
}

void viz_ticks(double low, double high, bool log, bool whole, VizUnit unit, size_t most,
               VizTicks *ticks) {
    low = fmin(fmax(low, -HUGE_RANGE), HUGE_RANGE); /* a range must not overflow */
    high = fmin(fmax(high, -HUGE_RANGE), HUGE_RANGE);
    *ticks = (VizTicks){.low = fmin(low, high), .high = fmax(low, high), .log = log};
    if (most < 2) most = 2;
    if (most > 20) most = 20;
    if (log) {
        ticks->low = fmax(ticks->low, TINY);
        ticks->high = fmax(ticks->high, TINY);
        if (!(ticks->high > ticks->low * (1 + 1e-6))) { /* all equal: half and double */
            ticks->low /= 2;
            ticks->high *= 2;
        }
        if (unit == VIZ_BYTES)
            doublings(ticks, most);
        else
            decades(ticks, most);
        return;
    }
    double least = fmax(fmax(fabs(low), fabs(high)) * 1e-9, TINY);
    if (!(ticks->high - ticks->low > least)) { /* all equal: zero and the value */
        if (fabs(ticks->low) <= TINY) {
            ticks->low = 0;
            ticks->high = 1;
        }
        if (ticks->low > 0) ticks->low = 0;
        if (ticks->high < 0) ticks->high = 0;
    }
    linear(ticks, whole, unit, most);
}

void viz_ticks_trim(VizTicks *ticks, double low, double high) {
    VizTicks kept = {.low = low, .high = high, .log = ticks->log};
    size_t labelled = 0;
    double air = 1e-9 * (high - low);
    for (size_t i = 0; i < ticks->count; i++) {
        const VizTick *tick = &ticks->tick[i];
        if (tick->at < low - air || tick->at > high + air) continue;
        kept.tick[kept.count++] = *tick;
        labelled += tick->label[0] != 0;
    }
    if (labelled >= 2 && low < high) *ticks = kept;
}

double viz_ticks_place(const VizTicks *ticks, double value) {
    if (ticks->log) return log(value / ticks->low) / log(ticks->high / ticks->low);
    return (value - ticks->low) / (ticks->high - ticks->low);
}
