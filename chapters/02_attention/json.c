/* `kvstep attention --json`: all matrices, nothing shortened. */
#include "chapters/02_attention/print.h"

#ifdef KVSTEP_MINIMAL

bool attention_print_json(const AttentionResult *result, FILE *stream, Error *err) {
    (void)result;
    (void)stream;
    return error_set(err, "--json needs jansson; this is the MINIMAL build");
}

#else

#include "chapters/common/json_parts.h"

static bool put_tokens(json_t *root, const AttentionResult *r, Error *err) {
    json_t *list = json_put_list(root, "tokens", err);
    bool done = list;
    for (size_t i = 0; done && i < r->n; i++) {
        json_t *token = json_add_object(list, err);
        done = token && json_put_count(token, "position", i, err) &&
               json_put_count(token, "token", (uint64_t)r->token[i].id, err) &&
               json_put_piece(token, r->token[i].piece, err);
    }
    return done;
}

static bool put_matrices(json_t *root, const AttentionResult *r, Error *err) {
    const size_t n = r->n;
    return json_put_matrix(root, "q", r->q, n, r->k_size, err) &&
           json_put_matrix(root, "k", r->k, n, r->k_size, err) &&
           json_put_matrix(root, "v", r->v, n, r->v_size, err) &&
           json_put_matrix(root, "scores", r->scores, n, n, err) &&
           json_put_matrix(root, "output", r->out, n, r->v_size, err);
}

static bool put_heads(json_t *root, const AttentionResult *r, Error *err) {
    json_t *list = json_put_list(root, "heads", err);
    const size_t group = r->heads / r->model.weights.shape.layer[r->layer].kv_heads;
    bool done = list;
    for (size_t h = 0; done && h < r->heads; h++) {
        json_t *head = json_add_object(list, err);
        done = head && json_put_count(head, "head", h, err) &&
               json_put_count(head, "kv_head", h / group, err) &&
               json_put_count(head, "rows_same", r->head_same[h], err) &&
               json_put_matrix(head, "weights", r->weights + h * r->n * r->n, r->n,
                               r->n, err);
    }
    return done;
}

static bool put_overlay(json_t *root, const AttentionResult *r, Error *err) {
    json_t *before = json_put_object(root, "step_before", err), *same = NULL;
    bool done =
        before && json_put_matrix(before, "weights", r->older, r->n - 1, r->n - 1, err);
    done = done && (same = json_put_list(before, "same", err));
    for (size_t t = 0; done && t + 1 < r->n; t++)
        done = json_array_append_new(same, json_boolean(r->same[t])) == 0;
    return done && json_put_count(root, "rows_same", r->rows_same, err) &&
           json_put_count(root, "rows_compared", r->rows_compared, err) &&
           json_put_count(root, "above_diagonal", r->above_diagonal, err) &&
           json_put_count(root, "above_diagonal_all_heads", r->above_all, err) &&
           json_put_count(root, "pairs_above", r->pairs_above, err) &&
           json_put_count(root, "pairs_dense", r->pairs_dense, err) &&
           json_put_count(root, "pairs_causal", r->pairs_causal, err);
}

static bool put_rotation(json_t *root, const AttentionResult *r, Error *err) {
    json_t *rope = json_put_object(root, "rotation", err);
    return rope && json_put_count(rope, "rotary_size", r->rot, err) &&
           json_put_real(rope, "angle_first_pair", r->angle, err) &&
           json_put_matrix(rope, "first_pair", r->turn, r->n, 2, err) &&
           json_put_real(rope, "angle_last_pair", r->slow_angle, err) &&
           json_put_matrix(rope, "last_pair", r->slow_turn, r->n, 2, err);
}

static bool put_shift(json_t *root, const AttentionResult *r, Error *err) {
    json_t *shift = json_put_object(root, "shift", err);
    return shift && json_put_count(shift, "positions", r->shift, err) &&
           json_put_floats(shift, "newest_scores", r->shifted, r->n, err) &&
           json_put_real(shift, "score_change", (double)r->score_change, err) &&
           json_put_real(shift, "score_low", (double)r->score_low, err) &&
           json_put_real(shift, "score_high", (double)r->score_high, err) &&
           json_put_real(shift, "logit_change", (double)r->logit_change, err) &&
           json_put_real(shift, "logit_range", (double)r->logit_range, err) &&
           json_put_real(shift, "newest_alone_change", (double)r->moved_change, err);
}

bool attention_print_json(const AttentionResult *r, FILE *stream, Error *err) {
    json_t *root = json_object();
    if (!root) return error_set(err, "JSON: no memory for the document");
    bool done = json_put(root, "command", json_string("attention"), err) &&
                json_put_model(root, &r->model, err) && put_tokens(root, r, err) &&
                json_put_count(root, "layer", r->layer, err) &&
                json_put_count(root, "head", r->head, err) &&
                json_put_count(root, "kv_head", r->kv_head, err) &&
                json_put_real(root, "scale", (double)r->scale, err) &&
                json_put(root, "masked", json_boolean(!r->no_mask), err) &&
                put_matrices(root, r, err) && put_heads(root, r, err) &&
                put_overlay(root, r, err) && put_rotation(root, r, err) &&
                put_shift(root, r, err) && json_print(root, stream, err);
    json_decref(root);
    return done;
}

#endif
