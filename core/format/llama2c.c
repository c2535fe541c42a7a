/* The legacy llama2.c checkpoint: seven numbers, then every tensor in a fixed order.
 * The sizes follow from the numbers alone, so the file's length is checked before
 * anything is allocated. Tensors stay where the file has them. */
#include "core/format/llama2c.h"
#include "core/base/bytes.h"
#include "core/base/shape.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sizes of a model: the header's seven in the order of the file, then derived ones. */
enum {
    DIM,
    HIDDEN,
    LAYERS,
    HEADS,
    KV_HEADS,
    VOCAB,
    CONTEXT,
    HEADER,        /* how many int32 the header has */
    HEAD = HEADER, /* elements of one head: dim / heads */
    KV_DIM,        /* a row of K: kv_heads x head */
    ONE,
    SEPARATE, /* 1: the output matrix stands in the file, 0: it is the embedding */
    SIZES
};

static const struct {
    const char *name;
    int32_t most; /* as shape_check has it: what follows never sees larger ones */
} header[HEADER] = {
    [DIM] = {"dim", 1 << 24},
    [HIDDEN] = {"hidden size", 1 << 24},
    [LAYERS] = {"number of layers", SHAPE_MAX_LAYERS},
    [HEADS] = {"number of heads", 1 << 24},
    [KV_HEADS] = {"number of kv_heads", 1 << 24},
    [VOCAB] = {"vocabulary size", 1 << 30},
    [CONTEXT] = {"context", 1 << 30},
};

/* What follows the header, `times` matrices [rows][cols] of float32 each. */
static const struct Part {
    const char *name; /* NULL: not read */
    int times, rows, cols;
} parts[] = {
    {"token_embd.weight", ONE, VOCAB, DIM},
    {"attn_norm.weight", LAYERS, ONE, DIM},
    {"attn_q.weight", LAYERS, DIM, DIM},
    {"attn_k.weight", LAYERS, KV_DIM, DIM},
    {"attn_v.weight", LAYERS, KV_DIM, DIM},
    {"attn_output.weight", LAYERS, DIM, DIM},
    {"ffn_norm.weight", LAYERS, ONE, DIM},
    {"ffn_gate.weight", LAYERS, HIDDEN, DIM},
    {"ffn_down.weight", LAYERS, DIM, HIDDEN},
    {"ffn_up.weight", LAYERS, HIDDEN, DIM},
    {"output_norm.weight", ONE, ONE, DIM},
    {NULL, ONE, CONTEXT,
     HEAD}, /* cos and sin, half a head each; rope.c makes its own */
    {"output.weight", SEPARATE, VOCAB, DIM},
};
enum { PARTS = sizeof parts / sizeof *parts };

static const struct {
    const char *name;
    int size;
} integers[] = {
    {"llama.embedding_length", DIM},
    {"llama.block_count", LAYERS},
    {"llama.feed_forward_length", HIDDEN},
    {"llama.attention.head_count", HEADS},
    {"llama.attention.head_count_kv", KV_HEADS},
    {"llama.vocab_size", VOCAB},
    {"llama.context_length", CONTEXT},
    {"llama.rope.dimension_count", HEAD},
};
enum { INTEGERS = sizeof integers / sizeof *integers };

/* The same for every checkpoint of this format; the file does not say them. */
static const double rope_base = 10000;
static const float norm_eps = 1e-5f;

static bool read_header(BytesReader *reader, const char *path, size_t *size,
                        Error *err) {
    const uint32_t newer = 0x616b3432; /* "ak42", where versions 1 and 2 begin */
    for (int i = 0; i < HEADER; i++) {
        int32_t value;
        if (!bytes_int32(reader, &value))
            return error_set(err,
                             "%s: is %zu bytes; a llama2.c checkpoint has a header of "
                             "28 bytes and then weights; give a whole one",
                             path, reader->size);
        if (i == DIM && (uint32_t)value == newer)
            return error_set(err,
                             "%s: is a llama2.c checkpoint of a newer version; export "
                             "it as version 0 (legacy)",
                             path);
        if (i == VOCAB) size[SEPARATE] = value < 0;
        int64_t number = i == VOCAB && value < 0 ? -(int64_t)value : value;
        if (number < 1 || number > header[i].most)
            return error_set(err,
                             "%s: %s is %d in the header, but must be 1 to %d; is it a "
                             "llama2.c checkpoint?",
                             path, header[i].name, value, header[i].most);
        size[i] = (size_t)number;
    }
    return true;
}

static bool derive_sizes(const char *path, size_t *size, Error *err) {
    assert(size[HEADS] > 0 && size[KV_HEADS] > 0); /* read_header saw to it */
    if (size[DIM] % size[HEADS] != 0 || size[DIM] / size[HEADS] % 2 != 0)
        return error_set(
            err,
            "%s: dim is %zu, but must be an even multiple of its %zu heads; "
            "is it a llama2.c checkpoint?",
            path, size[DIM], size[HEADS]);
    if (size[HEADS] % size[KV_HEADS] != 0)
        return error_set(err,
                         "%s: %zu heads are no multiple of %zu kv_heads; is it a "
                         "llama2.c checkpoint?",
                         path, size[HEADS], size[KV_HEADS]);
    size[HEAD] = size[DIM] / size[HEADS];
    size[KV_DIM] = size[HEAD] * size[KV_HEADS];
    size[ONE] = 1;
    return true;
}

/* Bytes of the whole file; false: more than size_t holds. */
static bool file_size(const size_t *size, size_t *bytes) {
    *bytes = HEADER * sizeof(int32_t);
    for (int p = 0; p < PARTS; p++) {
        size_t part = sizeof(float);
        if (!size_times(&part, size[parts[p].rows]) ||
            !size_times(&part, size[parts[p].cols]) ||
            !size_times(&part, size[parts[p].times]) ||
            __builtin_add_overflow(*bytes, part, bytes))
            return false;
    }
    return true;
}

static bool check_length(const char *path, size_t actual, const size_t *size,
                         Error *err) {
    size_t wanted;
    if (!file_size(size, &wanted))
        return error_set(err,
                         "%s: its header describes more weights than memory can hold; "
                         "is it a llama2.c checkpoint?",
                         path);
    if (actual < wanted)
        return error_set(err,
                         "%s: is %zu bytes too short (%zu instead of %zu); it was cut "
                         "off, get it again",
                         path, wanted - actual, actual, wanted);
    if (actual > wanted)
        return error_set(
            err,
            "%s: is %zu bytes too long (%zu instead of %zu); get it again, "
            "or is it another format?",
            path, actual - wanted, actual, wanted);
    return true;
}

/* weights [count] */
static bool check_finite(const char *path, const Tensor *tensor, Error *err) {
    const float *weights = tensor->matrix.data;
    size_t count = tensor->matrix.rows * tensor->matrix.cols;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(weights[i]))
            return error_set(err,
                             "%s: %s has %g at index %zu, no finite weight; the file "
                             "is damaged, get it again",
                             path, tensor->name, (double)weights[i], i);
    return true;
}

/* Names the next matrix of the file; layer counts only where a part has many. */
static void name_tensor(Tensor *tensor, const struct Part *part, size_t layer) {
    if (part->times == LAYERS)
        snprintf(tensor->name, sizeof tensor->name, "blk.%zu.%s", layer, part->name);
    else
        snprintf(tensor->name, sizeof tensor->name, "%s", part->name);
}

static bool place_tensors(BytesReader *reader, const size_t *size, Tensors *tensors,
                          Error *err) {
    for (int p = 0; p < PARTS; p++)
        for (size_t t = 0; t < size[parts[p].times]; t++) {
            Matrix matrix = {.format = &format_f32,
                             .rows = size[parts[p].rows],
                             .cols = size[parts[p].cols]};
            matrix.data = bytes_block(reader, matrix.rows, matrix.cols * sizeof(float));
            assert(matrix.data); /* check_length saw to it */
            if (!parts[p].name) continue;
            Tensor *tensor = &tensors->tensor[tensors->tensors++];
            tensor->matrix = matrix;
            name_tensor(tensor, &parts[p], t);
            if (!check_finite(tensors->path, tensor, err)) return false;
        }
    return true;
}

static void place_numbers(const size_t *size, Tensors *tensors) {
    for (int i = 0; i < INTEGERS; i++)
        tensors->number[i] =
            (MetaNumber){integers[i].name, (double)size[integers[i].size]};
    tensors->number[INTEGERS] = (MetaNumber){"llama.rope.freq_base", rope_base};
    tensors->number[INTEGERS + 1] =
        (MetaNumber){"llama.attention.layer_norm_rms_epsilon", norm_eps};
    tensors->numbers = INTEGERS + 2;
}

static bool parse(const char *path, Tensors *tensors, Error *err) {
    BytesReader reader = bytes_reader(tensors->file);
    size_t size[SIZES] = {0};
    if (!read_header(&reader, path, size, err)) return false;
    if (!derive_sizes(path, size, err)) return false;
    if (!check_length(path, reader.size, size, err)) return false;
    size_t most = PARTS * size[LAYERS]; /* tensors; a few of these stay unused */
    tensors->tensor = memory_new(tensors->memory, most, sizeof(Tensor), err);
    if (!tensors->tensor) return error_at(err, path);
    tensors->number =
        memory_new(tensors->memory, INTEGERS + 2, sizeof(MetaNumber), err);
    if (!tensors->number) return error_at(err, path);
    place_numbers(size, tensors);
    return place_tensors(&reader, size, tensors, err);
}

bool llama2c_parse(const char *path, Bytes file, Tensors *tensors, Memory *memory,
                   Error *err) {
    *tensors = (Tensors){.path = path, .file = file, .memory = memory};
    if (parse(path, tensors, err)) return true;
    tensors_close(tensors);
    return false;
}

bool llama2c_read(const char *path, Tensors *tensors, Memory *memory, Error *err) {
    *tensors = (Tensors){0};
    Bytes file;
    if (!file_read(path, &file, memory, err)) return false;
    return llama2c_parse(path, file, tensors, memory, err);
}
