/* What a function prints, as a text. */
#ifndef KVSTEP_TESTS_CAPTURE_H
#define KVSTEP_TESTS_CAPTURE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* A stream that writes to memory; closing it gives the text, for the caller to free. */
typedef struct {
    FILE *stream;
    char *text;
    size_t size;
} Capture;

static inline void capture_begin(Capture *capture) {
    capture->stream = open_memstream(&capture->text, &capture->size);
    ck_assert(capture->stream != NULL);
}

static inline const char *capture_end(Capture *capture) {
    fclose(capture->stream);
    return capture->text;
}

#endif
