/* Tokens as words beside a picture. */
#ifndef KVSTEP_CHAPTERS_LABELS_H
#define KVSTEP_CHAPTERS_LABELS_H

#include "core/text/tokenizer.h"

enum { LABEL_ROOM = 128 }; /* bytes of one with its end; longer pieces are cut */

typedef struct {
    size_t count;
    const char **text;        /* [count] */
    char (*room)[LABEL_ROOM]; /* [count] */
    Memory *memory;
} Labels;

/* count empty ones. */
bool labels_open(Labels *labels, size_t count, Memory *memory, Error *err);
void labels_close(Labels *labels);

/* The i-th becomes that piece; the first one of a text is <s>. */
void labels_set(Labels *labels, size_t i, Piece piece);

/* A piece as a text: its real bytes, which viz makes safe, but for a zero byte, which
 * would end it and becomes \x00. Returns out. */
const char *label_of(Piece piece, char out[LABEL_ROOM]);

#endif
