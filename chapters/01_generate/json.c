/* `kvstep generate --json`: every step, nothing thinned or rounded. */
#include "chapters/01_generate/print.h"

#ifdef KVSTEP_MINIMAL

bool generate_print_json(const GenerateResult *result, FILE *stream, Error *err) {
    (void)result;
    (void)stream;
    return error_set(err, "--json needs jansson; this is the MINIMAL build");
}

#else

#include "chapters/common/json_parts.h"

static bool put_step(json_t *list, const GenerateStep *s, Error *err) {
    json_t *step = json_add_object(list, err);
    return step && json_put_count(step, "step", s->step, err) &&
           json_put_count(step, "context", s->context, err) &&
           json_put_count(step, "token", (uint64_t)s->token, err) &&
           json_put_piece(step, s->text, err) &&
           json_put_flops(step, &s->counters, err) &&
           json_put_count(step, "elementwise", s->counters.elementwise, err) &&
           json_put_count(step, "weight_bytes_read", s->counters.weight_bytes_read,
                          err) &&
           json_put_seconds(step, "seconds", s->seconds, err) &&
           json_put_count(step, "rows", s->rows, err) &&
           json_put_count(step, "rows_same", s->same, err) &&
           json_put_count(step, "tokens_same", s->tokens_same, err) &&
           json_put_count(step, "done_before", s->done_before, err) &&
           json_put_count(step, "pairs_dense", s->pairs_dense, err) &&
           json_put_count(step, "pairs_causal", s->pairs_causal, err);
}

static bool put_steps(json_t *root, const GenerateResult *r, Error *err) {
    json_t *list = json_put_list(root, "steps", err);
    bool done = list;
    for (size_t i = 0; done && i < r->steps; i++)
        done = put_step(list, &r->step[i], err);
    return done;
}

static bool put_totals(json_t *root, const GenerateResult *r, Error *err) {
    json_t *totals = json_put_object(root, "totals", err), *would;
    return totals && json_put_count(totals, "steps", r->steps, err) &&
           json_put(totals, "ended", json_boolean(r->ended), err) &&
           json_put_flops(totals, &r->total, err) &&
           json_put_count(totals, "done_before", r->done_before, err) &&
           json_put_seconds(totals, "seconds", r->seconds, err) &&
           (would = json_put_object(totals, "dense", err)) &&
           json_put_flops(would, &r->dense, err) &&
           (would = json_put_object(totals, "causal", err)) &&
           json_put_flops(would, &r->causal, err);
}

bool generate_print_json(const GenerateResult *r, FILE *stream, Error *err) {
    json_t *root = json_object();
    if (!root) return error_set(err, "JSON: no memory for the document");
    bool done = json_put(root, "command", json_string("generate"), err) &&
                json_put_model(root, &r->model, err) &&
                json_put_count(root, "prompt_tokens", r->prompt_tokens, err) &&
                put_steps(root, r, err) && put_totals(root, r, err) &&
                json_put(root, "digest", json_string(r->digest), err) &&
                json_print(root, stream, err);
    json_decref(root);
    return done;
}

#endif
