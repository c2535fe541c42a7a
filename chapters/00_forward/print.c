#include "chapters/00_forward/print.h"
#include "chapters/common/describe.h"
#include "chapters/common/quantity.h"
#include "chapters/common/text.h"
#include "chapters/common/units.h"

#include <string.h>

enum { NAME = 40, TITLE = 10, BLOCKS = 4 };

static void token_name(const ForwardResult *r, size_t position, char out[NAME]) {
    describe_token(position, r->token[position].piece, out, NAME);
}

/* Columns that any position, piece or id needs. */
static size_t cell_width(const ForwardResult *r) {
    size_t width = 1;
    for (size_t i = 0; i < r->tokens; i++) {
        char name[NAME], id[24];
        token_name(r, i, name);
        snprintf(id, sizeof id, "%d", r->token[i].id);
        size_t wide = text_width(name) > strlen(id) ? text_width(name) : strlen(id);
        if (wide > width) width = wide;
    }
    return width;
}

static void print_cell(const char *text, size_t width, FILE *stream) {
    fprintf(stream, "%*s%s", (int)(width - text_width(text)) + 1, "", text);
}

/* Three lines of the tokens from `first` to before `end`. */
static void print_block(const ForwardResult *r, size_t first, size_t end, size_t width,
                        FILE *stream) {
    static const char *const titles[] = {"position", "piece", "id"};
    for (int line = 0; line < 3; line++) {
        fprintf(stream, "%-*s", TITLE, titles[line]);
        for (size_t i = first; i < end; i++) {
            char text[NAME];
            if (line == 0) snprintf(text, sizeof text, "%zu", i);
            if (line == 1) token_name(r, i, text);
            if (line == 2) snprintf(text, sizeof text, "%d", r->token[i].id);
            print_cell(text, width, stream);
        }
        fputc('\n', stream);
    }
}

void forward_print_tokens(const ForwardResult *r, FILE *stream) {
    const size_t width = cell_width(r);
    const size_t each = (TERMINAL_COLUMNS - TITLE) / (width + 1);
    const size_t blocks = (r->tokens + each - 1) / each;
    char count[QUANTITY_TEXT];
    describe_model(&r->model, stream);
    fprintf(stream,
            "\n1. The text becomes pieces, each piece a number: %s. <s> begins every\n"
            "text, " DESCRIBE_BLANK " is a blank.\n\n",
            quantity_of(r->tokens, "token", "tokens", count));
    for (size_t b = 0; b < blocks; b++) {
        if (blocks > BLOCKS && b == BLOCKS - 1) {
            fprintf(stream, "(%s here)\n",
                    quantity_of((blocks - BLOCKS) * each, "more token", "more tokens",
                                count));
            b = blocks - 1;
        }
        const size_t first = b * each, end = first + each;
        print_block(r, first, end < r->tokens ? end : r->tokens, width, stream);
    }
}

/* What each kind of box is there for, for those who see them for the first time. */
static const char *meaning(const char *name) {
    static const struct {
        const char *name, *meaning;
    } meanings[] = {
        {"embedding", "the id's row"},
        {"RMSNorm", "brings to size 1"},
        {"W_q", "query: I seek"},
        {"W_k", "key: I offer"},
        {"W_v", "value: I give"},
        {"rotate q", "turn by position"},
        {"rotate k", "turn by position"},
        {"attention", "q meets N rows"},
        {"W_o", "mixes the heads"},
        {"add", "joins the stream"},
        {"W_gate", "widens"},
        {"W_up", "widens"},
        {"SwiGLU", "silu(gate) x up"},
        {"W_down", "narrows"},
        {"logits", "per next token"},
    };
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(meanings[i].name, name) == 0) return meanings[i].meaning;
    return "";
}

static void add_shape(Table *table, const ForwardBox *box) {
    char cell[TABLE_CELL];
    if (box->in == box->out)
        snprintf(cell, sizeof cell, "%zu", box->out);
    else
        snprintf(cell, sizeof cell, "%zu -> %zu", box->in, box->out);
    table_add(table, cell);
}

/* The first three of the numbers, and dots for the rest. */
static void add_numbers(Table *table, const ForwardBox *box) {
    char cell[TABLE_CELL] = "", number[DESCRIBE_NUMBER];
    const size_t shown = box->numbers < 3 ? box->numbers : 3;
    for (size_t i = 0, used = 0; i < shown; i++)
        used += (size_t)snprintf(cell + used, sizeof cell - used, " %6s",
                                 describe_number(box->number[i], 2, number));
    strcat(cell, box->out > shown ? " .." : "");
    table_add(table, cell);
}

static void add_box(Table *table, const ForwardBox *box, bool inside, bool meanings) {
    char cell[TABLE_CELL];
    snprintf(cell, sizeof cell, "%s%s", inside ? "  " : "", box->name);
    table_add(table, cell);
    add_shape(table, box);
    add_numbers(table, box);
    units_add(table, box->multiply_adds, 1);
    if (meanings) table_add(table, meaning(box->name));
}

/* A whole later layer: its last box has its result. */
static void add_layer(Table *table, const ForwardBox *box, size_t boxes,
                      bool meanings) {
    char cell[TABLE_CELL];
    uint64_t multiply_adds = 0;
    for (size_t i = 0; i < boxes; i++) multiply_adds += box[i].multiply_adds;
    snprintf(cell, sizeof cell, "layer %zu", box->layer);
    table_add(table, cell);
    add_shape(table, &box[boxes - 1]);
    add_numbers(table, &box[boxes - 1]);
    units_add(table, multiply_adds, 1);
    snprintf(cell, sizeof cell, "%zu boxes, too", boxes);
    if (meanings) table_add(table, cell);
}

static void add_title(Table *table, const char *title, bool meanings) {
    table_add(table, title);
    for (int empty = 0; empty < 3 + meanings; empty++) table_add(table, "");
}

static size_t boxes_of_layer(const ForwardResult *r, size_t first) {
    size_t end = first;
    while (end < r->boxes && r->box[end].layer == r->box[first].layer) end++;
    return end - first;
}

static void add_boxes(Table *table, const ForwardResult *r, bool meanings) {
    size_t inside;
    for (size_t i = 0; i < r->boxes; i += inside) {
        const ForwardBox *box = &r->box[i];
        inside = 1;
        if (box->layer == FORWARD_NO_LAYER) {
            add_box(table, box, false, meanings);
            continue;
        }
        inside = boxes_of_layer(r, i);
        if (box->layer > 0) {
            add_layer(table, box, inside, meanings);
            continue;
        }
        add_title(table, "layer 0", meanings);
        for (size_t b = 0; b < inside; b++) add_box(table, &box[b], true, meanings);
    }
    add_title(table, "in all", meanings);
    snprintf(table->cell[table->cells - 1 - meanings], TABLE_CELL, "%s",
             quantity_count(r->multiply_adds, (char[QUANTITY_TEXT]){0}));
}

bool forward_print_boxes(const ForwardResult *r, FILE *stream, Error *err) {
    const TableColumn columns[] = {{"box", "", true},
                                   {"values", "", true},
                                   {"  the first of them", "", true},
                                   {"multiply-", "adds", false},
                                   {"what for", "", true}};
    char name[NAME], count[QUANTITY_TEXT];
    token_name(r, r->tokens - 1, name);
    fprintf(stream,
            "\n2. The newest token, %s at position %zu, becomes a vector and goes "
            "through\nthe model; it sees %s (N), itself included.\n\n",
            name, r->tokens - 1, quantity_of(r->context, "token", "tokens", count));
    bool fits = false;
    for (int meanings = 1; meanings >= 0 && !fits; meanings--) {
        Table table;
        if (!table_open(&table, columns, 4 + (size_t)meanings, r->boxes + 2, r->memory,
                        err))
            return false;
        add_boxes(&table, r, meanings);
        fits = table_width(&table) <= TERMINAL_COLUMNS;
        if (fits || !meanings) table_print(&table, stream);
        table_close(&table);
    }
    return true;
}
