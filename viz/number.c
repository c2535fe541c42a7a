#include "viz/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MINUS[] = "\xE2\x88\x92"; /* U+2212, as wide as a plus */

double viz_unit_power(double largest, VizUnit unit, const char **ending) {
    static const char *const endings[][7] = {
        {"", "k", "M", "G", "T", "P", "E"},
        {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"},
    };
    double base = unit == VIZ_BYTES ? 1024 : 1000, power = 1;
    size_t i = 0;
    double from = unit == VIZ_BYTES ? 1024 : 10000; /* 2048 tokens stay 2048 */
    while (i < 6 && fabs(largest) / power >= (i ? base : from)) {
        power *= base;
        i++;
    }
    *ending = endings[unit][i];
    return power;
}

/* Three digits that count, no zeros at the end of a fraction. */
static void three_digits(double value, char *out, size_t size) {
    double a = fabs(value);
    int digits = a >= 100 || a == floor(a) ? 0 : a >= 10 ? 1 : a >= 1 ? 2 : 3;
    if (a > 0 && a < 0.001)
        snprintf(out, size, "%.1e", a);
    else
        snprintf(out, size, "%.*f", digits, a);
    if (!strchr(out, '.') || strchr(out, 'e')) return;
    char *end = out + strlen(out);
    while (end[-1] == '0') *--end = 0;
    if (end[-1] == '.') *--end = 0;
}

const char *viz_number(double value, VizUnit unit, char out[VIZ_NUMBER_ROOM]) {
    if (!isfinite(value)) return viz_cell(value, 0, out);
    if (fabs(value) >= 1e21) {
        snprintf(out, VIZ_NUMBER_ROOM, "%.1e", value);
        return out;
    }
    const char *ending;
    double power = viz_unit_power(value, unit, &ending);
    /* 999.9996 KiB would become 1000 KiB: step up once more */
    if (fabs(value) / power >= (unit == VIZ_BYTES ? 1023.5 : 999.5) && power > 1)
        power = viz_unit_power(value / fabs(value) * power * 1024, unit, &ending);
    char digits[24];
    three_digits(value / power, digits, sizeof digits);
    snprintf(out, VIZ_NUMBER_ROOM, "%s%s%s", value < 0 ? MINUS : "", digits, ending);
    return out;
}

const char *viz_number_exact(double value, char out[VIZ_NUMBER_ROOM]) {
    if (isnan(value)) return strcpy(out, "nan");
    if (fabs(value) < 1e15 && value == floor(value)) {
        snprintf(out, VIZ_NUMBER_ROOM, "%.0f", value + 0.0); /* no negative zero */
        return out;
    }
    for (int digits = 6; digits <= 17; digits += digits == 6 ? 9 : 1) {
        snprintf(out, VIZ_NUMBER_ROOM, "%.*g", digits, value);
        if (strtod(out, NULL) == value) break;
    }
    return out;
}

int viz_cell_digits(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]) && values[i] != floor(values[i])) return 2;
    return 0;
}

const char *viz_cell(double value, int digits, char out[VIZ_NUMBER_ROOM]) {
    if (isnan(value)) return strcpy(out, "NaN");
    const char *sign = value < 0 ? MINUS : "";
    if (isinf(value)) {
        snprintf(out, VIZ_NUMBER_ROOM, "%sinf", sign);
        return out;
    }
    if (fabs(value) >= 10000) return viz_number(value, VIZ_COUNT, out);
    /* a value that rounds to nothing has no sign */
    if (fabs(value) < 0.5 * pow(10, -digits)) sign = "";
    snprintf(out, VIZ_NUMBER_ROOM, "%s%.*f", sign, digits, fabs(value));
    return out;
}
