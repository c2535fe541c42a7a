#include "core/text/tokenizer.h"
#include "core/text/utf8.h"

#include <string.h>

bool tokenizer_prompt(const Tokenizer *tokenizer, const char *text, int *ids,
                      size_t room, size_t *count, Error *err) {
    *count = 0;
    size_t bytes = strlen(text);
    size_t valid = utf8_valid(text, bytes);
    if (valid < bytes)
        return error_set(err,
                         "the prompt is not UTF-8: byte %zu of it (from 0) is 0x%02X; "
                         "give it in UTF-8",
                         valid, (unsigned char)text[valid]);
    if (room == 0)
        return error_set(err, "there is no room for <s>, the first token of every "
                              "prompt; give the model a longer context");
    ids[0] = tokenizer->bos;
    if (!tokenizer->encode(tokenizer, text, bytes, ids + 1, room - 1, count, err))
        return false;
    *count += 1;
    return true;
}

bool tokenizer_is_end(const Tokenizer *tokenizer, int id) {
    for (size_t i = 0; i < tokenizer->ends; i++)
        if (tokenizer->end[i] == id) return true;
    return false;
}

void tokenizer_close(Tokenizer *tokenizer) {
    if (tokenizer) tokenizer->close(tokenizer);
}
