/* Fuzz target: one byte, the number of pieces, then any bytes as a llama2.c tokenizer
 * file. It is refused with a reason, or takes any text (here: the input itself) to ids
 * and, where the vocabulary has all its characters, back. */
#include "core/text/tokenizer.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_TEXT = 256 };

static void demand_way_back(const Tokenizer *tokenizer, const char *text,
                            size_t bytes) {
    int ids[MOST_TEXT + 1]; /* at most one a byte and one for the space in front */
    size_t count, back = 0;
    fuzz_demand(
        tokenizer->encode(tokenizer, text, bytes, ids, MOST_TEXT + 1, &count, NULL));
    int before = tokenizer->bos;
    for (size_t i = 0; i < count; before = ids[i++]) {
        fuzz_demand(ids[i] >= 0 && (size_t)ids[i] < tokenizer->vocab);
        if (ids[i] == 0) return; /* <unk> */
        Piece piece = tokenizer->piece(tokenizer, before, ids[i]);
        fuzz_demand(piece.length <= bytes - back);
        fuzz_demand(memcmp(piece.bytes, text + back, piece.length) == 0);
        back += piece.length;
    }
    fuzz_demand(back == bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    Memory memory = {0};
    Vocab vocab;
    Error err = {0};
    Bytes file = fuzz_file(data + 1, size - 1, &memory);
    if (llama2c_vocab_parse("fuzzed", file, data[0], &vocab, &memory, &err)) {
        fuzz_demand(memory.peak <= 4 * size + 64);
        Tokenizer *tokenizer = tokenizer_merge_open(vocab, &memory, &err);
        fuzz_demand((tokenizer != NULL) == (data[0] >= 2));
        size_t bytes = size < MOST_TEXT ? size : MOST_TEXT;
        if (tokenizer) demand_way_back(tokenizer, (const char *)data, bytes);
        tokenizer_close(tokenizer);
    } else {
        fuzz_demand(strncmp(err.text, "fuzzed: ", 8) == 0 && err.text[8] != '\0');
    }
    fuzz_demand(memory.live == 0);
    return 0;
}
