#include "viz/svgids.h"

#include <stdlib.h>
#include <string.h>

/* Numbers seen so far; their place is the new number. Those beyond the table stay. */
enum { MOST = 256 };

typedef struct {
    unsigned long seen[MOST];
    size_t count;
} Numbers;

static unsigned long new_number(Numbers *numbers, unsigned long old) {
    for (size_t i = 0; i < numbers->count; i++)
        if (numbers->seen[i] == old) return i;
    if (numbers->count == MOST) return old;
    numbers->seen[numbers->count] = old;
    return numbers->count++;
}

/* Length of an id's fixed part (`surface`, in newer cairo `source-`) at text; 0: none.
 */
static size_t fixed_part(const char *text) {
    static const char *const names[] = {"surface", "source", "image"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(text, names[i], length) != 0) continue;
        if (text[length] == '-') length++;
        return text[length] >= '0' && text[length] <= '9' ? length : 0;
    }
    return 0;
}

/* Ids stand behind a quote or a hash sign; letters are outlines, so no text of ours is
 * taken for one. */
void viz_svg_renumber(VizBuffer *svg) {
    VizBuffer out = {.failed = svg->failed};
    Numbers numbers = {.count = 0};
    const char *from = viz_buffer_text(svg), *p = from;
    while ((p = strpbrk(p, "\"#"))) {
        size_t length = fixed_part(++p);
        if (!length) continue;
        char *end;
        unsigned long old = strtoul(p + length, &end, 10);
        viz_buffer_add(&out, from, (size_t)(p - from) + length);
        viz_buffer_print(&out, "%lu", new_number(&numbers, old));
        from = p = end;
    }
    viz_buffer_add(&out, from, strlen(from));
    viz_buffer_free(svg);
    *svg = out;
}
