#ifndef KVSTEP_MINIMAL

#include "chapters/common/json.h"
#include "core/text/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool json_put(json_t *object, const char *key, json_t *value, Error *err) {
    if (json_object_set_new(object, key, value) == 0) return true;
    return error_set(err, "JSON: '%s' cannot be added; is there memory left?", key);
}

bool json_put_count(json_t *object, const char *key, uint64_t value, Error *err) {
    if (value <= INT64_MAX)
        return json_put(object, key, json_integer((json_int_t)value), err);
    return error_set(err, "JSON: '%s' is %llu, over the largest integer, 2^63 - 1", key,
                     (unsigned long long)value);
}

bool json_put_seconds(json_t *object, const char *key, double seconds, Error *err) {
    return json_put(object, key, json_real(round(seconds * 1e9) / 1e9), err);
}

/* text [3 * length]: every byte that begins no character grows to U+FFFD. */
static size_t repair(const char *bytes, size_t length, char *text) {
    static const char replacement[] = "\xEF\xBF\xBD";
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        size_t taken = utf8_length(bytes + i, length - i);
        memcpy(text + used, taken ? bytes + i : replacement, taken ? taken : 3);
        used += taken ? taken : 3;
        i += taken ? taken : 1;
    }
    return used;
}

/* text [2 * length] */
static void spell_hex(const char *bytes, size_t length, char *text) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        text[2 * i] = digits[(unsigned char)bytes[i] >> 4];
        text[2 * i + 1] = digits[(unsigned char)bytes[i] & 15];
    }
}

bool json_put_bytes(json_t *object, const char *key, const char *hex_key,
                    const char *bytes, size_t length, Error *err) {
    char *text = length < SIZE_MAX / 3 ? malloc(3 * length + 1) : NULL;
    if (!text) return error_set(err, "JSON: no memory for '%s'", key);
    size_t used = repair(bytes, length, text);
    bool done = json_put(object, key, json_stringn(text, used), err);
    if (done && hex_key && utf8_valid(bytes, length) < length) {
        spell_hex(bytes, length, text);
        done = json_put(object, hex_key, json_stringn(text, 2 * length), err);
    }
    free(text);
    return done;
}

bool json_print(const json_t *document, FILE *stream, Error *err) {
    /* A failed write shows at the end, when main.c closes stdout. */
    if (json_dumpf(document, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0 &&
        !ferror(stream))
        return error_set(err, "JSON: the document cannot be printed");
    fputc('\n', stream);
    return true;
}

#endif
