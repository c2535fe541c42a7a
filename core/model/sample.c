#include "core/model/sample.h"
#include "core/base/random.h"
#include "core/kernels/exp.h"

#include <stdbool.h>

static int largest(const float *logits, size_t vocab) {
    size_t best = 0;
    for (size_t i = 1; i < vocab; i++)
        if (logits[i] > logits[best]) best = i;
    return (int)best;
}

static bool stands_before(Candidate a, Candidate b) {
    return a.weight > b.weight || (a.weight == b.weight && a.id < b.id);
}

/* Heap order: the candidate that stands last is at the root. */
static void sink(Candidate *heap, size_t root, size_t n) {
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && stands_before(heap[child], heap[child + 1])) child++;
        if (!stands_before(heap[root], heap[child])) return;
        Candidate moved = heap[root];
        heap[root] = heap[child];
        heap[child] = moved;
    }
}

/* Heap sort: in place, since a step allocates nothing. */
static void sort(Candidate *list, size_t n) {
    for (size_t root = n / 2; root-- > 0;) sink(list, root, n);
    for (size_t end = n; end-- > 1;) {
        Candidate last = list[0];
        list[0] = list[end];
        list[end] = last;
        sink(list, 0, end);
    }
}

int sample_token(const float *logits, size_t vocab, const Sampling *sampling,
                 uint64_t request, uint64_t position, Candidate *list) {
    const int best = largest(logits, vocab);
    if (sampling->temperature == 0) return best;
    const float max = logits[best] / sampling->temperature;
    for (size_t i = 0; i < vocab; i++) {
        float z = logits[i] / sampling->temperature;
        list[i] = (Candidate){.weight = exp_f32(z - max), .id = (int)i};
    }
    sort(list, vocab);

    float total = 0, kept_sum = 0;
    for (size_t i = 0; i < vocab; i++) total += list[i].weight;
    size_t kept = 0;
    while (kept < vocab && (kept == 0 || kept_sum < sampling->top_p * total))
        kept_sum += list[kept++].weight;

    float u = random_unit(random_draw(sampling->seed, request, position)), sum = 0;
    for (size_t i = 0; i < kept; i++) {
        sum += list[i].weight;
        if (sum > u * kept_sum) return list[i].id;
    }
    return list[kept - 1].id;
}
