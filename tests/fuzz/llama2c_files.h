/* Small llama2.c files, built in memory: the tests take them apart again, and the
 * corpus of the fuzz targets holds a few written to disk. */
#ifndef KVSTEP_TESTS_FUZZ_LLAMA2C_FILES_H
#define KVSTEP_TESTS_FUZZ_LLAMA2C_FILES_H

#include "core/base/file.h"
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The header's numbers, in the order of the file. */
typedef struct {
    int32_t dim, hidden, layers, heads, kv_heads, vocab, context;
} CheckpointHeader;

enum { CHECKPOINT_HEADER = sizeof(CheckpointHeader) };

/* What stands at float i of the weights: exact, and different for neighbours. */
static inline float checkpoint_weight(size_t i) {
    return (float)(i % 1021) * 0.125f - 60.0f;
}

/* Floats of one layer: two norms, q and output, k and v, the three of the MLP. */
static inline size_t checkpoint_layer_floats(const CheckpointHeader *h) {
    size_t dim = (size_t)h->dim, kv_dim = dim / (size_t)h->heads * (size_t)h->kv_heads;
    return 2 * dim + 2 * dim * dim + 2 * dim * kv_dim + 3 * dim * (size_t)h->hidden;
}

static inline size_t checkpoint_floats(const CheckpointHeader *h) {
    size_t embedding = (size_t)abs(h->vocab) * (size_t)h->dim;
    size_t tables = (size_t)h->context * (size_t)(h->dim / h->heads);
    return embedding * (h->vocab < 0 ? 2 : 1) + (size_t)h->dim + tables +
           (size_t)h->layers * checkpoint_layer_floats(h);
}

static inline Bytes checkpoint_build(const CheckpointHeader *h, Memory *memory) {
    size_t floats = checkpoint_floats(h);
    Bytes file = {.size = CHECKPOINT_HEADER + floats * sizeof(float)};
    file.data = memory_new(memory, file.size, 1, NULL);
    assert(file.data);
    memcpy(file.data, h, CHECKPOINT_HEADER);
    for (size_t i = 0; i < floats; i++) {
        float weight = checkpoint_weight(i);
        memcpy(file.data + CHECKPOINT_HEADER + i * sizeof weight, &weight,
               sizeof weight);
    }
    return file;
}

/* A tokenizer file that grows piece by piece. */
typedef struct {
    unsigned char bytes[16384];
    size_t size, pieces;
} VocabFile;

static inline void vocab_file_begin(VocabFile *file, int32_t longest) {
    file->pieces = 0;
    file->size = sizeof longest;
    memcpy(file->bytes, &longest, sizeof longest);
}

static inline void vocab_file_add(VocabFile *file, float score, const char *bytes,
                                  size_t length) {
    int32_t stored = (int32_t)length;
    assert(file->size + 8 + length <= sizeof file->bytes);
    memcpy(file->bytes + file->size, &score, 4);
    memcpy(file->bytes + file->size + 4, &stored, 4);
    memcpy(file->bytes + file->size + 8, bytes, length);
    file->size += 8 + length;
    file->pieces++;
}

/* Ids 0 to 2 and, if wanted, the 256 bytes behind them, as every llama2.c file has. */
static inline void vocab_file_add_fixed(VocabFile *file, bool bytes) {
    vocab_file_add(file, 0, "<unk>", 5);
    vocab_file_add(file, 0, "\n<s>\n", 5);
    vocab_file_add(file, 0, "\n</s>\n", 6);
    for (unsigned b = 0; bytes && b < 256; b++) {
        char piece[8];
        snprintf(piece, sizeof piece, "<0x%02X>", b);
        vocab_file_add(file, 0, piece, 6);
    }
}

static inline Bytes vocab_file_bytes(const VocabFile *file, Memory *memory) {
    Bytes copy = {memory_new(memory, file->size, 1, NULL), file->size};
    assert(copy.data);
    memcpy(copy.data, file->bytes, file->size);
    return copy;
}

#endif
