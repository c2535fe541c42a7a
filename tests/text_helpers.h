/* What the tests of the text room share: small vocabularies and what is demanded of a
 * tokenizer. */
#ifndef KVSTEP_TESTS_TEXT_HELPERS_H
#define KVSTEP_TESTS_TEXT_HELPERS_H

#include "core/base/random.h"
#include "core/text/tokenizer.h"
#include "tests/check_main.h"
#include "tests/fuzz/llama2c_files.h"

enum { UNK = 0, EOS = 2, FIRST_BYTE = 3, MOST = 512 };

static inline size_t below(uint64_t stream, uint64_t index, size_t limit) {
    return (size_t)(random_draw(7, stream, index) % limit);
}

static inline Tokenizer *open_merge(const VocabFile *file, Memory *memory) {
    Vocab vocab;
    Error err = {0};
    ck_assert_msg(llama2c_vocab_parse("tok.bin", vocab_file_bytes(file, memory),
                                      file->pieces, &vocab, memory, &err),
                  "%s", err.text);
    Tokenizer *tokenizer = tokenizer_merge_open(vocab, memory, &err);
    ck_assert_msg(tokenizer != NULL, "%s", err.text);
    return tokenizer;
}

static inline void add(VocabFile *file, float score, const char *piece) {
    vocab_file_add(file, score, piece, strlen(piece));
}

/* A small vocabulary of words over a, b, space and one character of two bytes. */
static inline void begin_words(VocabFile *file, bool bytes) {
    vocab_file_begin(file, 6);
    vocab_file_add_fixed(file, bytes);
    static const char *const words[] = {" ", "a", "b", "ab", " a", "aba", "\xc3\xa9"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        add(file, -(float)w, words[w]);
}

static inline void demand_ids(const Tokenizer *tokenizer, const char *text,
                              const int *ids, size_t count) {
    int got[MOST];
    size_t n;
    Error err = {0};
    ck_assert_msg(tokenizer_prompt(tokenizer, text, got, MOST, &n, &err), "%s",
                  err.text);
    ck_assert_uint_eq(n, count);
    for (size_t i = 0; i < n; i++) ck_assert_int_eq(got[i], ids[i]);
}

static inline void demand_piece(const Tokenizer *tokenizer, int before, int id,
                                const char *bytes, size_t length) {
    Piece piece = tokenizer->piece(tokenizer, before, id);
    ck_assert_uint_eq(piece.length, length);
    ck_assert(memcmp(piece.bytes, bytes, length) == 0);
}

/* The UTF-8 of a code point; its length. text [4] */
static inline size_t put_character(uint32_t code, char *text) {
    unsigned char *b = (unsigned char *)text;
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        b[i] = (unsigned char)(0x80 | (code & 0x3f));
    b[0] = (unsigned char)(lead[length] | code);
    return length;
}

#endif
