/* UTF-8, tokenizer files, the byte vocabulary, and what a prompt may be. */
#include "core/text/utf8.h"
#include "tests/text_helpers.h"

#include <limits.h>

/* The target itself, so that its corpus is replayed here. */
#include "tests/fuzz/fuzz_llama2c_vocab.c" // NOLINT(bugprone-suspicious-include)

/* The character's length by decoding it: 0 if this is not the one way to write it. */
static size_t plain_length(const char *text) {
    const unsigned char *b = (const unsigned char *)text;
    for (size_t length = 1; length <= 4; length++) {
        static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
        uint32_t code = b[0] & mask[length];
        char again[4];
        for (size_t i = 1; i < length; i++) code = code << 6 | (b[i] & 0x3f);
        if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) continue;
        if (put_character(code, again) == length && memcmp(text, again, length) == 0)
            return length;
    }
    return 0;
}

START_TEST(utf8_length_equals_decoding_and_encoding_again) {
    static const unsigned char edges[] = {0x00, 0x7f, 0x80, 0x8f, 0x90,
                                          0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    for (unsigned pair = 0; pair < 0x10000; pair++)
        for (size_t e = 0; e < 100; e++) {
            char text[4];
            text[0] = (char)(pair >> 8);
            text[1] = (char)(pair & 0xff);
            text[2] = (char)edges[e / 10];
            text[3] = (char)edges[e % 10];
            size_t length = plain_length(text);
            if (utf8_length(text, 4) != length) ck_abort_msg("%04x %zu", pair, e);
            for (size_t part = 0; part < length; part++)
                if (utf8_length(text, part) || !utf8_is_beginning(text, part))
                    ck_abort_msg("%04x %zu, %zu bytes", pair, e, part);
            if (length > 0 && utf8_is_beginning(text, length))
                ck_abort_msg("%04x", pair);
        }
}
END_TEST

START_TEST(half_a_character_is_told_from_no_character) {
    ck_assert(utf8_is_beginning("\xe2", 1) && utf8_is_beginning("\xf0\x9f\x98", 3));
    ck_assert(!utf8_is_beginning("\x80", 1) && !utf8_is_beginning("\xc0", 1));
    ck_assert(!utf8_is_beginning("\xe0\x80", 2) && !utf8_is_beginning("\xf5", 1));
    ck_assert(!utf8_is_beginning("a", 1) && !utf8_is_beginning("\xe2z", 2));
    ck_assert_uint_eq(utf8_valid("a\xc3\xa9", 3), 3);
    ck_assert_uint_eq(utf8_valid("a\xc3\xa9\xe2\x82", 5), 3);
    ck_assert_uint_eq(utf8_valid("\xed\xa0\x80", 3), 0);
}
END_TEST

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

START_TEST(the_byte_vocabulary_folds_bytes_into_its_size) {
    Memory memory = {0};
    Tokenizer *small = tokenizer_bytes_open(100, &memory, NULL);
    Tokenizer *large = tokenizer_bytes_open(1000, &memory, NULL);
    demand_ids(small, "a\xc3\xa9z", (int[]){1, 97, 195 - 100, 169 - 100, 22}, 5);
    demand_ids(large, "a\xc3\xa9z", (int[]){1, 97, 195, 169, 122}, 5);
    demand_piece(small, 1, 97, "a", 1);
    demand_piece(large, 1, ' ', " ", 1);
    demand_piece(large, 1, 512 + 'a', "a", 1);
    demand_piece(small, 1, 100, "", 0);
    ck_assert(!tokenizer_is_end(small, 1) && !tokenizer_is_end(small, EOS));
    tokenizer_close(small);
    tokenizer_close(large);
    ck_assert_uint_eq(memory.live, 0);
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
        ck_assert(llama2c_vocab_parse("tok.bin", vocab_file_bytes(&file, &memory),
                                      pieces, &vocab, &memory, &err));
        ck_assert_ptr_null(tokenizer_merge_open(vocab, &memory, &err));
        ck_assert_ptr_null(tokenizer_bytes_open(pieces, &memory, &err));
        ck_assert_uint_eq(memory.live, 0);
    }
}
END_TEST

static void demand_prompt_refused(const Tokenizer *tokenizer, const char *text,
                                  size_t room, const char *reason) {
    int ids[MOST];
    size_t count;
    Error err = {0};
    ids[room] = -7; /* nothing is written past the room */
    ck_assert(!tokenizer_prompt(tokenizer, text, ids, room, &count, &err));
    ck_assert_msg(strstr(err.text, reason) != NULL, "%s", err.text);
    ck_assert_int_eq(ids[room], -7);
}

START_TEST(a_prompt_that_does_not_fit_or_is_not_utf8_is_refused) {
    Memory memory = {0};
    VocabFile file;
    begin_words(&file, true);
    Tokenizer *both[] = {open_merge(&file, &memory),
                         tokenizer_bytes_open(256, &memory, NULL)};
    for (size_t k = 0; k < 2; k++) {
        demand_prompt_refused(both[k], "", 0, "no room for <s>");
        demand_prompt_refused(both[k], "ba", 1, k == 0 ? "is 3 tokens" : "is 2 tokens");
        demand_prompt_refused(both[k], "ba", k == 0 ? 3 : 2, "there is room for");
        demand_prompt_refused(both[k], "a\xff\xfe", MOST - 1, "byte 1");
        demand_prompt_refused(both[k], "ab\xe2\x82", MOST - 1,
                              "byte 2 of it (from 0) is 0xE2");
        int ids[4];
        size_t count;
        ck_assert(tokenizer_prompt(both[k], "ba", ids, k == 0 ? 4 : 3, &count, NULL));
        ck_assert_uint_eq(count, k == 0 ? 4 : 3);
        tokenizer_close(both[k]);
    }
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(the_corpus_of_the_tokenizer_fuzzer_is_answered) {
    ck_assert_uint_ge(fuzz_replay("tests/fuzz/corpus/llama2c_vocab"), 7);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("text");
    TCase *cases = tcase_create("text");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, utf8_length_equals_decoding_and_encoding_again);
    tcase_add_test(cases, half_a_character_is_told_from_no_character);
    tcase_add_test(cases, a_tokenizer_file_gives_its_pieces_and_scores);
    tcase_add_test(cases,
                   a_truncated_or_longer_tokenizer_file_is_refused_at_every_byte);
    tcase_add_test(cases, every_wrong_number_of_a_tokenizer_file_is_refused);
    tcase_add_test(cases,
                   a_vocabulary_of_another_size_is_refused_without_allocating_for_it);
    tcase_add_test(cases, the_byte_vocabulary_folds_bytes_into_its_size);
    tcase_add_test(cases, a_vocabulary_without_bos_is_refused);
    tcase_add_test(cases, a_prompt_that_does_not_fit_or_is_not_utf8_is_refused);
    tcase_add_test(cases, the_corpus_of_the_tokenizer_fuzzer_is_answered);
    suite_add_tcase(suite, cases);
    return check_run(suite);
}
