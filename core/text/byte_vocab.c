/* The vocabulary of `random:` models: a byte is a token. Such a model was never
 * trained, so nothing is lost when a small vocabulary gives several bytes one id. */
#include "core/text/tokenizer.h"

#include <limits.h>

typedef struct {
    Tokenizer base; /* first, so that a Tokenizer * is a ByteVocab * */
    char byte[256]; /* byte[b] = b: where pieces point to */
} ByteVocab;

static bool encode(const Tokenizer *self, const char *text, size_t bytes, int *ids,
                   size_t room, size_t *count, Error *err) {
    *count = 0;
    if (bytes > room)
        return error_set(err,
                         "the text is %zu tokens, but there is room for %zu; "
                         "shorten it",
                         bytes, room);
    for (size_t i = 0; i < bytes; i++)
        ids[i] = (int)((unsigned char)text[i] % self->vocab);
    *count = bytes;
    return true;
}

static Piece piece(const Tokenizer *self, int before, int id) {
    (void)before;
    const ByteVocab *bytes = (const ByteVocab *)self;
    if (id < 0 || (size_t)id >= self->vocab) return (Piece){"", 0};
    return (Piece){&bytes->byte[id % 256], 1};
}

static void close_bytes(Tokenizer *self) {
    memory_free(self->memory, self);
}

Tokenizer *tokenizer_bytes_open(size_t vocab, Memory *memory, Error *err) {
    if (vocab < 2 || vocab > INT_MAX) {
        error_set(err, "vocab is %zu; it must be 2 to %d, because <s> is id 1", vocab,
                  INT_MAX);
        return NULL;
    }
    ByteVocab *bytes = memory_new(memory, 1, sizeof *bytes, err);
    if (!bytes) return NULL;
    bytes->base = (Tokenizer){.vocab = vocab,
                              .bos = 1,
                              .memory = memory,
                              .encode = encode,
                              .piece = piece,
                              .close = close_bytes};
    for (int b = 0; b < 256; b++) bytes->byte[b] = (char)b;
    return &bytes->base;
}
