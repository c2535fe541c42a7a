#include "viz/csv.h"
#include "viz/canvas.h"
#include "viz/number.h"
#include "viz/text.h"

#include <string.h>

/* Quoted where needed; control characters are escaped, so that a value is one line. */
static void field(VizCanvas *canvas, const char *text) {
    if (!text || !*text) return;
    VizBuffer safe = {0};
    viz_text_escape(&safe, text);
    const char *plain = viz_buffer_text(&safe);
    bool quoted = strpbrk(plain, "\",; ") != NULL;
    if (quoted) viz_buffer_add(&canvas->csv, "\"", 1);
    for (const char *p = plain; *p; p++) {
        if (*p == '"') viz_buffer_add(&canvas->csv, "\"", 1);
        viz_buffer_add(&canvas->csv, p, 1);
    }
    if (quoted) viz_buffer_add(&canvas->csv, "\"", 1);
    canvas->csv.failed |= safe.failed;
    viz_buffer_free(&safe);
}

static void text_or_number(VizCanvas *canvas, const char *text, double number) {
    char digits[VIZ_NUMBER_ROOM];
    if (text)
        field(canvas, text);
    else
        viz_buffer_print(&canvas->csv, "%s", viz_number_exact(number, digits));
    viz_buffer_add(&canvas->csv, ",", 1);
}

void viz_csv(VizCanvas *canvas, const VizRow *row) {
    char digits[VIZ_NUMBER_ROOM];
    field(canvas, row->panel);
    viz_buffer_add(&canvas->csv, ",", 1);
    text_or_number(canvas, row->row, row->row_number);
    text_or_number(canvas, row->column, row->column_number);
    text_or_number(canvas, row->no_value ? "" : NULL, row->value);
    viz_buffer_print(&canvas->csv, "%s,",
                     row->end != 0 ? viz_number_exact(row->end, digits) : "");
    field(canvas, row->note);
    viz_buffer_add(&canvas->csv, "\n", 1);
}
