#include "core/base/bytes.h"

#include <string.h>

BytesReader bytes_reader(Bytes file) {
    return (BytesReader){.data = file.data, .size = file.size};
}

size_t bytes_left(const BytesReader *reader) {
    return reader->size - reader->position;
}

const void *bytes_block(BytesReader *reader, size_t count, size_t size) {
    size_t bytes = count;
    if (!size_times(&bytes, size) || bytes > bytes_left(reader)) return NULL;
    const void *block = reader->data + reader->position;
    reader->position += bytes;
    return block;
}

bool bytes_uint32(BytesReader *reader, uint32_t *value) {
    const unsigned char *b = bytes_block(reader, 4, 1);
    if (!b) return false;
    *value = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
             (uint32_t)b[3] << 24;
    return true;
}

bool bytes_int32(BytesReader *reader, int32_t *value) {
    uint32_t bits;
    if (!bytes_uint32(reader, &bits)) return false;
    memcpy(value, &bits, sizeof *value);
    return true;
}

bool bytes_float(BytesReader *reader, float *value) {
    uint32_t bits;
    if (!bytes_uint32(reader, &bits)) return false;
    memcpy(value, &bits, sizeof *value);
    return true;
}
