/* A string that grows. Text, CSV and the bytes of a picture are collected in memory
 * first, so that nothing half-written ever reaches a file.
 *
 * Starts zeroed. A buffer that cannot grow keeps what it has and sets `failed`; who
 * hands the bytes on looks once, at the end. */
#ifndef KVSTEP_VIZ_BUFFER_H
#define KVSTEP_VIZ_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *bytes; /* a zero byte follows the used ones; NULL before the first */
    size_t used, room;
    bool failed;
} VizBuffer;

void viz_buffer_add(VizBuffer *buffer, const void *bytes, size_t count);

__attribute__((format(printf, 2, 3))) void viz_buffer_print(VizBuffer *buffer,
                                                            const char *format, ...);

/* The text so far, "" when there is none. */
const char *viz_buffer_text(const VizBuffer *buffer);

void viz_buffer_free(VizBuffer *buffer);

#endif
