/* `kvstep forward --json`: every box, token, choice and text. */
#include "chapters/00_forward/print.h"

#ifdef KVSTEP_MINIMAL

bool forward_print_json(const ForwardResult *result, FILE *stream, Error *err) {
    (void)result;
    (void)stream;
    return error_set(err, "--json needs jansson; this is the MINIMAL build");
}

#else

#include "chapters/common/json_parts.h"

static bool put_tokens(json_t *root, const ForwardResult *r, Error *err) {
    json_t *list = json_put_list(root, "tokens", err);
    bool done = list;
    for (size_t i = 0; done && i < r->tokens; i++) {
        json_t *token = json_add_object(list, err);
        done = token && json_put_count(token, "position", i, err) &&
               json_put_count(token, "token", (uint64_t)r->token[i].id, err) &&
               json_put_piece(token, r->token[i].piece, err);
    }
    return done;
}

static bool put_boxes(json_t *root, const ForwardResult *r, Error *err) {
    json_t *list = json_put_list(root, "boxes", err);
    bool done = list;
    for (size_t i = 0; done && i < r->boxes; i++) {
        const ForwardBox *b = &r->box[i];
        json_t *box = json_add_object(list, err);
        done = box && json_put(box, "name", json_string(b->name), err) &&
               (b->layer == FORWARD_NO_LAYER ||
                json_put_count(box, "layer", b->layer, err)) &&
               json_put_count(box, "in", b->in, err) &&
               json_put_count(box, "out", b->out, err) &&
               json_put_floats(box, "first", b->number, b->numbers, err) &&
               json_put_count(box, "multiply_adds", b->multiply_adds, err);
    }
    return done;
}

static bool put_parts(json_t *root, const ForwardResult *r, Error *err) {
    json_t *parts = json_put_object(root, "multiply_adds", err);
    bool done = parts;
    for (int p = 0; done && p < PARTS; p++)
        done = json_put_count(parts, part_name((Part)p), r->part[p], err);
    return done && json_put_count(parts, "total", r->multiply_adds, err);
}

static bool put_choices(json_t *root, const ForwardResult *r, Error *err) {
    json_t *list = json_put_list(root, "choices", err);
    bool done = list;
    for (size_t i = 0; done && i < r->choices; i++) {
        const ForwardChoice *c = &r->choice[i];
        json_t *choice = json_add_object(list, err);
        done = choice && json_put_count(choice, "token", (uint64_t)c->id, err) &&
               json_put_piece(choice, c->piece, err) &&
               json_put_real(choice, "logit", (double)c->logit, err) &&
               json_put_real(choice, "probability", c->probability, err);
    }
    return done;
}

static bool put_texts(json_t *root, const ForwardResult *r, Error *err) {
    json_t *list = json_put_list(root, "texts", err);
    bool done = list;
    for (size_t i = 0; done && i < FORWARD_TEXTS; i++) {
        const ForwardText *t = &r->text[i];
        json_t *text = json_add_object(list, err);
        done = text && json_put(text, "language", json_string(t->language), err) &&
               json_put(text, "vocabulary", json_string(t->vocabulary), err) &&
               json_put_count(text, "characters", t->characters, err) &&
               json_put_count(text, "bytes", t->bytes, err) &&
               json_put_count(text, "tokens", t->tokens, err);
    }
    return done;
}

bool forward_print_json(const ForwardResult *r, FILE *stream, Error *err) {
    json_t *root = json_object();
    if (!root) return error_set(err, "JSON: no memory for the document");
    bool done = json_put(root, "command", json_string("forward"), err) &&
                json_put_model(root, &r->model, err) && put_tokens(root, r, err) &&
                json_put_count(root, "context", r->context, err) &&
                put_boxes(root, r, err) && put_parts(root, r, err) &&
                put_choices(root, r, err) && put_texts(root, r, err) &&
                json_print(root, stream, err);
    json_decref(root);
    return done;
}

#endif
