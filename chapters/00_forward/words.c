/* What stands below the boxes: where the work went, what came out, and tokens per text.
 */
#include "chapters/00_forward/print.h"
#include "chapters/common/describe.h"
#include "chapters/common/quantity.h"
#include "chapters/common/units.h"

enum { NAME = 40, CHARACTERS = 2000 };

bool forward_print_parts(const ForwardResult *r, FILE *stream, Error *err) {
    const TableColumn columns[] = {
        {"part", "", true}, {"multiply-adds", "", false}, {"share", "", false}};
    Table table;
    if (!table_open(&table, columns, 3, PARTS, r->memory, err)) return false;
    for (int p = 0; p < PARTS; p++) {
        table_add(&table, part_name((Part)p));
        units_add(&table, r->part[p], 1);
        units_add_share(&table, r->part[p], r->multiply_adds);
    }
    fputc('\n', stream);
    table_print(&table, stream);
    table_close(&table);
    fprintf(stream,
            "scores and values grow with N, here %zu; the other parts do not.\n",
            r->context);
    return true;
}

bool forward_print_choices(const ForwardResult *r, FILE *stream, Error *err) {
    const TableColumn columns[] = {{"id", "", false},
                                   {"piece", "", true},
                                   {"logit", "", false},
                                   {"probability", "", false}};
    Table table;
    if (!table_open(&table, columns, 4, r->choices, r->memory, err)) return false;
    for (size_t i = 0; i < r->choices; i++) {
        char cell[TABLE_CELL];
        snprintf(cell, sizeof cell, "%d", r->choice[i].id);
        table_add(&table, cell);
        table_add(&table, describe_piece(r->choice[i].piece, cell, NAME));
        snprintf(cell, sizeof cell, "%.3f", (double)r->choice[i].logit);
        table_add(&table, cell);
        snprintf(cell, sizeof cell, "%.2f%%", r->choice[i].probability * 100);
        table_add(&table, cell);
    }
    char vocab[QUANTITY_TEXT];
    fprintf(stream, "\n3. A logit for each of %s; the %zu likeliest to come next:\n\n",
            quantity_of(r->model.weights.shape.vocab, "token", "tokens", vocab),
            r->choices);
    table_print(&table, stream);
    table_close(&table);
    return true;
}

/* Tokens for as many characters, at this text's rate. */
static uint64_t tokens_for(const ForwardText *text, uint64_t characters) {
    return text->characters
               ? (characters * text->tokens + text->characters / 2) / text->characters
               : 0;
}

/* A token is a step: is it true that 2,000 characters take 2,000 steps and more? */
static void print_steps(const ForwardResult *r, FILE *stream) {
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < FORWARD_TEXTS; i++) {
        const uint64_t tokens = tokens_for(&r->text[i], CHARACTERS);
        if (tokens < least) least = tokens;
        if (tokens > most) most = tokens;
    }
    char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];
    fprintf(stream,
            "So %s characters take %s to %s steps of one token: a matter of the "
            "text\nand of the vocabulary.\n",
            quantity_count(CHARACTERS, a), quantity_count(least, b),
            quantity_count(most, c));
}

bool forward_print_texts(const ForwardResult *r, FILE *stream, Error *err) {
    const TableColumn columns[] = {{"text", "", true},
                                   {"vocabulary", "", true},
                                   {"characters", "", false},
                                   {"bytes", "", false},
                                   {"tokens", "", false},
                                   {"bytes/token", "", false},
                                   {"2,000 characters", "are tokens", false}};
    Table table;
    if (!table_open(&table, columns, 7, FORWARD_TEXTS, r->memory, err)) return false;
    for (size_t i = 0; i < FORWARD_TEXTS; i++) {
        const ForwardText *text = &r->text[i];
        char ratio[QUANTITY_TEXT];
        table_add(&table, text->language);
        table_add(&table, text->vocabulary);
        units_add(&table, text->characters, 1);
        units_add(&table, text->bytes, 1);
        units_add(&table, text->tokens, 1);
        table_add(&table, quantity_ratio(text->bytes, text->tokens, ratio));
        units_add(&table, tokens_for(text, CHARACTERS), 1);
    }
    fputs("\n4. A token is not a character: what a text takes depends on the "
          "vocabulary.\n\n",
          stream);
    table_print(&table, stream);
    table_close(&table);
    print_steps(r, stream);
    return true;
}

void forward_print_verdict(const ForwardResult *r, FILE *stream) {
    char name[NAME], count[QUANTITY_TEXT];
    fprintf(stream, "next token: %s (id %d, probability %.2f%%), after %s\n",
            describe_piece(r->choice[0].piece, name, sizeof name), r->choice[0].id,
            r->choice[0].probability * 100,
            quantity_of(r->multiply_adds, "multiply-add", "multiply-adds", count));
}

void forward_print_next(FILE *stream) {
    fputs("read: core/model/layer.c  next: kvstep generate  exercise: predict which "
          "rows of\nthe table change for a prompt twice as long, then run it\n",
          stream);
}
