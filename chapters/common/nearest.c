#include "chapters/common/nearest.h"

#include <stdint.h>
#include <string.h>

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

size_t nearest_distance(const char *a, const char *b) {
    const size_t rows = strlen(a), cols = strlen(b);
    if (rows > NEAREST_LETTERS || cols > NEAREST_LETTERS) return SIZE_MAX;
    /* d[i][j]: distance of the first i letters of a and the first j of b. */
    size_t d[NEAREST_LETTERS + 1][NEAREST_LETTERS + 1];
    for (size_t i = 0; i <= rows; i++) d[i][0] = i;
    for (size_t j = 0; j <= cols; j++) d[0][j] = j;
    for (size_t i = 1; i <= rows; i++)
        for (size_t j = 1; j <= cols; j++) {
            size_t replaced = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            size_t best = least(replaced, least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, d[i - 2][j - 2] + 1);
            d[i][j] = best;
        }
    return d[rows][cols];
}

/* The shortest name that begins with the word. */
static const char *completed(const char *word, const char *const *names) {
    const size_t letters = strlen(word);
    const char *best = NULL;
    for (; letters >= 2 && *names; names++)
        if (strncmp(word, *names, letters) == 0 &&
            (!best || strlen(*names) < strlen(best)))
            best = *names;
    return best;
}

const char *nearest_name(const char *word, const char *const *names) {
    const char *best = completed(word, names);
    if (best || !*word) return best;
    size_t limit = strlen(word) / 3 + 2; /* that far is no slip any more */
    for (; *names; names++) {
        size_t distance = nearest_distance(word, *names);
        if (distance >= limit) continue;
        best = *names;
        limit = distance;
    }
    return best;
}
