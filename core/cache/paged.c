#include "core/cache/paged_inside.h"

#include <string.h>

static void poison_rows(Paged *p, uint32_t block, size_t first) {
    const size_t row = block * p->block_size + first, n = p->block_size - first;
    for (size_t l = 0; l < p->cache.shape->layers; l++) {
        const size_t k = row_k_bytes(&p->cache, l), v = row_v_bytes(&p->cache, l);
        memory_poison(p->layer[l].k + row * k, n * k);
        memory_poison(p->layer[l].v + row * v, n * v);
    }
}

/* At the end: what was given back last is taken again last. */
static void put_free(Paged *p, uint32_t block) {
    p->free[(p->free_head + p->free_count++) % p->blocks] = block;
}

static uint32_t take(Paged *p) {
    uint32_t block = p->free[p->free_head];
    p->free_head = (p->free_head + 1) % p->blocks;
    p->free_count--;
    p->users[block] = 1;
    return block;
}

/* In the checking build: when one user is left of several, rows past its length, which
 * the others may have needed, die. */
static void poison_dead_tail(Paged *p, uint32_t block) {
#ifdef KVSTEP_CHECKING
    const Cache *cache = &p->cache;
    for (size_t s = 0; p->users[block] == 1 && s < cache->sequences; s++) {
        const size_t end = cache->length[s] + cache->pending[s],
                     b = end / p->block_size;
        if (end % p->block_size > 0 && *entry(p, s, b) == block)
            poison_rows(p, block, end % p->block_size);
    }
#else
    (void)p;
    (void)block;
#endif
}

static void give_back(Paged *p, size_t seq, size_t index) {
    uint32_t block = *entry(p, seq, index);
    *entry(p, seq, index) = NO_BLOCK;
    if (block == NO_BLOCK) return;
    if (--p->users[block] > 0) {
        poison_dead_tail(p, block);
        return;
    }
    poison_rows(p, block, 0);
    put_free(p, block);
}

/* The last block, if new rows would go into it and others use it, too; else NO_BLOCK.
 */
static uint32_t shared_tail(const Paged *p, size_t seq) {
    const size_t length = p->cache.length[seq];
    if (length % p->block_size == 0) return NO_BLOCK;
    uint32_t block = *entry(p, seq, length / p->block_size);
    return p->users[block] > 1 ? block : NO_BLOCK;
}

/* Copies that this step needs: of k users that all write into a block, k - 1 if those
 * are all its users, since the last one then has it alone; else k. */
static bool needs_copy(const Paged *p, const size_t *pending, size_t seq) {
    uint32_t block = shared_tail(p, seq);
    if (block == NO_BLOCK) return false;
    size_t others = p->users[block] - 1;
    for (size_t earlier = 0; earlier < seq; earlier++)
        if (pending[earlier] > 0 && shared_tail(p, earlier) == block) others--;
    return others > 0;
}

static size_t new_blocks(const Paged *p, size_t seq, size_t pending) {
    const size_t length = p->cache.length[seq];
    return blocks_for(p, length + pending) - blocks_for(p, length);
}

static void copy_block(Paged *p, uint32_t to, uint32_t from, size_t rows) {
    for (size_t l = 0; l < p->cache.shape->layers; l++) {
        const size_t k = row_k_bytes(&p->cache, l), v = row_v_bytes(&p->cache, l);
        const size_t b = p->block_size;
        memcpy(p->layer[l].k + to * b * k, p->layer[l].k + from * b * k, rows * k);
        memcpy(p->layer[l].v + to * b * v, p->layer[l].v + from * b * v, rows * v);
        p->cache.rows_copied += rows;
        p->cache.bytes_copied += rows * (k + v);
    }
}

static bool reserve(Cache *cache, const size_t *pending, Error *err) {
    Paged *p = (Paged *)cache;
    size_t needed = 0;
    for (size_t s = 0; s < cache->sequences; s++)
        if (pending[s] > 0)
            needed += new_blocks(p, s, pending[s]) + needs_copy(p, pending, s);
    if (needed > p->free_count)
        return error_set(err, "this step needs %zu blocks of %zu tokens; %zu are free",
                         needed, p->block_size, p->free_count);
    for (size_t s = 0; s < cache->sequences; s++) {
        if (pending[s] == 0) continue;
        const size_t length = cache->length[s], first = blocks_for(p, length);
        uint32_t shared = shared_tail(p, s);
        if (shared != NO_BLOCK) {
            uint32_t own = take(p);
            copy_block(p, own, shared, length % p->block_size);
            *entry(p, s, first - 1) = own;
            p->users[shared]--;
            poison_dead_tail(p, shared);
        }
        for (size_t i = 0; i < new_blocks(p, s, pending[s]); i++)
            *entry(p, s, first + i) = take(p);
    }
    return true;
}

/* The row's number in its layer's arrays. */
static size_t row_of(const Paged *p, size_t seq, size_t position) {
    return *entry(p, seq, position / p->block_size) * p->block_size +
           position % p->block_size;
}

static void place(Cache *cache, size_t layer, size_t seq, size_t position, void **k,
                  void **v) {
    const Paged *p = (const Paged *)cache;
    const size_t row = row_of(p, seq, position);
    *k = p->layer[layer].k + row * row_k_bytes(cache, layer);
    *v = p->layer[layer].v + row * row_v_bytes(cache, layer);
}

static void at(const Rows *rows, size_t position, Span *span) {
    const Paged *p = rows->owner;
    const size_t row = row_of(p, rows->seq, position);
    const size_t k = row_k_bytes(&p->cache, rows->layer);
    const size_t v = row_v_bytes(&p->cache, rows->layer);
    const size_t run = p->block_size - position % p->block_size;
    const size_t left = rows->end - position;
    *span = (Span){.k = p->layer[rows->layer].k + row * k,
                   .v = p->layer[rows->layer].v + row * v,
                   .k_step = k,
                   .v_step = v,
                   .first = position,
                   .count = run < left ? run : left};
}

/* Gives back what neither the newest query nor a later one sees. */
static void leave_behind(Paged *p, size_t seq, size_t newest) {
    for (size_t b = 0; b < newest / p->block_size; b++)
        if (*entry(p, seq, b) != NO_BLOCK && !is_seen(p, newest, b))
            give_back(p, seq, b);
}

static void commit(Cache *cache) {
    for (size_t s = 0; s < cache->sequences; s++)
        if (cache->pending[s] > 0)
            leave_behind((Paged *)cache, s, cache->length[s] + cache->pending[s] - 1);
}

/* Rows from `length` on die; blocks without a row left go back, the last one first, so
 * that the beginning of a text is taken again last. */
static void forget_from(Paged *p, size_t seq, size_t length, size_t end) {
    const size_t kept = blocks_for(p, length), tail = length % p->block_size;
    for (size_t b = blocks_for(p, end); b-- > kept;) give_back(p, seq, b);
    if (tail == 0) return;
    uint32_t block = *entry(p, seq, kept - 1);
    if (p->users[block] == 1) poison_rows(p, block, tail);
}

static void abandon(Cache *cache) {
    for (size_t s = 0; s < cache->sequences; s++)
        if (cache->pending[s] > 0)
            forget_from((Paged *)cache, s, cache->length[s],
                        cache->length[s] + cache->pending[s]);
}

static bool crop(Cache *cache, size_t seq, size_t length, Error *err) {
    Paged *p = (Paged *)cache;
    for (size_t b = 0; b < blocks_for(p, length); b++)
        if (*entry(p, seq, b) == NO_BLOCK && is_seen(p, length, b))
            return error_set(err,
                             "sequence %zu cannot go back to %zu tokens: position %zu "
                             "left every window and was given back",
                             seq, length, b * p->block_size);
    forget_from(p, seq, length, cache->length[seq]);
    return true;
}

static bool fork_by_sharing(Cache *cache, size_t from, size_t to, Error *err) {
    (void)err;
    Paged *p = (Paged *)cache;
    for (size_t b = 0; b < blocks_for(p, cache->length[from]); b++) {
        uint32_t block = *entry(p, from, b);
        *entry(p, to, b) = block;
        if (block != NO_BLOCK) p->users[block]++;
    }
    return true;
}

static size_t slot(const Cache *cache, size_t layer, size_t seq, size_t position) {
    (void)layer;
    return row_of((const Paged *)cache, seq, position);
}

size_t paged_free_blocks(const Cache *cache) {
    return ((const Paged *)cache)->free_count;
}

static void close_paged(Cache *cache) {
    Paged *p = (Paged *)cache;
    for (size_t l = 0; l < cache->shape->layers; l++) {
        memory_free(&cache->payload, p->layer[l].k);
        memory_free(&cache->payload, p->layer[l].v);
    }
    memory_free(&cache->metadata, p->table);
    memory_free(&cache->metadata, p->users);
    memory_free(&cache->metadata, p->free);
    memory_free(&cache->metadata, p->seen);
    cache_free(cache);
}

static const CacheOps operations = {.kind = "paged",
                                    .reserve = reserve,
                                    .place = place,
                                    .at = at,
                                    .commit = commit,
                                    .abandon = abandon,
                                    .crop = crop,
                                    .fork = fork_by_sharing,
                                    .slot = slot,
                                    .live = paged_live,
                                    .check = paged_check,
                                    .close = close_paged};

static bool open_pool(Paged *p, Error *err) {
    Cache *cache = &p->cache;
    size_t rows = p->blocks, entries = cache->sequences;
    if (!size_times(&rows, p->block_size) || !size_times(&entries, p->table_size) ||
        p->blocks == 0 || p->blocks >= NO_BLOCK)
        return error_set(err, "%zu blocks of %zu tokens cannot be held", p->blocks,
                         p->block_size);
    p->table = memory_new(&cache->metadata, entries, sizeof *p->table, err);
    p->users = memory_new(&cache->metadata, p->blocks, sizeof *p->users, err);
    p->free = memory_new(&cache->metadata, p->blocks, sizeof *p->free, err);
    p->seen = memory_new(&cache->metadata, p->blocks, sizeof *p->seen, err);
    if (!p->table || !p->users || !p->free || !p->seen) return false;
    for (size_t i = 0; i < entries; i++) p->table[i] = NO_BLOCK;
    for (size_t l = 0; l < cache->shape->layers; l++) {
        PagedLayer *layer = &p->layer[l];
        layer->k = memory_new(&cache->payload, rows, row_k_bytes(cache, l), err);
        layer->v = memory_new(&cache->payload, rows, row_v_bytes(cache, l), err);
        if (!layer->k || !layer->v) return false;
    }
    for (size_t i = 0; i < p->blocks; i++) {
        poison_rows(p, (uint32_t)i, 0);
        put_free(p, (uint32_t)i);
    }
    return true;
}

Cache *paged_open(const CacheConfig *config, Memory *memory, Error *err) {
    const size_t layers = config->shape->layers;
    Paged *p = cache_new(sizeof *p + layers * sizeof p->layer[0], &operations, config,
                         memory, err);
    if (!p) return NULL;
    p->block_size = config->block_size ? config->block_size : 16;
    p->table_size = blocks_for(p, config->capacity);
    p->blocks = config->blocks;
    if (p->blocks == 0 && !formula_paged_blocks(config->sequences, config->capacity,
                                                p->block_size, &p->blocks))
        p->blocks = NO_BLOCK; /* refused by open_pool */
    if (open_pool(p, err)) return &p->cache;
    cache_close(&p->cache);
    return NULL;
}
