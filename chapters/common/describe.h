/* How every command calls a model and a token. */
#ifndef KVSTEP_CHAPTERS_DESCRIBE_H
#define KVSTEP_CHAPTERS_DESCRIBE_H

#include "core/model/model.h"
#include <stdio.h>

/* One line: name, parameters, shape. */
void describe_model(const Model *model, FILE *stream);

/* A piece in a cell of a table: escaped, and each blank as an open box, since what
 * nobody sees cannot be told from nothing. Writes into out [room] and returns it. */
const char *describe_piece(Piece piece, char *out, size_t room);

/* The token at a position of a text: <s> is the first, whatever its bytes are. */
const char *describe_token(size_t position, Piece piece, char *out, size_t room);

/* A number of a model with so many decimals, 0.00 without a sign; of 1,000 and more,
 * and of what is no number, the shortest form. Returns out. */
enum { DESCRIBE_NUMBER = 32 };
const char *describe_number(float x, int decimals, char out[DESCRIBE_NUMBER]);

/* What stands for a blank, in UTF-8. */
#define DESCRIBE_BLANK "\xE2\x90\xA3"

#endif
