/* What a model file says: named tensors and named numbers, never a model. Every reader
 * yields this; core/model/weights.c alone knows what the names mean.
 *
 * Names are those of GGUF: numbers such as "llama.block_count" and
 * "llama.attention.head_count_kv", tensors such as "token_embd.weight",
 * "blk.0.attn_q.weight", "output_norm.weight". */
#ifndef KVSTEP_FORMAT_TENSORS_H
#define KVSTEP_FORMAT_TENSORS_H

#include "core/base/file.h"
#include "core/kernels/format.h"

enum { TENSOR_NAME_MAX = 64 };

typedef struct {
    char name[TENSOR_NAME_MAX];
    Matrix matrix; /* a vector is one row */
} Tensor;

typedef struct {
    const char *name;
    double value; /* integers up to 2^53 are exact */
} MetaNumber;

typedef struct {
    const char *path; /* for messages; belongs to the caller */
    size_t tensors, numbers;
    Tensor *tensor;     /* [tensors], data inside `file` */
    MetaNumber *number; /* [numbers] */
    Bytes file;
    Memory *memory;
} Tensors;

/* The tensor or number of that name, or NULL. */
const Tensor *tensors_find(const Tensors *tensors, const char *name);
const double *tensors_number(const Tensors *tensors, const char *name);

/* Frees everything, the file's bytes too. */
void tensors_close(Tensors *tensors);

#endif
