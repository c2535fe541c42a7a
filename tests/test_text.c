/* Tokenizer files, the two tokenizers, and UTF-8. */
#include "core/base/random.h"
#include "core/text/tokenizer.h"
#include "core/text/utf8.h"
#include "tests/check_main.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/llama2c_files.h"

#include <limits.h>
#include <math.h>

enum { UNK = 0, EOS = 2, FIRST_BYTE = 3, MOST = 512 };

static size_t below(uint64_t stream, uint64_t index, size_t limit) {
    return (size_t)(random_draw(7, stream, index) % limit);
}

static Tokenizer *open_merge(const VocabFile *file, Memory *memory) {
    Vocab vocab;
    Error err = {0};
    ck_assert_msg(llama2c_vocab_parse("tok.bin", vocab_file_bytes(file, memory),
                                      file->pieces, &vocab, memory, &err),
                  "%s", err.text);
    Tokenizer *tokenizer = tokenizer_merge_open(vocab, memory, &err);
    ck_assert_msg(tokenizer != NULL, "%s", err.text);
    return tokenizer;
}

static void add(VocabFile *file, float score, const char *piece) {
    vocab_file_add(file, score, piece, strlen(piece));
}

/* A small vocabulary of words over a, b, space and one character of two bytes. */
static void begin_words(VocabFile *file, bool bytes) {
    vocab_file_begin(file, 6);
    vocab_file_add_fixed(file, bytes);
    static const char *const words[] = {" ", "a", "b", "ab", " a", "aba", "\xc3\xa9"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        add(file, -(float)w, words[w]);
}

static void demand_vocab_refused(Bytes file, size_t pieces, Memory *memory,
                                 const char *reason) {
    Vocab vocab;
    Error err = {0};
    ck_assert(!llama2c_vocab_parse("tok.bin", file, pieces, &vocab, memory, &err));
    ck_assert_msg(strncmp(err.text, "tok.bin: ", 9) == 0, "%s", err.text);
    ck_assert_msg(strstr(err.text, reason) != NULL, "%s, not %s", err.text, reason);
    ck_assert_uint_eq(memory->live, 0);
}

START_TEST(a_tokenizer_file_gives_its_pieces_and_scores) {
    Memory memory = {0};
    Vocab vocab;
    VocabFile file;
    begin_words(&file, false);
    add(&file, 2.5f, "");
    ck_assert(llama2c_vocab_parse("tok.bin", vocab_file_bytes(&file, &memory), 11,
                                  &vocab, &memory, NULL));
    ck_assert_uint_eq(vocab.pieces, 11);
    ck_assert_mem_eq(vocab.piece[2].bytes, "\n</s>\n", 6);
    ck_assert_uint_eq(vocab.piece[9].length, 2);
    ck_assert(vocab.piece[9].score == -6.0f && vocab.piece[10].score == 2.5f);
    ck_assert_uint_eq(vocab.piece[10].length, 0);
    vocab_close(&vocab);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(a_truncated_or_longer_tokenizer_file_is_refused_at_every_byte) {
    VocabFile file;
    begin_words(&file, false);
    size_t whole = file.size;
    memset(file.bytes + whole, 0, 20);
    for (file.size = 0; file.size < whole + 20; file.size++) {
        Memory memory = {0};
        const char *reason = file.size < 4       ? "begins with 4 bytes"
                             : file.size < whole ? ""
                                                 : "bytes too long";
        if (file.size == whole) continue;
        demand_vocab_refused(vocab_file_bytes(&file, &memory), file.pieces, &memory,
                             reason);
    }
}
END_TEST

START_TEST(every_wrong_number_of_a_tokenizer_file_is_refused) {
    static const struct {
        size_t at;
        uint32_t bits;
        const char *reason;
    } cases[] = {
        {0, 0, "given as 0"},
        {0, UINT32_MAX, "given as -1"},
        {0, INT_MAX, "given as 2147483647"},
        {0, 5, "length of piece 2 is 6, but must be 0 to 5"},
        {4, 0x7fc00000, "score of piece 0 is nan"},
        {4, 0xff800000, "score of piece 0 is -inf"},
        {8, UINT32_MAX, "length of piece 0 is -1"},
        {8, INT_MAX, "length of piece 0 is 2147483647"},
        {8, 7, "length of piece 0 is 7"},
        {8, 4, "piece 1"}, /* everything behind is read askew */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Memory memory = {0};
        VocabFile file;
        begin_words(&file, false);
        memcpy(file.bytes + cases[c].at, &cases[c].bits, 4);
        demand_vocab_refused(vocab_file_bytes(&file, &memory), file.pieces, &memory,
                             cases[c].reason);
    }
}
END_TEST

START_TEST(a_vocabulary_of_another_size_is_refused_without_allocating_for_it) {
    Memory memory = {0};
    VocabFile file;
    begin_words(&file, false);
    const size_t wrong[] = {0, 9, 11, 1000, SIZE_MAX / 8, SIZE_MAX};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++)
        demand_vocab_refused(vocab_file_bytes(&file, &memory), wrong[w], &memory, "");
    ck_assert_uint_le(memory.peak, 4 * file.size);
}
END_TEST

static void demand_ids(const Tokenizer *tokenizer, const char *text, const int *ids,
                       size_t count) {
    int got[MOST];
    size_t n;
    Error err = {0};
    ck_assert_msg(tokenizer_prompt(tokenizer, text, got, MOST, &n, &err), "%s", err.text);
    ck_assert_uint_eq(n, count);
    for (size_t i = 0; i < n; i++) ck_assert_int_eq(got[i], ids[i]);
}

START_TEST(merging_puts_a_space_in_front_and_takes_the_best_pair_first) {
    Memory memory = {0};
    VocabFile file;
    begin_words(&file, true);
    Tokenizer *tokenizer = open_merge(&file, &memory);
    enum { SPACE = 259, A, B, AB, SPACE_A, ABA, E_ACUTE };
    demand_ids(tokenizer, "", (int[]){1}, 1);
    demand_ids(tokenizer, "b", (int[]){1, SPACE, B}, 3);
    demand_ids(tokenizer, "ab", (int[]){1, SPACE, AB}, 3); /* "ab" before " a" */
    demand_ids(tokenizer, "aba", (int[]){1, SPACE, ABA}, 3);
    demand_ids(tokenizer, "aa", (int[]){1, SPACE_A, A}, 3);
    demand_ids(tokenizer, "\xc3\xa9\xc3\xa8",
               (int[]){1, SPACE, E_ACUTE, FIRST_BYTE + 0xc3, FIRST_BYTE + 0xa8}, 5);
    /* Spelled out, neither a control piece nor a byte is meant. */
    demand_ids(tokenizer, "<", (int[]){1, SPACE, FIRST_BYTE + '<'}, 3);
    ck_assert(tokenizer_is_end(tokenizer, 1) && tokenizer_is_end(tokenizer, EOS));
    ck_assert(!tokenizer_is_end(tokenizer, 0) && !tokenizer_is_end(tokenizer, A));
    tokenizer_close(tokenizer);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

static void demand_piece(const Tokenizer *tokenizer, int before, int id,
                         const char *bytes, size_t length) {
    Piece piece = tokenizer->piece(tokenizer, before, id);
    ck_assert_uint_eq(piece.length, length);
    ck_assert(memcmp(piece.bytes, bytes, length) == 0);
}

START_TEST(a_piece_behind_bos_drops_one_space) {
    Memory memory = {0};
    VocabFile file;
    begin_words(&file, true);
    add(&file, -9, "  a");
    add(&file, -9, "<0x4g>");
    Tokenizer *tokenizer = open_merge(&file, &memory);
    demand_piece(tokenizer, 1, 263, "a", 1);
    demand_piece(tokenizer, 5, 263, " a", 2);
    demand_piece(tokenizer, 1, 266, " a", 2);
    demand_piece(tokenizer, 5, FIRST_BYTE, "", 1);
    demand_piece(tokenizer, 5, FIRST_BYTE + 0xff, "\xff", 1);
    demand_piece(tokenizer, 5, 267, "<0x4g>", 6);
    demand_piece(tokenizer, 5, EOS, "\n</s>\n", 6);
    demand_piece(tokenizer, 5, -1, "", 0);
    demand_piece(tokenizer, 5, 268, "", 0);
    tokenizer_close(tokenizer);
}
END_TEST

START_TEST(a_byte_past_the_vocabulary_becomes_unk) {
    Memory memory = {0};
    VocabFile file;
    vocab_file_begin(&file, 6);
    vocab_file_add_fixed(&file, false);
    add(&file, 0, "<0x00>");
    add(&file, 0, "<0x01>");
    add(&file, 0, "a");
    Tokenizer *tokenizer = open_merge(&file, &memory);
    demand_ids(tokenizer, "a\x01\x02z", (int[]){1, UNK, 5, 4, UNK, UNK}, 6);
    tokenizer_close(tokenizer);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(of_equal_pieces_the_lowest_id_counts) {
    Memory memory = {0};
    VocabFile file;
    vocab_file_begin(&file, 6);
    vocab_file_add_fixed(&file, false);
    static const char *const pieces[] = {" ", "a", "aa", " a", "a", " ", "aa"};
    for (size_t p = 0; p < 7; p++) add(&file, p == 6 ? 9 : -(float)p, pieces[p]);
    Tokenizer *tokenizer = open_merge(&file, &memory);
    demand_ids(tokenizer, "aaa", (int[]){1, 3, 5, 4}, 4);
    tokenizer_close(tokenizer);
}
END_TEST

START_TEST(a_vocabulary_without_bos_is_refused) {
    for (size_t pieces = 0; pieces < 2; pieces++) {
        Memory memory = {0};
        Vocab vocab;
        VocabFile file;
        vocab_file_begin(&file, 1);
        for (size_t p = 0; p < pieces; p++) add(&file, 0, "a");
        Error err = {0};
        ck_assert(llama2c_vocab_parse("tok.bin", vocab_file_bytes(&file, &memory), pieces,
                                      &vocab, &memory, &err));
        ck_assert_ptr_null(tokenizer_merge_open(vocab, &memory, &err));
        ck_assert_ptr_null(tokenizer_bytes_open(pieces, &memory, &err));
        ck_assert_uint_eq(memory.live, 0);
    }
}
END_TEST

/* Merging as it is defined: look at every pair, take the best, begin again. text has the
 * space in front already; ids [bytes]. */
static size_t plain_merge(const VocabFile *file, const Vocab *vocab, const char *text,
                          size_t bytes, int *ids) {
    size_t start[MOST], n = 0;
    int id[MOST];
    for (size_t at = 0; at < bytes; at += utf8_length(text + at, bytes - at))
        start[n++] = at;
    start[n] = bytes;
    for (size_t merged = n; merged <= n; n--) {
        float best = 0;
        merged = SIZE_MAX;
        for (size_t s = 0; s + 1 < n; s++)
            for (size_t p = EOS + 1; p < file->pieces; p++) {
                const struct VocabPiece *piece = &vocab->piece[p];
                size_t length = start[s + 2] - start[s];
                if (piece->length != length || piece->score == 99.0f) continue;
                if (memcmp(piece->bytes, text + start[s], length) != 0) continue;
                if (merged > n || piece->score > best) merged = s, best = piece->score;
                break;
            }
        if (merged > n) break;
        memmove(&start[merged + 1], &start[merged + 2], (n - merged - 1) * sizeof *start);
    }
    (void)id;
    (void)ids;
    return n;
}
