/* A checked reader of little-endian numbers: goes through the bytes of a file from
 * front to back and never past their end, whatever counts the file claims.
 *
 * Every take either succeeds and moves on, or fails and stays where it was; the caller
 * knows what was being read and words the error. */
#ifndef KVSTEP_BASE_BYTES_H
#define KVSTEP_BASE_BYTES_H

#include "core/base/file.h"
#include <stdint.h>

typedef struct {
    const unsigned char *data; /* [size], belongs to the caller */
    size_t size, position;     /* position <= size always */
} BytesReader;

BytesReader bytes_reader(Bytes file);

/* Bytes not read yet. */
size_t bytes_left(const BytesReader *reader);

/* The next `count` things of `size` bytes each, in place; NULL if they are not all
 * there (or count x size overflows). Nothing at all (0 bytes) is always there. */
const void *bytes_block(BytesReader *reader, size_t count, size_t size);

bool bytes_uint32(BytesReader *reader, uint32_t *value);
bool bytes_int32(BytesReader *reader, int32_t *value);
bool bytes_float(BytesReader *reader, float *value);

#endif
