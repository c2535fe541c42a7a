/* A checkpoint of nothing but zeros: every logit is the same and every row is zero, which
 * memory that was never written is, too. */
#ifndef KVSTEP_TESTS_ZERO_MODEL_H
#define KVSTEP_TESTS_ZERO_MODEL_H

#include "tests/check_main.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { ZERO_PATH = 64, ZERO_VOCAB = 3 };

typedef struct {
    char folder[ZERO_PATH], model[ZERO_PATH], tokenizer[ZERO_PATH];
} ZeroModel;

static inline void zero_write(const char *path, const void *bytes, size_t size,
                              size_t zeros) {
    FILE *file = fopen(path, "wb");
    ck_assert(file != NULL);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    for (size_t i = 0; i < zeros; i++) fputc(0, file);
    ck_assert_int_eq(fclose(file), 0);
}

/* llama2.c's files, as long as a little-endian machine writes them. */
static inline void zero_model_make(ZeroModel *zero) {
    /* dim hidden layers heads kv_heads vocab context; then all weights and two tables */
    const int32_t header[] = {4, 4, 1, 2, 1, ZERO_VOCAB, 8};
    const size_t floats = 12 + 4 + 16 + 8 + 8 + 16 + 4 + 48 + 4 + 16;
    /* The longest piece; then of each its score, length and bytes. */
    static const char pieces[] = "\5\0\0\0"
                                 "\0\0\0\0\5\0\0\0<unk>"
                                 "\0\0\0\0\3\0\0\0<s>"
                                 "\0\0\0\0\4\0\0\0</s>";
    strcpy(zero->folder, "/tmp/kvstep-zero-XXXXXX");
    ck_assert(mkdtemp(zero->folder) != NULL);
    snprintf(zero->model, ZERO_PATH, "%s/m.bin", zero->folder);
    snprintf(zero->tokenizer, ZERO_PATH, "%s/t.bin", zero->folder);
    zero_write(zero->model, header, sizeof header, floats * sizeof(float));
    zero_write(zero->tokenizer, pieces, sizeof pieces - 1, 0);
}

static inline void zero_model_remove(const ZeroModel *zero) {
    unlink(zero->model);
    unlink(zero->tokenizer);
    rmdir(zero->folder);
}

#endif
