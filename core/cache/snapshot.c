#include "core/cache/snapshot.h"
#include "core/base/bytes.h"
#include "core/base/hash.h"
#include "core/cache/row.h"

#include <string.h>

enum { VERSION = 1, NAME = 16 };

static const char magic[8] = "kvstep\n";

/* ---- Writing: every byte goes to the stream and into the checksum ---- */

typedef struct {
    FILE *stream;
    Hash hash;
} Writer;

static void put(Writer *w, const void *bytes, size_t n) {
    fwrite(bytes, 1, n, w->stream);
    hash_add(&w->hash, bytes, n);
}

static void put_little(Writer *w, uint64_t value, size_t n) {
    unsigned char little[8];
    for (size_t i = 0; i < n; i++) little[i] = (unsigned char)(value >> (8 * i));
    put(w, little, n);
}

static void put_name(Writer *w, const char *name) {
    char padded[NAME] = {0};
    strncpy(padded, name, NAME - 1);
    put(w, padded, NAME);
}

static void put_rule(Writer *w, const LayerShape *shape, const LayerRule *rule) {
    const uint64_t numbers[] = {shape->kv_heads, shape->k_size, shape->v_size,
                                rule->sinks, rule->recent};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_little(w, numbers[i], 8);
    put_little(w, rule->keys_turned, 4);
    put_name(w, rule->k->name);
    put_name(w, rule->v->name);
}

/* Whether a snapshot of n tokens holds the row of position p: the next query sees it. */
static bool holds(const LayerRule *rule, size_t n, size_t p) {
    return p < n && rule_sees(rule, n, p);
}

static uint64_t count_held(const LayerRule *rule, size_t n) {
    uint64_t count = 0;
    for (size_t p = 0; p < n; p++) count += holds(rule, n, p);
    return count;
}

static void put_rows(Writer *w, const Cache *cache, size_t layer, size_t seq) {
    const LayerRule *rule = &cache->rule->layer[layer];
    const size_t n = cache->length[seq];
    Rows rows = cache_rows(cache, layer, seq);
    put_little(w, count_held(rule, n), 8);
    for (size_t p = 0; p < n; p++) {
        if (!holds(rule, n, p)) continue;
        Span span;
        rows.at(&rows, p, &span);
        put_little(w, p, 8);
        put(w, span.k, row_k_bytes(cache, layer));
        put(w, span.v, row_v_bytes(cache, layer));
    }
}

static bool can_hash(Error *err) {
    return hash_exists() || error_set(err, "snapshots need xxHash; this is the MINIMAL "
                                           "build");
}

bool cache_save(const Cache *cache, size_t seq, const int *tokens, uint64_t fingerprint,
                FILE *stream, Error *err) {
    if (!can_hash(err)) return false;
    if (seq >= cache->sequences)
        return error_set(err, "sequence %zu does not exist; the cache has %zu", seq,
                         cache->sequences);
    const size_t n = cache->length[seq], layers = cache->shape->layers;
    Writer w = {.stream = stream};
    hash_begin(&w.hash);
    put(&w, magic, sizeof magic);
    put_little(&w, VERSION, 4);
    put_little(&w, fingerprint, 8);
    put_little(&w, layers, 4);
    for (size_t l = 0; l < layers; l++)
        put_rule(&w, &cache->shape->layer[l], &cache->rule->layer[l]);
    put_little(&w, n, 8);
    for (size_t i = 0; i < n; i++) put_little(&w, (uint32_t)tokens[i], 4);
    for (size_t l = 0; l < layers; l++) put_rows(&w, cache, l, seq);
    put_little(&w, hash_value(&w.hash), 8);
    return true;
}

/* ---- Reading: everything is checked before anything changes ---- */

typedef struct {
    const Cache *cache;
    BytesReader bytes;
    uint64_t length;
    BytesReader tokens;
    BytesReader rows[SHAPE_MAX_LAYERS]; /* at the first row of each layer */
} Snapshot;

static bool take(BytesReader *r, size_t n, uint64_t *value) {
    const unsigned char *little = bytes_block(r, 1, n);
    *value = 0;
    for (size_t i = 0; little && i < n; i++) *value |= (uint64_t)little[i] << (8 * i);
    return little;
}

static bool cut(Error *err) {
    return error_set(err, "the snapshot is cut off; take one that was written whole");
}

static bool check_sum(const Bytes *file, Error *err) {
    uint64_t stored;
    if (file->size < sizeof magic + 8) return cut(err);
    if (memcmp(file->data, magic, sizeof magic) != 0)
        return error_set(err, "this is no snapshot of kvstep");
    const size_t n = file->size - 8;
    BytesReader end = {file->data, file->size, n};
    Hash hash;
    hash_begin(&hash);
    hash_add(&hash, file->data, n);
    if (take(&end, 8, &stored) && stored == hash_value(&hash)) return true;
    return error_set(err, "the snapshot's checksum is wrong: it is cut off or changed");
}

static bool check_model(Snapshot *s, uint64_t fingerprint, Error *err) {
    uint64_t version, model, layers;
    if (!bytes_block(&s->bytes, 1, sizeof magic) || !take(&s->bytes, 4, &version) ||
        !take(&s->bytes, 8, &model) || !take(&s->bytes, 4, &layers))
        return cut(err);
    if (version != VERSION)
        return error_set(err, "the snapshot has version %u; this program reads %d",
                         (unsigned)version, VERSION);
    if (model != fingerprint)
        return error_set(err, "the snapshot is of another model (%016llx, not %016llx)",
                         (unsigned long long)model, (unsigned long long)fingerprint);
    if (layers != s->cache->shape->layers)
        return error_set(err, "the snapshot has %u layers, the cache %zu",
                         (unsigned)layers, s->cache->shape->layers);
    return true;
}

static bool check_name(Snapshot *s, size_t layer, const char *what, const char *wanted,
                       Error *err) {
    const char *name = bytes_block(&s->bytes, 1, NAME);
    if (!name) return cut(err);
    if (strncmp(name, wanted, NAME) == 0) return true;
    return error_set(err, "layer %zu: the snapshot stores %s as %.15s, the cache as %s",
                     layer, what, name, wanted);
}

static bool check_rule(Snapshot *s, size_t layer, Error *err) {
    const LayerShape *shape = &s->cache->shape->layer[layer];
    const LayerRule *rule = &s->cache->rule->layer[layer];
    const struct {
        const char *what;
        uint64_t wanted;
    } fields[] = {{"kv_heads", shape->kv_heads},
                  {"head size of k", shape->k_size},
                  {"head size of v", shape->v_size},
                  {"sinks", rule->sinks},
                  {"window", rule->recent}};
    uint64_t value;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!take(&s->bytes, 8, &value)) return cut(err);
        if (value != fields[i].wanted)
            return error_set(err,
                             "layer %zu: the snapshot's %s is %llu, the cache's %llu",
                             layer, fields[i].what, (unsigned long long)value,
                             (unsigned long long)fields[i].wanted);
    }
    if (!take(&s->bytes, 4, &value)) return cut(err);
    if (value != rule->keys_turned)
        return error_set(err, "layer %zu: the snapshot's keys are stored %s rotation",
                         layer, value ? "after" : "before");
    return check_name(s, layer, "K", rule->k->name, err) &&
           check_name(s, layer, "V", rule->v->name, err);
}

static bool check_tokens(Snapshot *s, Error *err) {
    const Cache *cache = s->cache;
    if (!take(&s->bytes, 8, &s->length)) return cut(err);
    if (s->length > cache->capacity)
        return error_set(err, "the snapshot has %llu tokens; the cache takes %zu",
                         (unsigned long long)s->length, cache->capacity);
    s->tokens = s->bytes;
    for (uint64_t i = 0; i < s->length; i++) {
        uint64_t id;
        if (!take(&s->bytes, 4, &id)) return cut(err);
        if (id >= cache->shape->vocab)
            return error_set(err,
                             "token %llu of the snapshot is not in the vocabulary of "
                             "%zu",
                             (unsigned long long)id, cache->shape->vocab);
    }
    return true;
}

static bool check_rows(Snapshot *s, size_t layer, Error *err) {
    const LayerRule *rule = &s->cache->rule->layer[layer];
    uint64_t count, position;
    if (!take(&s->bytes, 8, &count)) return cut(err);
    if (count != count_held(rule, s->length))
        return error_set(err, "layer %zu: the snapshot holds %llu rows, not %llu",
                         layer, (unsigned long long)count,
                         (unsigned long long)count_held(rule, s->length));
    s->rows[layer] = s->bytes;
    for (size_t p = 0; p < s->length; p++) {
        if (!holds(rule, s->length, p)) continue;
        if (!take(&s->bytes, 8, &position) ||
            !bytes_block(&s->bytes, 1, row_k_bytes(s->cache, layer)) ||
            !bytes_block(&s->bytes, 1, row_v_bytes(s->cache, layer)))
            return cut(err);
        if (position != p)
            return error_set(err,
                             "layer %zu: position %llu stands where %zu is expected",
                             layer, (unsigned long long)position, p);
    }
    return true;
}

static bool check_all(Snapshot *s, const Bytes *file, uint64_t fingerprint,
                      Error *err) {
    if (!check_sum(file, err) || !check_model(s, fingerprint, err)) return false;
    for (size_t l = 0; l < s->cache->shape->layers; l++)
        if (!check_rule(s, l, err)) return false;
    if (!check_tokens(s, err)) return false;
    for (size_t l = 0; l < s->cache->shape->layers; l++)
        if (!check_rows(s, l, err)) return false;
    if (bytes_left(&s->bytes) == 8) return true;
    return error_set(err, "the snapshot is %zu bytes too long",
                     bytes_left(&s->bytes) - 8);
}

/* Puts the held rows of positions first to end - 1, which are reserved, in their places. */
static void place_rows(Snapshot *s, Cache *cache, size_t layer, size_t seq,
                       size_t first, size_t end) {
    const LayerRule *rule = &cache->rule->layer[layer];
    const size_t k_bytes = row_k_bytes(cache, layer),
                 v_bytes = row_v_bytes(cache, layer);
    for (size_t p = first; p < end; p++) {
        if (!holds(rule, s->length, p)) continue;
        void *k, *v;
        cache->ops->place(cache, layer, seq, p, &k, &v);
        bytes_block(&s->rows[layer], 1, 8);
        memcpy(k, bytes_block(&s->rows[layer], 1, k_bytes), k_bytes);
        memcpy(v, bytes_block(&s->rows[layer], 1, v_bytes), v_bytes);
    }
}

/* In steps that the cache takes; if it has no room after all, it is emptied again. */
static bool restore(Snapshot *s, Cache *cache, size_t seq, Error *err) {
    for (size_t first = 0, n; first < s->length; first += n) {
        n = s->length - first < cache->chunk ? s->length - first : cache->chunk;
        if (!cache_reserve(cache, 1, &seq, &n, err)) {
            cache_remove(cache, seq);
            return false;
        }
        for (size_t l = 0; l < cache->shape->layers; l++)
            place_rows(s, cache, l, seq, first, first + n);
        cache_commit(cache);
    }
    cache->loaded[seq] = (size_t)s->length;
    return true;
}

bool cache_load(Cache *cache, size_t seq, uint64_t fingerprint, Bytes file,
                int **tokens, size_t *n, Memory *memory, Error *err) {
    *tokens = NULL;
    *n = 0;
    if (!can_hash(err)) return false;
    if (seq >= cache->sequences || cache->length[seq] > 0)
        return error_set(err, "sequence %zu does not exist or is not empty", seq);
    Snapshot s = {.cache = cache, .bytes = bytes_reader(file)};
    if (!check_all(&s, &file, fingerprint, err)) return false;
    int *ids = memory_new(memory, (size_t)s.length, sizeof *ids, err);
    if (!ids) return false;
    for (size_t i = 0; i < s.length; i++) {
        uint64_t id;
        take(&s.tokens, 4, &id);
        ids[i] = (int)id;
    }
    if (!restore(&s, cache, seq, err)) {
        memory_free(memory, ids);
        return false;
    }
    *tokens = ids;
    *n = (size_t)s.length;
    return true;
}
