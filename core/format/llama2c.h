/* llama2.c files: legacy checkpoints and tokenizer files
 * (github.com/karpathy/llama2.c).
 *
 * A checkpoint is seven int32 (dim, hidden, layers, heads, kv_heads, vocab, context; a
 * negative vocab means a separate output matrix) and then float32 tensors one after
 * another: embedding [vocab][dim]; for all layers attention norms [dim], W_q, W_k, W_v,
 * W_o, MLP norms [dim], gate, down, up; final norm [dim]; two unused RoPE tables
 * [context][head size / 2]; and the output matrix [vocab][dim] if it is separate.
 *
 * A tokenizer file is int32 longest piece, then for each id float32 score, int32 length
 * and the bytes. It does not say how many: the model's vocabulary does. */
#ifndef KVSTEP_FORMAT_LLAMA2C_H
#define KVSTEP_FORMAT_LLAMA2C_H

#include "core/format/tensors.h"

/* Reads a checkpoint; `path` must outlive the tensors. Refused with one line that
 * begins with the path: missing, empty, truncated, too long (by how much), header
 * numbers that are zero, negative, huge or inconsistent, weights that are not finite
 * (named by tensor and index). Nothing is kept on failure. */
bool llama2c_read(const char *path, Tensors *tensors, Memory *memory, Error *err);

/* The same from bytes, which the tensors take over (freed on failure, too). */
bool llama2c_parse(const char *path, Bytes file, Tensors *tensors, Memory *memory,
                   Error *err);

/* Pieces with their scores, as a tokenizer file holds them. */
typedef struct {
    size_t pieces;
    struct VocabPiece {
        const unsigned char *bytes; /* [length], inside `file`; not ended by 0 */
        size_t length;              /* may be 0 */
        float score;
    } * piece; /* [pieces] */
    Bytes file;
    Memory *memory;
} Vocab;

/* Reads exactly `pieces` pieces; refuses missing, empty, truncated, longer files,
 * lengths that are negative or beyond the file's "longest piece", scores that are not
 * finite. */
bool llama2c_vocab_read(const char *path, size_t pieces, Vocab *vocab, Memory *memory,
                        Error *err);
bool llama2c_vocab_parse(const char *path, Bytes file, size_t pieces, Vocab *vocab,
                         Memory *memory, Error *err);
void vocab_close(Vocab *vocab);

#endif
