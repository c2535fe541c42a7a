/* From text to token ids and back.
 *
 * Two kinds. `merge` (merge.c): sentencepiece's byte-pair merging by score with a space
 * in front and byte fallback, as Llama uses it. `bytes` (byte_vocab.c): for `random:`
 * models; id = byte modulo the vocabulary's size, id 1 doubles as <s>. */
#ifndef KVSTEP_TEXT_TOKENIZER_H
#define KVSTEP_TEXT_TOKENIZER_H

#include "core/base/memory.h"
#include "core/format/llama2c.h"

enum { TOKENIZER_MAX_ENDS = 4 };

/* Bytes of one piece; not ended by 0, may hold any byte and half characters. */
typedef struct {
    const char *bytes;
    size_t length;
} Piece;

typedef struct Tokenizer Tokenizer;
struct Tokenizer {
    size_t vocab;
    int bos; /* <s>, in front of every prompt */
    size_t ends;
    int end[TOKENIZER_MAX_ENDS]; /* drawing one of these ends the text; ends may be 0 */
    Memory *memory;

    /* ids [room] of text without <s>; *count tokens. Fails when room is too small;
     * bytes + 1 is always enough. */
    bool (*encode)(const Tokenizer *, const char *text, size_t bytes, int *ids,
                   size_t room, size_t *count, Error *err);
    /* The bytes that `id` adds to a text whose last token was `before` (<s>: the first
     * piece drops the space that encoding put in front). */
    Piece (*piece)(const Tokenizer *, int before, int id);
    void (*close)(Tokenizer *);
};

/* Ids of <s> and then the text (empty: <s> alone); refuses text that is not valid UTF-8
 * (naming the byte) and more than `room` ids. ids [room]. */
bool tokenizer_prompt(const Tokenizer *tokenizer, const char *text, int *ids,
                      size_t room, size_t *count, Error *err);

bool tokenizer_is_end(const Tokenizer *tokenizer, int id);

/* Takes over `vocab` (closed on failure, too), of at least 2 pieces. Ids as in
 * llama2.c: 0 <unk>, 1 <s>, 2 </s>, byte b at 3 + b. A byte whose id lies past the
 * vocabulary, or whose piece there is not <0xNN>, maps to <unk>. Text never becomes a
 * control piece or a byte by being spelled like one; of pieces with equal bytes the
 * lowest id counts. */
Tokenizer *tokenizer_merge_open(Vocab vocab, Memory *memory, Error *err);

/* vocab of at least 2. */
Tokenizer *tokenizer_bytes_open(size_t vocab, Memory *memory, Error *err);

void tokenizer_close(Tokenizer *tokenizer);

#endif
