#include "chapters/03_cache/page.h"
#include "chapters/03_cache/print.h"
#include "chapters/common/page.h"
#include "chapters/common/quantity.h"
#include "chapters/common/table.h"

enum { SHOWN_ROWS = 20 };

static void write_step(FILE *out, const CacheStep *step, bool prefill) {
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT], d[QUANTITY_TEXT],
        e[QUANTITY_TEXT], f[QUANTITY_TEXT];
    const uint64_t without = counters_flops(&step->recompute.counters);
    const uint64_t with = counters_flops(&step->cached.counters);
    fprintf(out,
            "<tr><th scope=\"row\">%s<td>%zu<td>%s<td>%s<td>%s<td>%s<td>%s<td>%s\n",
            prefill ? "prefill" : "decode", step->context, quantity_count(without, a),
            quantity_count(with, b), quantity_ratio(without, with, c),
            quantity_count(step->cache_bytes, d),
            quantity_seconds(step->recompute.seconds, e),
            quantity_seconds(step->cached.seconds, f));
}

static void write_table(FILE *out, const CacheResult *result) {
    const size_t shown = table_shown(result->steps, SHOWN_ROWS);
    fputs("<h2>Step by step</h2>\n<p>Without a cache a step works through all N tokens "
          "again, with it through the new ones.</p>\n"
          "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table of "
          "steps\">\n<table>\n<thead><tr><th scope=\"col\">step<th scope=\"col\">N"
          "<th scope=\"col\">recompute<br>FLOPs<th scope=\"col\">cached<br>FLOPs"
          "<th scope=\"col\">ratio<th scope=\"col\">live cache<br>bytes"
          "<th scope=\"col\">recompute<br>time<th scope=\"col\">cached<br>time"
          "</thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < shown; i++) {
        const size_t step = table_pick(result->steps, shown, i);
        write_step(out, &result->step[step], step == 0);
    }
    fputs("</tbody>\n</table>\n</div>\n", out);
    if (shown < result->steps)
        fprintf(out, "<p>%zu of %zu steps are shown.</p>\n", shown, result->steps);
}

static void write_totals(FILE *out, const CacheResult *result) {
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];
    const uint64_t without = counters_flops(&result->recompute.counters);
    const uint64_t with = counters_flops(&result->cached.counters);
    fprintf(out,
            "<p>%zu steps of a small transformer, each taken twice: without a cache "
            "and with one. In all %s FLOPs without, %s with: <strong>%s times as "
            "many</strong>.</p>\n<p>",
            result->steps, quantity_count(without, a), quantity_count(with, b),
            quantity_ratio(without, with, c));
    cache_print_verdict(result, out);
    fputs("</p>\n", out);
}

bool cache_write_page(const CacheResult *result, const Gallery *gallery, Error *err) {
    Page page;
    if (!page_open(&page, gallery->folder,
                   "The same tokens without and with a KV cache", gallery->memory, err))
        return false;
    FILE *out = page.file.stream;
    write_totals(out, result);
    for (size_t i = 0; i < gallery->count; i++)
        page_picture(&page, &gallery->picture[i]);
    write_table(out, result);
    return page_close(&page, err);
}
