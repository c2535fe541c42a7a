/* `kvstep cache --json`: every step, nothing thinned or rounded. */
#include "chapters/03_cache/print.h"

#ifdef KVSTEP_MINIMAL

bool cache_print_json(const CacheResult *result, FILE *stream, Error *err) {
    (void)result;
    (void)stream;
    return error_set(err, "--json needs jansson; this is the MINIMAL build");
}

#else

#include "chapters/common/json_parts.h"

static bool put_bill(json_t *object, const CacheBill *bill, Error *err) {
    const Counters *c = &bill->counters;
    return json_put_flops(object, c, err) &&
           json_put_count(object, "elementwise", c->elementwise, err) &&
           json_put_count(object, "kv_bytes_read", c->kv_bytes_read, err) &&
           json_put_count(object, "kv_bytes_written", c->kv_bytes_written, err) &&
           json_put_count(object, "weight_bytes_read", c->weight_bytes_read, err) &&
           json_put_seconds(object, "seconds", bill->seconds, err);
}

static bool put_step(json_t *steps, const CacheStep *step, Error *err) {
    json_t *object = json_add_object(steps, err), *bill;
    return object && json_put_count(object, "step", step->step, err) &&
           json_put_count(object, "context", step->context, err) &&
           json_put_count(object, "token", (uint64_t)step->token, err) &&
           json_put_piece(object, step->text, err) &&
           (bill = json_put_object(object, "recompute", err)) &&
           put_bill(bill, &step->recompute, err) &&
           (bill = json_put_object(object, "cached", err)) &&
           put_bill(bill, &step->cached, err) &&
           json_put_count(bill, "cache_bytes", step->cache_bytes, err);
}

static bool put_steps(json_t *root, const CacheResult *result, Error *err) {
    json_t *steps = json_put_list(root, "steps", err);
    bool done = steps;
    for (size_t i = 0; done && i < result->steps; i++)
        done = put_step(steps, &result->step[i], err);
    return done;
}

static bool put_cache_bytes(json_t *totals, const CacheResult *result, Error *err) {
    json_t *bytes = json_put_object(totals, "cache_bytes", err);
    return bytes && json_put_count(bytes, "predicted", result->predicted, err) &&
           json_put_count(bytes, "reserved", result->bytes.reserved, err) &&
           json_put_count(bytes, "live", result->bytes.live, err) &&
           json_put_count(bytes, "wasted", result->bytes.wasted, err) &&
           json_put_count(bytes, "metadata", result->bytes.metadata, err) &&
           json_put_count(bytes, "peak", result->peak, err) &&
           json_put_count(bytes, "copied", result->bytes_copied, err) &&
           json_put_count(bytes, "rows_copied", result->rows_copied, err);
}

static bool put_totals(json_t *root, const CacheResult *result, Error *err) {
    uint64_t without = 0, with = 0;
    for (size_t i = 0; i < result->steps; i++) {
        without += result->step[i].context;
        with += result->step[i].rows;
    }
    json_t *totals = json_put_object(root, "totals", err), *bill;
    return totals && json_put_count(totals, "steps", result->steps, err) &&
           json_put(totals, "ended", json_boolean(result->ended), err) &&
           (bill = json_put_object(totals, "recompute", err)) &&
           json_put_count(bill, "rows", without, err) &&
           put_bill(bill, &result->recompute, err) &&
           (bill = json_put_object(totals, "cached", err)) &&
           json_put_count(bill, "rows", with, err) &&
           put_bill(bill, &result->cached, err) && put_cache_bytes(totals, result, err);
}

static bool put_rule(json_t *root, const CacheResult *result, Error *err) {
    json_t *rule = json_put_object(root, "rule", err);
    if (!rule || !json_put(root, "cache", json_string(result->kind), err) ||
        !json_put(rule, "full_model", json_boolean(result->full), err) ||
        !json_put(rule, "words", json_string(result->words), err))
        return false;
    if (result->full) return true;
    json_t *differs = result->full_differs == FULL_MODEL_SAME
                          ? json_null()
                          : json_integer((json_int_t)result->full_differs);
    return json_put(rule, "full_model_differs_from_step", differs, err) &&
           json_put_count(rule, "full_model_steps_compared", result->full_compared,
                          err);
}

static bool put_verdict(json_t *root, const CacheResult *result, Error *err) {
    const CacheDifference *d = &result->difference;
    if (!json_put(root, "same_bits", json_boolean(!d->differs), err)) return false;
    if (d->differs) {
        json_t *where = json_put_object(root, "difference", err);
        if (!where || !json_put_count(where, "step", d->step, err) ||
            !json_put_count(where, "layer", d->layer, err) ||
            !json_put_count(where, "position", d->position, err) ||
            !json_put(where, "in", json_string(d->in_rows ? "rows" : "logits"), err))
            return false;
    }
    return json_put(root, "digest", json_string(result->digest), err);
}

bool cache_print_json(const CacheResult *result, FILE *stream, Error *err) {
    json_t *root = json_object();
    if (!root) return error_set(err, "JSON: no memory for the document");
    bool done = json_put(root, "command", json_string("cache"), err) &&
                json_put_model(root, &result->model, err) &&
                json_put_count(root, "prompt_tokens", result->prompt_tokens, err) &&
                put_steps(root, result, err) && put_totals(root, result, err) &&
                put_rule(root, result, err) && put_verdict(root, result, err) &&
                json_print(root, stream, err);
    json_decref(root);
    return done;
}

#endif
