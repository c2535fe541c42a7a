/* Sentencepiece's byte-pair merging, as Llama uses it.
 *
 * A space is put in front and the text is split into characters, the first symbols. Of
 * all neighbours that together are a piece of the vocabulary the pair with the highest
 * score becomes one symbol (of equal ones the leftmost), until no pair is a piece. A
 * symbol that is no piece even then (a character the vocabulary lacks) is given byte by
 * byte.
 *
 * Each merge makes at most two new pairs, so a heap of candidates finds the next one
 * without looking at the whole text again: O(n log n) for n bytes of text. */
#include "core/text/tokenizer.h"
#include "core/text/utf8.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { UNK = 0, BOS = 1, EOS = 2, FIRST_BYTE = 3, NO_PIECE = -1 };

/* Sorted by bytes; `front` decides most comparisons without a look at them. */
typedef struct {
    uint64_t front; /* the first 8 bytes, the first one highest, then zeros */
    const unsigned char *bytes; /* [length] */
    size_t length;
    int id;
} Entry;

typedef struct {
    Tokenizer base; /* first, so that a Tokenizer * is a Merge * */
    Vocab vocab;
    size_t entries;
    Entry *entry;   /* [entries] what text can become, sorted by bytes, all different */
    size_t longest; /* entry's length */
    char byte[256]; /* byte[b] = b: where the pieces <0x00> to <0xFF> point to */
} Merge;

/* The symbol that begins at byte i of the text is symbol[i]; the next one begins at
 * i + length. So the list needs only the way back. */
typedef struct {
    size_t length; /* 0: none begins here (any more) */
    size_t before; /* where the symbol in front of it begins */
    int id;        /* NO_PIECE: not in the vocabulary */
} Symbol;

/* The symbol at `left` and the one behind it together are piece `id`. */
typedef struct {
    size_t left;
    float score;
    int id;
} Candidate;

/* One text on its way to ids. */
typedef struct {
    const Merge *merge;
    size_t bytes;
    unsigned char *text; /* [bytes] with the space in front */
    Symbol *symbol;      /* [bytes] */
    size_t candidates;
    Candidate
        *heap; /* [2 x bytes], best first: a merge takes one and adds two at most */
} Work;

static Entry entry_of(const unsigned char *bytes, size_t length, int id) {
    uint64_t front = 0;
    for (size_t i = 0; i < 8; i++) front = front << 8 | (i < length ? bytes[i] : 0);
    return (Entry){front, bytes, length, id};
}

static int compare(const void *left, const void *right) {
    const Entry *a = left, *b = right;
    if (a->front != b->front) return a->front < b->front ? -1 : 1;
    int order =
        memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    if (order != 0) return order;
    return (a->length > b->length) - (a->length < b->length);
}

static int compare_with_id(const void *left, const void *right) {
    const Entry *a = left, *b = right;
    int order = compare(a, b);
    return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

static int find(const Merge *merge, const unsigned char *bytes, size_t length) {
    if (length > merge->longest) return NO_PIECE;
    Entry wanted = entry_of(bytes, length, NO_PIECE);
    const Entry *found =
        bsearch(&wanted, merge->entry, merge->entries, sizeof wanted, compare);
    return found ? found->id : NO_PIECE;
}

static bool is_better(const Candidate *a, const Candidate *b) {
    return a->score > b->score || (a->score == b->score && a->left < b->left);
}

static void heap_push(Work *work, Candidate candidate) {
    size_t i = work->candidates++;
    for (; i > 0 && is_better(&candidate, &work->heap[(i - 1) / 2]); i = (i - 1) / 2)
        work->heap[i] = work->heap[(i - 1) / 2];
    work->heap[i] = candidate;
}

static Candidate heap_pop(Work *work) {
    Candidate *heap = work->heap;
    Candidate best = heap[0], last = heap[--work->candidates];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < work->candidates; i = child) {
        if (child + 1 < work->candidates && is_better(&heap[child + 1], &heap[child]))
            child++;
        if (!is_better(&heap[child], &last)) break;
        heap[i] = heap[child];
    }
    heap[i] = last;
    return best;
}

/* Bytes of the symbol at `left` and the one behind it; 0 if there are no such two. */
static size_t pair_length(const Work *work, size_t left) {
    size_t length = work->symbol[left].length;
    if (length == 0 || left + length == work->bytes) return 0;
    return length + work->symbol[left + length].length;
}

static void offer_pair(Work *work, size_t left) {
    size_t length = pair_length(work, left);
    if (length == 0) return;
    int id = find(work->merge, work->text + left, length);
    if (id == NO_PIECE) return;
    float score = work->merge->vocab.piece[id].score;
    heap_push(work, (Candidate){left, score, id});
}

static void split_into_characters(Work *work) {
    for (size_t at = 0, before = 0, length; at < work->bytes; at += length) {
        length = utf8_length((const char *)work->text + at, work->bytes - at);
        if (length == 0) length = 1; /* not UTF-8: the byte by itself */
        work->symbol[at] =
            (Symbol){length, before, find(work->merge, work->text + at, length)};
        before = at;
    }
}

static void merge_pairs(Work *work) {
    for (size_t at = 0; at < work->bytes; at += work->symbol[at].length)
        offer_pair(work, at);
    while (work->candidates > 0) {
        Candidate best = heap_pop(work);
        size_t length = work->merge->vocab.piece[best.id].length;
        /* A pair of which one side has grown or gone since is longer or no more. */
        if (pair_length(work, best.left) != length) continue;
        Symbol *symbol = &work->symbol[best.left];
        work->symbol[best.left + symbol->length].length = 0;
        symbol->length = length;
        symbol->id = best.id;
        size_t behind = best.left + length;
        if (behind < work->bytes) work->symbol[behind].before = best.left;
        if (best.left > 0) offer_pair(work, symbol->before);
        offer_pair(work, best.left);
    }
}

/* If `piece` is written <0xNN>: NN, else -1. */
static int byte_of(const struct VocabPiece *piece) {
    if (piece->length != 6 || memcmp(piece->bytes, "<0x", 3) != 0) return -1;
    if (piece->bytes[5] != '>') return -1;
    int byte = 0;
    for (int i = 3; i < 5; i++) {
        static const char digits[] = "0123456789ABCDEF0123456789abcdef";
        const char *digit = memchr(digits, piece->bytes[i], sizeof digits - 1);
        if (!digit) return -1;
        byte = byte * 16 + (int)((digit - digits) % 16);
    }
    return byte;
}

static int id_of_byte(const Merge *merge, unsigned char byte) {
    size_t id = (size_t)FIRST_BYTE + byte;
    bool there = id < merge->vocab.pieces && byte_of(&merge->vocab.piece[id]) == byte;
    return there ? (int)id : UNK;
}

/* ids [room]; counts on past the room, so that the error can say how much is needed. */
static size_t emit(const Work *work, int *ids, size_t room) {
    size_t count = 0;
    for (size_t at = 0; at < work->bytes; at += work->symbol[at].length) {
        const Symbol *symbol = &work->symbol[at];
        bool whole = symbol->id != NO_PIECE;
        for (size_t b = 0; b < (whole ? 1 : symbol->length); b++, count++) {
            int id = whole ? symbol->id : id_of_byte(work->merge, work->text[at + b]);
            if (count < room) ids[count] = id;
        }
    }
    return count;
}

static bool work_open(Work *work, const Merge *merge, const char *text, size_t bytes,
                      Error *err) {
    Memory *memory = merge->base.memory;
    *work = (Work){.merge = merge, .bytes = bytes + 1};
    work->text = memory_new(memory, work->bytes, 1, err);
    if (!work->text) return false;
    work->text[0] = ' ';
    memcpy(work->text + 1, text, bytes);
    work->symbol = memory_new(memory, work->bytes, sizeof *work->symbol, err);
    if (!work->symbol) return false;
    work->heap = memory_new(memory, work->bytes, 2 * sizeof *work->heap, err);
    return work->heap != NULL;
}

static void work_close(Work *work) {
    Memory *memory = work->merge->base.memory;
    memory_free(memory, work->text);
    memory_free(memory, work->symbol);
    memory_free(memory, work->heap);
}

static bool encode(const Tokenizer *self, const char *text, size_t bytes, int *ids,
                   size_t room, size_t *count, Error *err) {
    *count = 0;
    if (bytes == 0) return true; /* no space in front of nothing */
    Work work;
    bool done = work_open(&work, (const Merge *)self, text, bytes, err);
    if (done) {
        split_into_characters(&work);
        merge_pairs(&work);
        size_t needed = emit(&work, ids, room);
        done = needed <= room;
        if (done)
            *count = needed;
        else
            error_set(err,
                      "the text is %zu tokens, but there is room for %zu; "
                      "shorten it",
                      needed, room);
    }
    work_close(&work);
    return done;
}

static Piece piece(const Tokenizer *self, int before, int id) {
    const Merge *merge = (const Merge *)self;
    if (id < 0 || (size_t)id >= merge->vocab.pieces) return (Piece){"", 0};
    const struct VocabPiece *stored = &merge->vocab.piece[id];
    Piece piece = {(const char *)stored->bytes, stored->length};
    int byte = byte_of(stored);
    if (byte >= 0) piece = (Piece){&merge->byte[byte], 1};
    if (before == BOS && piece.length > 0 && piece.bytes[0] == ' ')
        piece = (Piece){piece.bytes + 1, piece.length - 1};
    return piece;
}

static void close_merge(Tokenizer *self) {
    Merge *merge = (Merge *)self;
    vocab_close(&merge->vocab);
    memory_free(self->memory, merge->entry);
    memory_free(self->memory, merge);
}

/* Text never becomes <unk>, <s>, </s> or, spelled out, a byte: those are left out. Of
 * pieces with the same bytes the lowest id stays. */
static bool make_entries(Merge *merge, Error *err) {
    const Vocab *vocab = &merge->vocab;
    merge->entry = memory_new(merge->base.memory, vocab->pieces, sizeof(Entry), err);
    if (!merge->entry) return false;
    size_t listed = 0;
    for (size_t id = EOS + 1; id < vocab->pieces; id++) {
        const struct VocabPiece *piece = &vocab->piece[id];
        if (piece->length == 0 || byte_of(piece) >= 0) continue;
        if (piece->length > merge->longest) merge->longest = piece->length;
        merge->entry[listed++] = entry_of(piece->bytes, piece->length, (int)id);
    }
    qsort(merge->entry, listed, sizeof(Entry), compare_with_id);
    for (size_t i = 0; i < listed; i++)
        if (i == 0 || compare(&merge->entry[i - 1], &merge->entry[i]) != 0)
            merge->entry[merge->entries++] = merge->entry[i];
    return true;
}

Tokenizer *tokenizer_merge_open(Vocab vocab, Memory *memory, Error *err) {
    Merge *merge = NULL;
    if (vocab.pieces < 2 || vocab.pieces > INT_MAX)
        error_set(err,
                  "the vocabulary has %zu pieces; it must have 2 to %d, because <s> "
                  "is id 1",
                  vocab.pieces, INT_MAX);
    else
        merge = memory_new(memory, 1, sizeof *merge, err);
    if (!merge) {
        vocab_close(&vocab);
        return NULL;
    }
    *merge = (Merge){.base = {.vocab = vocab.pieces,
                              .bos = BOS,
                              .memory = memory,
                              .encode = encode,
                              .piece = piece,
                              .close = close_merge},
                     .vocab = vocab};
    for (int id = BOS; id <= EOS && (size_t)id < vocab.pieces; id++)
        merge->base.end[merge->base.ends++] = id;
    for (int b = 0; b < 256; b++) merge->byte[b] = (char)b;
    if (make_entries(merge, err)) return &merge->base;
    close_merge(&merge->base);
    return NULL;
}
