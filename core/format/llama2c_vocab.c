/* The llama2.c tokenizer file: the longest piece's length, then score, length and bytes
 * of each piece. Pieces stay where the file has them. */
#include "core/base/bytes.h"
#include "core/format/llama2c.h"

#include <math.h>

enum { PIECE_LEAST = 8 }; /* bytes of a piece without any text: score and length */

static bool ends_early(const char *path, size_t id, size_t pieces, Error *err) {
    return error_set(err,
                     "%s: ends inside piece %zu of the model's %zu; it was cut off, or "
                     "belongs to a smaller vocabulary",
                     path, id, pieces);
}

/* An honest file cannot hold a piece longer than itself. */
static bool read_longest(BytesReader *reader, const char *path, int32_t *longest,
                         Error *err) {
    if (!bytes_int32(reader, longest))
        return error_set(err,
                         "%s: is %zu bytes; a llama2.c tokenizer file begins with 4 "
                         "bytes and then has its pieces; give a whole one",
                         path, reader->size);
    if (*longest < 1 || (size_t)*longest > reader->size)
        return error_set(err,
                         "%s: the longest piece's length is given as %d in a file of "
                         "%zu bytes; is it a llama2.c tokenizer file?",
                         path, *longest, reader->size);
    return true;
}

static bool read_piece(BytesReader *reader, const char *path, int32_t longest,
                       size_t id, Vocab *vocab, Error *err) {
    struct VocabPiece *piece = &vocab->piece[id];
    int32_t length;
    if (!bytes_float(reader, &piece->score) || !bytes_int32(reader, &length))
        return ends_early(path, id, vocab->pieces, err);
    if (!isfinite(piece->score))
        return error_set(err, "%s: the score of piece %zu is %g; get the file again",
                         path, id, (double)piece->score);
    if (length < 0 || length > longest)
        return error_set(err,
                         "%s: the length of piece %zu is %d, but must be 0 to %d, the "
                         "file's longest; is it a llama2.c tokenizer file?",
                         path, id, length, longest);
    piece->length = (size_t)length;
    piece->bytes = bytes_block(reader, piece->length, 1);
    return piece->bytes || ends_early(path, id, vocab->pieces, err);
}

static bool parse(const char *path, Vocab *vocab, Error *err) {
    BytesReader reader = bytes_reader(vocab->file);
    int32_t longest;
    if (!read_longest(&reader, path, &longest, err)) return false;
    /* So the list of pieces is at most three times the file, whatever was asked for. */
    if (vocab->pieces > bytes_left(&reader) / PIECE_LEAST)
        return error_set(err,
                         "%s: is %zu bytes, too short for the model's %zu pieces; it "
                         "was cut off, or belongs to a smaller vocabulary",
                         path, reader.size, vocab->pieces);
    vocab->piece = memory_new(vocab->memory, vocab->pieces, sizeof *vocab->piece, err);
    if (!vocab->piece) return error_at(err, path);
    for (size_t id = 0; id < vocab->pieces; id++)
        if (!read_piece(&reader, path, longest, id, vocab, err)) return false;
    if (bytes_left(&reader) == 0) return true;
    return error_set(err,
                     "%s: is %zu bytes too long for the model's %zu pieces; it belongs "
                     "to a larger vocabulary, give the model's own",
                     path, bytes_left(&reader), vocab->pieces);
}

bool llama2c_vocab_parse(const char *path, Bytes file, size_t pieces, Vocab *vocab,
                         Memory *memory, Error *err) {
    *vocab = (Vocab){.pieces = pieces, .file = file, .memory = memory};
    if (parse(path, vocab, err)) return true;
    vocab_close(vocab);
    return false;
}

bool llama2c_vocab_read(const char *path, size_t pieces, Vocab *vocab, Memory *memory,
                        Error *err) {
    *vocab = (Vocab){0};
    Bytes file;
    if (!file_read(path, &file, memory, err)) return false;
    return llama2c_vocab_parse(path, file, pieces, vocab, memory, err);
}

void vocab_close(Vocab *vocab) {
    memory_free(vocab->memory, vocab->piece);
    memory_free(vocab->memory, vocab->file.data);
    *vocab = (Vocab){0};
}
