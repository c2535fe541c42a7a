#include "chapters/common/labels.h"
#include "core/text/utf8.h"

#include <string.h>

bool labels_open(Labels *labels, size_t count, Memory *memory, Error *err) {
    *labels = (Labels){.count = count, .memory = memory};
    labels->text = memory_new(memory, count, sizeof *labels->text, err);
    labels->room = memory_new(memory, count, sizeof *labels->room, err);
    if (!labels->text || !labels->room) {
        labels_close(labels);
        return false;
    }
    for (size_t i = 0; i < count; i++) labels->text[i] = labels->room[i];
    return true;
}

void labels_close(Labels *labels) {
    memory_free(labels->memory, labels->text);
    memory_free(labels->memory, labels->room);
    *labels = (Labels){0};
}

const char *label_of(Piece piece, char out[LABEL_ROOM]) {
    static const char zero[] = "\\x00";
    size_t used = 0;
    for (size_t at = 0, length; at < piece.length; at += length) {
        const char *from = piece.bytes + at;
        length = utf8_length(from, piece.length - at);
        if (length == 0) length = 1;
        const bool is_zero = *from == 0;
        const size_t adds = is_zero ? sizeof zero - 1 : length;
        if (used + adds >= LABEL_ROOM) break;
        memcpy(out + used, is_zero ? zero : from, adds);
        used += adds;
    }
    out[used] = 0;
    return out;
}

void labels_set(Labels *labels, size_t i, Piece piece) {
    if (i == 0)
        strcpy(labels->room[0], "<s>");
    else
        label_of(piece, labels->room[i]);
}
