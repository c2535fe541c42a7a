/* Pieces that the JSON documents of several commands have in common, so that a key
 * means the same in each. Not in the MINIMAL build. */
#ifndef KVSTEP_CHAPTERS_JSON_PARTS_H
#define KVSTEP_CHAPTERS_JSON_PARTS_H

#include "chapters/common/json.h"
#include "core/count/counters.h"
#include "core/model/model.h"

/* Adds a new, empty object or list under `key`; NULL and err without memory. */
json_t *json_put_object(json_t *parent, const char *key, Error *err);
json_t *json_put_list(json_t *parent, const char *key, Error *err);

/* Adds a new, empty object at the end of a list. */
json_t *json_add_object(json_t *list, Error *err);

/* A number; null if it is not finite, which JSON cannot say. */
bool json_put_real(json_t *object, const char *key, double value, Error *err);

/* cell [rows][cols] as a list of rows; [count] as one list. */
bool json_put_matrix(json_t *object, const char *key, const float *cell, size_t rows,
                     size_t cols, Error *err);
bool json_put_floats(json_t *object, const char *key, const float *number, size_t count,
                     Error *err);

/* "model": name, shape, parameters. */
bool json_put_model(json_t *root, const Model *model, Error *err);

/* "flops": by part, and their total. */
bool json_put_flops(json_t *object, const Counters *counters, Error *err);

/* "text", and "bytes" in hexadecimal where the piece is no whole text. */
bool json_put_piece(json_t *object, Piece piece, Error *err);

#endif
