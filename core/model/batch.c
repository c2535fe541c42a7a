#include "core/model/batch.h"

size_t batch_run(const Batch *batch, size_t first) {
    size_t end = first + 1;
    while (end < batch->n && batch->seq[end] == batch->seq[first]) end++;
    return end - first;
}

size_t batch_logits(const Batch *batch) {
    size_t count = 0;
    for (size_t t = 0; t < batch->n; t++) count += batch->want_logits[t];
    return count;
}

static bool token_check(const Batch *b, size_t t, size_t vocab, size_t positions,
                        Error *err) {
    if (b->token[t] < 0 || (size_t)b->token[t] >= vocab)
        return error_set(err,
                         "token %d at position %zu is not in the vocabulary of %zu",
                         b->token[t], b->pos[t], vocab);
    if (b->pos[t] >= positions)
        return error_set(err, "position %zu is past the last one, %zu", b->pos[t],
                         positions - 1);
    if (t > 0 && b->seq[t] == b->seq[t - 1] && b->pos[t] != b->pos[t - 1] + 1)
        return error_set(err, "sequence %zu goes from position %zu to %zu", b->seq[t],
                         b->pos[t - 1], b->pos[t]);
    return true;
}

bool batch_check(const Batch *b, size_t room, size_t vocab, size_t positions,
                 Error *err) {
    if (b->n == 0 || b->n > room)
        return error_set(err, "a batch of %zu tokens; this engine takes 1 to %zu", b->n,
                         room);
    for (size_t t = 0; t < b->n; t++) {
        if (!token_check(b, t, vocab, positions, err)) return false;
        if (t > 0 && b->seq[t] == b->seq[t - 1]) continue;
        for (size_t earlier = 0; earlier < t; earlier++)
            if (b->seq[earlier] == b->seq[t])
                return error_set(err, "sequence %zu comes twice in one batch",
                                 b->seq[t]);
    }
    return true;
}
