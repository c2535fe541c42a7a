#include "chapters/common/describe.h"
#include "chapters/common/quantity.h"
#include "chapters/common/text.h"

#include <math.h>
#include <string.h>

static const char *short_name(const char *name) {
    if (strncmp(name, "random:", 7) == 0) return "random, untrained";
    const char *slash = strrchr(name, '/');
    return slash && slash[1] ? slash + 1 : name;
}

void describe_model(const Model *model, FILE *stream) {
    const Shape *shape = &model->weights.shape;
    const char *name = short_name(model->name);
    char escaped[60], parameters[QUANTITY_TEXT];
    text_escape(name, strlen(name), escaped, sizeof escaped);
    fprintf(
        stream, "model: %s: %s, dim %zu, %zu layers, %zu heads (%zu kv)\n", escaped,
        quantity_of(weights_parameters(shape), "parameter", "parameters", parameters),
        shape->dim, shape->layers, shape->layer[0].heads, shape->layer[0].kv_heads);
}

const char *describe_piece(Piece piece, char *out, size_t room) {
    static const char blank[] = DESCRIBE_BLANK;
    char escaped[64];
    size_t used = 0;
    text_escape(piece.bytes, piece.length, escaped, sizeof escaped);
    /* Whole characters only: a blank takes three bytes where it took one. */
    for (const char *from = escaped; *from;) {
        size_t taken = 1;
        while ((from[taken] & 0xC0) == 0x80) taken++;
        const char *shown = *from == ' ' ? blank : from;
        const size_t bytes = *from == ' ' ? sizeof blank - 1 : taken;
        if (used + bytes + 1 > room) break;
        memcpy(out + used, shown, bytes);
        used += bytes;
        from += taken;
    }
    out[used] = 0;
    return out;
}

const char *describe_token(size_t position, Piece piece, char *out, size_t room) {
    if (position > 0) return describe_piece(piece, out, room);
    snprintf(out, room, "<s>");
    return out;
}

const char *describe_number(float x, int decimals, char out[DESCRIBE_NUMBER]) {
    if (!(fabsf(x) < 1000)) {
        snprintf(out, DESCRIBE_NUMBER, "%.1e", (double)x);
        return out;
    }
    snprintf(out, DESCRIBE_NUMBER, "%.*f", decimals, (double)x);
    if (out[0] == '-' && strspn(out + 1, "0.") == strlen(out + 1))
        memmove(out, out + 1, strlen(out));
    return out;
}
