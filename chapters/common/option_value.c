/* From the text of a value to a field of Options. Stricter than strtoull and strtod,
 * which take signs, blanks, hexadecimal numbers and "infinity". */
#include "chapters/common/nearest.h"
#include "chapters/common/option_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a value that is quoted in an error: enough to recognize it. */
#define QUOTED "%.60s"

static bool read_whole(const char *text, uint64_t *value) {
    *value = 0;
    if (!*text) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        if (__builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*text - '0'), value))
            return false;
    }
    return true;
}

static bool read_number(const OptionRow *row, const char *text, uint64_t *value,
                        Error *err) {
    if (read_whole(text, value) && *value >= row->least && *value <= row->most)
        return true;
    return error_set(
        err, "--%s is '" QUOTED "'; it must be a whole number from %llu to %llu",
        row->name, text, (unsigned long long)row->least, (unsigned long long)row->most);
}

static bool read_real(const OptionRow *row, const char *text, float *value,
                      Error *err) {
    char *end;
    errno = 0;
    double number = strtod(text, &end);
    bool plain = strspn(text, "0123456789.") > 0 && !strpbrk(text, "xX");
    *value = (float)number;
    if (plain && *end == 0 && errno == 0 && isfinite(number) &&
        ((number >= row->low && number <= row->high) || (row->zero_too && number == 0)))
        return true;
    return error_set(err, "--%s is '" QUOTED "'; it must be %sa number from %g to %g",
                     row->name, text, row->zero_too ? "0 or " : "", row->low,
                     row->high);
}

static bool read_choice(const OptionRow *row, const char *text, size_t *choice,
                        Error *err) {
    for (*choice = 0; row->choices[*choice]; ++*choice)
        if (strcmp(text, row->choices[*choice]) == 0) return true;
    const char *near = nearest_name(text, row->choices);
    if (near)
        return error_set(err, "--%s is '" QUOTED "'; did you mean %s?", row->name, text,
                         near);
    char known[100] = "";
    for (size_t i = 0; row->choices[i]; i++) {
        if (i > 0) strncat(known, ", ", sizeof known - strlen(known) - 1);
        strncat(known, row->choices[i], sizeof known - strlen(known) - 1);
    }
    return error_set(err, "--%s is '" QUOTED "'; there is: %s", row->name, text, known);
}

bool option_set(const OptionRow *row, const char *text, Options *options, Error *err) {
    void *field = (char *)options + row->field;
    uint64_t number;
    size_t choice;
    switch (row->kind) {
    case OPTION_HELP:
        return true;
    case OPTION_FLAG:
        return *(bool *)field = true;
    case OPTION_FILE:
        if (!*text)
            return error_set(err, "--%s is empty; give %s", row->name, row->value);
        *(const char **)field = text;
        return true;
    case OPTION_TEXT:
        *(const char **)field = text;
        return true;
    case OPTION_SIZE:
        if (!read_number(row, text, &number, err)) return false;
        *(size_t *)field = (size_t)number;
        return true;
    case OPTION_NUMBER:
        return read_number(row, text, field, err);
    case OPTION_REAL:
        return read_real(row, text, field, err);
    case OPTION_NAME:
        if (!read_choice(row, text, &choice, err)) return false;
        *(const char **)field = row->choices[choice];
        return true;
    case OPTION_SECOND:
        if (!read_choice(row, text, &choice, err)) return false;
        *(bool *)field = choice == 1;
        return true;
    }
    return false;
}
