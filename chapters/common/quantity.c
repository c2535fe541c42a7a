#include "chapters/common/quantity.h"

#include <stdio.h>
#include <string.h>

const char *quantity_count(uint64_t count, char out[QUANTITY_TEXT]) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    char *to = out;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return out;
}

const char *quantity_of(uint64_t count, const char *one, const char *many,
                        char out[QUANTITY_TEXT]) {
    quantity_count(count, out);
    size_t used = strlen(out);
    snprintf(out + used, QUANTITY_TEXT - used, " %s", count == 1 ? one : many);
    return out;
}

const char *quantity_bytes(uint64_t bytes, char out[QUANTITY_TEXT]) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    quantity_of(bytes, "byte", "bytes", out);
    int unit = -1;
    while (bytes >= 1024 && bytes % 1024 == 0 && unit < 3) {
        bytes /= 1024;
        unit++;
    }
    size_t used = strlen(out);
    if (unit >= 0)
        snprintf(out + used, QUANTITY_TEXT - used, " (%llu %s)",
                 (unsigned long long)bytes, units[unit]);
    return out;
}

const char *quantity_ratio(uint64_t above, uint64_t below, char out[QUANTITY_TEXT]) {
    if (below == 0) return strcpy(out, "-");
    double tenths = (double)above / (double)below * 10 + 0.5;
    if (!(tenths < 1e18)) return strcpy(out, "huge");
    quantity_count((uint64_t)tenths / 10, out);
    size_t used = strlen(out);
    snprintf(out + used, QUANTITY_TEXT - used, ".%u",
             (unsigned)((uint64_t)tenths % 10));
    return out;
}

const char *quantity_seconds(double seconds, char out[QUANTITY_TEXT]) {
    const char *unit = "s";
    if (seconds < 999.5e-6) {
        seconds *= 1e6;
        unit = "us";
    } else if (seconds < 0.9995) {
        seconds *= 1e3;
        unit = "ms";
    }
    /* Three digits in all; 0.4 us would be false precision. */
    int after = seconds >= 99.95 || unit[0] == 'u' ? 0 : seconds >= 9.995 ? 1 : 2;
    snprintf(out, QUANTITY_TEXT, "%.*f %s", after, seconds, unit);
    return out;
}
