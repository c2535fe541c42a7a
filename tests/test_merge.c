/* Byte-pair merging: its ids, its way back to text, and its plain definition. */
#include "core/text/utf8.h"
#include "tests/text_helpers.h"

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
    ck_assert(tokenizer_is_end(tokenizer, 1) && tokenizer_is_end(tokenizer, EOS));
    ck_assert(!tokenizer_is_end(tokenizer, 0) && !tokenizer_is_end(tokenizer, A));
    tokenizer_close(tokenizer);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(text_spelled_like_a_control_piece_or_a_byte_stays_text) {
    Memory memory = {0};
    VocabFile file;
    begin_words(&file, true);
    static const char *const steps[] = {"<0", "<0x", "<0x4", "<0x41",
                                        "<u", "<un", "<unk"};
    for (size_t s = 0; s < 7; s++) add(&file, 0, steps[s]);
    Tokenizer *tokenizer = open_merge(&file, &memory);
    enum { SPACE = 259, HEX = 269, NAME = 272, CLOSING = FIRST_BYTE + '>' };
    demand_ids(tokenizer, "<0x41>", (int[]){1, SPACE, HEX, CLOSING}, 4);
    demand_ids(tokenizer, "<unk>", (int[]){1, SPACE, NAME, CLOSING}, 4);
    tokenizer_close(tokenizer);
}
END_TEST

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

/* The lowest id of those bytes, not counting control pieces and spelled-out bytes. */
static int plain_find(const Vocab *vocab, const char *bytes, size_t length) {
    for (size_t id = EOS + 1; id < vocab->pieces; id++) {
        const struct VocabPiece *piece = &vocab->piece[id];
        if (piece->length != length || memcmp(piece->bytes, bytes, length) != 0)
            continue;
        if (length < 3 || memcmp(bytes, "<0x", 3) != 0) return (int)id;
    }
    return -1;
}

/* Merging as it is defined: look at every pair, merge the best, begin again. The text
 * has its space in front already; ids [bytes]. */
static size_t plain_merge(const Vocab *vocab, const char *text, size_t bytes,
                          bool has_bytes, int *ids) {
    size_t start[MOST + 1], n = 0, count = 0;
    for (size_t at = 0; at < bytes; at += utf8_length(text + at, bytes - at))
        start[n++] = at;
    start[n] = bytes;
    for (;;) {
        size_t best = SIZE_MAX;
        float score = 0;
        for (size_t s = 0; s + 1 < n; s++) {
            int id = plain_find(vocab, text + start[s], start[s + 2] - start[s]);
            if (id < 0 || (best < n && vocab->piece[id].score <= score)) continue;
            best = s;
            score = vocab->piece[id].score;
        }
        if (best == SIZE_MAX) break;
        memmove(&start[best + 1], &start[best + 2], (n - best - 1) * sizeof *start);
        n--;
    }
    for (size_t s = 0; s < n; s++) {
        int id = plain_find(vocab, text + start[s], start[s + 1] - start[s]);
        if (id >= 0) ids[count++] = id;
        for (size_t at = start[s]; id < 0 && at < start[s + 1]; at++)
            ids[count++] = has_bytes ? FIRST_BYTE + (unsigned char)text[at] : UNK;
    }
    return count;
}

/* Up to `most` characters of a small alphabet, in which every pair occurs often. */
static size_t random_words(uint64_t stream, uint64_t seed, size_t most, char *text) {
    static const char *const alphabet[] = {"a", "b",        "c",
                                           " ", "\xc3\xa9", "\xe2\x82\xac"};
    size_t bytes = 0, n = below(stream, seed, most) + 1;
    for (size_t i = 0; i < n; i++) {
        const char *c = alphabet[below(stream, seed + 1 + i, 6)];
        bytes += (size_t)snprintf(text + bytes, 4, "%s", c);
    }
    return bytes;
}

START_TEST(merging_equals_the_plain_definition) {
    bool has_bytes = _i % 4 == 0; /* without: unknown characters become <unk> */
    VocabFile file;
    char text[MOST] = " ";
    vocab_file_begin(&file, 64);
    vocab_file_add_fixed(&file, has_bytes);
    uint64_t stream = (uint64_t)_i;
    for (size_t p = 0; p < 40; p++) {
        size_t bytes = random_words(stream, 100 * p, 1 + p / 8, text);
        float score = -(float)below(stream, 100 * p + 99, 1 + stream % 9); /* ties */
        vocab_file_add(&file, score, text, bytes);
    }
    Memory memory = {0};
    Tokenizer *tokenizer = open_merge(&file, &memory);
    Vocab vocab;
    ck_assert(llama2c_vocab_parse("tok.bin", vocab_file_bytes(&file, &memory),
                                  file.pieces, &vocab, &memory, NULL));
    for (size_t t = 0; t < 20; t++) {
        int ids[MOST], plain[MOST];
        size_t count;
        text[0] = ' ';
        size_t bytes = random_words(stream, 10000 + 100 * t, 60, text + 1);
        ck_assert(
            tokenizer->encode(tokenizer, text + 1, bytes, ids, MOST, &count, NULL));
        ck_assert_uint_eq(count,
                          plain_merge(&vocab, text, bytes + 1, has_bytes, plain));
        ck_assert(memcmp(ids, plain, count * sizeof *ids) == 0);
    }
    vocab_close(&vocab);
    tokenizer_close(tokenizer);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

static void demand_round_trip(const Tokenizer *tokenizer, const char *text,
                              size_t bytes) {
    int ids[MOST];
    size_t count, back = 0;
    ck_assert(tokenizer->encode(tokenizer, text, bytes, ids, MOST, &count, NULL));
    int before = tokenizer->bos;
    for (size_t i = 0; i < count; before = ids[i++]) {
        Piece piece = tokenizer->piece(tokenizer, before, ids[i]);
        ck_assert_uint_le(back + piece.length, bytes);
        ck_assert(memcmp(text + back, piece.bytes, piece.length) == 0);
        back += piece.length;
    }
    ck_assert_uint_eq(back, bytes);
}

START_TEST(outdated_candidates_have_room_beside_new_ones) {
    enum { TIMES = 100 };
    Memory memory = {0};
    VocabFile file;
    vocab_file_begin(&file, 6);
    vocab_file_add_fixed(&file, false);
    static const char *const pieces[] = {" ", "a", "b", "c", "ab", "ca", "abc", "bca"};
    for (size_t p = 0; p < 8; p++) add(&file, -9, pieces[p]);
    add(&file, 0, "bc"); /* merged everywhere first: ab and ca wait behind, outdated */
    Tokenizer *tokenizer = open_merge(&file, &memory);
    char text[3 * TIMES + 1] = "";
    int expected[2 + TIMES] = {1, 3};
    for (size_t i = 0; i < TIMES; i++) {
        snprintf(text + 3 * i, 4, "abc");
        expected[2 + i] = 9;
    }
    demand_ids(tokenizer, text, expected, 2 + TIMES);
    tokenizer_close(tokenizer);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(any_text_survives_a_round_trip) {
    Memory memory = {0};
    VocabFile file;
    begin_words(&file, true);
    Tokenizer *merge = open_merge(&file, &memory);
    Tokenizer *bytes_only = tokenizer_bytes_open(256, &memory, NULL);
    demand_round_trip(merge, " <0x41>\n</s>\n  a", 16);
    for (uint64_t t = 0; t < 2000; t++) {
        char text[MOST];
        size_t bytes = 0, n = below(t, 0, 60);
        for (size_t i = 0; i < n; i++) {
            static const uint32_t limits[] = {0x80, 0x80, 0x800, 0xd800, 0x110000};
            uint32_t code =
                (uint32_t)below(t, 3 * i + 1, limits[below(t, 3 * i + 2, 5)]);
            if (below(t, 3 * i + 3, 3) == 0) code = "ab a"[code % 4] & 0x7f;
            if (code < 0xd800 || code > 0xdfff)
                bytes += put_character(code, text + bytes);
        }
        ck_assert_uint_eq(utf8_valid(text, bytes), bytes);
        demand_round_trip(merge, text, bytes);
        demand_round_trip(bytes_only, text, bytes);
    }
    tokenizer_close(merge);
    tokenizer_close(bytes_only);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(a_long_text_takes_no_square_of_its_length) {
    enum { LONG = 1 << 19 }; /* squared: hours */
    Memory memory = {0};
    VocabFile file;
    begin_words(&file, true);
    Tokenizer *tokenizer = open_merge(&file, &memory);
    char *text = memory_new(&memory, LONG, 1, NULL);
    int *ids = memory_new(&memory, LONG + 1, sizeof *ids, NULL);
    size_t count;
    for (size_t i = 0; i < LONG; i++) text[i] = "aab"[below(0, i, 3)];
    ck_assert(tokenizer->encode(tokenizer, text, LONG, ids, LONG + 1, &count, NULL));
    ck_assert_uint_lt(count, LONG);
    memory_free(&memory, text);
    memory_free(&memory, ids);
    tokenizer_close(tokenizer);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(a_failed_allocation_leaves_no_tokenizer_behind) {
    VocabFile file;
    begin_words(&file, true);
    size_t failures = 0;
    for (bool done = false; !done; failures += !done) {
        /* the file's own bytes are the first allocation and always there */
        Memory memory = {.fail_at = failures + 2};
        Vocab vocab;
        int ids[8];
        size_t count;
        Error err = {0};
        Bytes bytes = vocab_file_bytes(&file, &memory);
        Tokenizer *tokenizer = NULL;
        if (llama2c_vocab_parse("tok.bin", bytes, file.pieces, &vocab, &memory, &err))
            tokenizer = tokenizer_merge_open(vocab, &memory, &err);
        if (tokenizer) done = tokenizer_prompt(tokenizer, "ab", ids, 8, &count, &err);
        ck_assert(done || strstr(err.text, "out of memory") != NULL);
        tokenizer_close(tokenizer);
        ck_assert_uint_eq(memory.live, 0);
    }
    ck_assert_uint_eq(failures, 6); /* pieces; tokenizer, its table; text, list, heap */
    Memory memory = {.fail_at = 1};
    ck_assert_ptr_null(tokenizer_bytes_open(256, &memory, NULL));
}
END_TEST

START_TEST(tok512_encodes_as_llama2c_does) {
    char path[4096];
    snprintf(path, sizeof path, "%s/tok512.bin", getenv("KVSTEP_MODELS"));
    Memory memory = {0};
    Vocab vocab;
    Error err = {0};
    ck_assert_msg(llama2c_vocab_read(path, 512, &vocab, &memory, &err), "%s", err.text);
    Tokenizer *tokenizer = tokenizer_merge_open(vocab, &memory, &err);
    demand_ids(tokenizer, "Once upon a time", (int[]){1, 403, 407, 261, 378}, 5);
    demand_round_trip(tokenizer, "Once upon a time", 16);
    demand_round_trip(tokenizer, "  na\xc3\xafve \xf0\x9f\x99\x82\n", 14);
    tokenizer_close(tokenizer);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("merge");
    TCase *cases = tcase_create("merge");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, merging_puts_a_space_in_front_and_takes_the_best_pair_first);
    tcase_add_test(cases, text_spelled_like_a_control_piece_or_a_byte_stays_text);
    tcase_add_test(cases, a_piece_behind_bos_drops_one_space);
    tcase_add_test(cases, a_byte_past_the_vocabulary_becomes_unk);
    tcase_add_test(cases, of_equal_pieces_the_lowest_id_counts);
    tcase_add_loop_test(cases, merging_equals_the_plain_definition, 0, 40);
    tcase_add_test(cases, outdated_candidates_have_room_beside_new_ones);
    tcase_add_test(cases, any_text_survives_a_round_trip);
    tcase_add_test(cases, a_long_text_takes_no_square_of_its_length);
    tcase_add_test(cases, a_failed_allocation_leaves_no_tokenizer_behind);
    if (getenv("KVSTEP_MODELS"))
        tcase_add_test(cases, tok512_encodes_as_llama2c_does);
    else
        printf("skipped: tok512_encodes_as_llama2c_does (KVSTEP_MODELS names no "
               "folder)\n");
    suite_add_tcase(suite, cases);
    return check_run(suite);
}
