/* `kvstep cache` as it runs: every kind of cache under every rule gives the bits of
 * recomputing, and reserves what its formula says. */
#include "chapters/03_cache/command.h"
#include "chapters/03_cache/run.h"
#include "tests/chapter_run.h"

#include <sys/stat.h>
#include <unistd.h>

/* Rows of K and V are 32 values: one block. */
#define MODEL                                                                          \
    "random:dim=16,heads=4,kv_heads=2,head=16,layers=2,hidden=8,vocab=40,ctx=40"

enum { CONTEXT = 40, LAYERS = 2, WORDS = 18 };

static const struct {
    char *words[5];
} kinds[] = {{{"--cache", "contiguous"}},
             {{"--cache", "growing", "--growth", "each"}},
             {{"--cache", "growing", "--growth", "double"}},
             {{"--cache", "growing", "--growth", "256"}},
             {{"--cache", "ring"}},
             {{"--cache", "paged", "--block-size", "1"}},
             {{"--cache", "paged", "--block-size", "4"}},
             {{"--cache", "paged", "--block-size", "16"}}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Bytes of a row of 32 values in two heads, by hand. */
static const struct {
    char *name;
    size_t row;
} formats[] = {{"f32", 128}, {"f16", 64},  {"bf16", 64},
               {"q8_0", 34}, {"q4_0", 18}, {"fp8", 40}};
enum { FORMATS = sizeof formats / sizeof *formats };

static Memory memory;

/* The options of a kind and of more words, ended by NULL. */
static Options options_of(size_t kind, char *const *more) {
    char *words[WORDS] = {"--model", MODEL};
    size_t n = 2;
    for (char *const *w = kinds[kind].words; *w; w++) words[n++] = *w;
    for (; *more; more++) words[n++] = *more;
    ck_assert_uint_lt(n, WORDS);
    return typed(&cache_command, words);
}

/* Runs it and demands what holds for every run. Close the result. */
static CacheResult run(const Options *options) {
    CacheResult r;
    Error err = {0};
    ck_assert_msg(cache_run(options, NULL, NULL, &r, &memory, &err), "%s", err.text);
    ck_assert_msg(!r.difference.differs, "%s, %s: other bits at step %zu", r.kind,
                  r.words, r.difference.step);
    ck_assert_uint_eq(r.steps, options->tokens);
    ck_assert_msg(r.predicted == r.bytes.reserved, "%s, %s: %zu bytes, not %zu", r.kind,
                  r.words, r.bytes.reserved, (size_t)r.predicted);
    ck_assert_uint_eq(r.bytes.reserved, r.bytes.live + r.bytes.wasted);
    ck_assert_uint_eq(r.step[r.steps - 1].cache_bytes, r.bytes.live);
    ck_assert_uint_gt(r.bytes.live, 0);
    ck_assert_uint_ge(r.peak, r.bytes.reserved);
    ck_assert_uint_eq(strlen(r.digest), DIGEST_TEXT - 1);
    return r;
}

#define RUN(kind, ...)                                                                 \
    run(&(const Options[]){options_of(kind, (char *[]){__VA_ARGS__, NULL})}[0])

static void close_all(CacheResult *results, size_t count) {
    for (size_t i = 0; i < count; i++) cache_result_close(&results[i]);
    ck_assert_uint_eq(memory.live, 0);
}

START_TEST(every_kind_reserves_what_its_formula_says_in_every_two_formats) {
    for (size_t pair = 0; pair < FORMATS * FORMATS; pair++) {
        const size_t k = pair / FORMATS, v = pair % FORMATS;
        CacheResult r[2];
        for (size_t i = 0; i < 2; i++) /* contiguous beside this kind */
            r[i] = RUN(i ? (size_t)_i : 0, "--tokens", "20", "--prompt", "any",
                       "--cache-type-k", formats[k].name, "--cache-type-v",
                       formats[v].name);
        ck_assert_str_eq(r[1].digest, r[0].digest);
        ck_assert_str_eq(r[1].kind, kinds[_i].words[1]);
        const size_t tokens = r[1].prompt_tokens + 19;
        ck_assert_uint_eq(r[1].bytes.live,
                          LAYERS * tokens * (formats[k].row + formats[v].row));
        ck_assert(r[1].full == (pair == 0));
        close_all(r, 2);
    }
}
END_TEST

START_TEST(each_format_of_k_and_of_v_gives_logits_of_its_own) {
    char digest[FORMATS * FORMATS][DIGEST_TEXT];
    for (size_t pair = 0; pair < FORMATS * FORMATS; pair++) {
        CacheResult r = RUN(0, "--tokens", "20", "--prompt", "any", "--cache-type-k",
                            formats[pair / FORMATS].name, "--cache-type-v",
                            formats[pair % FORMATS].name);
        strcpy(digest[pair], r.digest);
        for (size_t i = 0; i < pair; i++) ck_assert_str_ne(digest[pair], digest[i]);
        /* One key has all the weight, however it is stored. */
        if (pair > 0) ck_assert_uint_eq(r.full_differs, r.prompt_tokens - 1);
        close_all(&r, 1);
    }
    CacheResult r = RUN(0, "--cache-type-k", "f16", "--tokens", "9");
    ck_assert_uint_eq(r.full_differs, 1);
    close_all(&r, 1);
    r = RUN(0, "--cache-type-v", "f16", "--tokens", "9");
    ck_assert_uint_eq(r.full_differs, 0);
    close_all(&r, 1);
}
END_TEST

START_TEST(a_rule_parts_from_the_full_model_with_the_first_key_it_drops) {
    static const struct {
        size_t rows;
        char *words[8];
    } rules[] = {{1, {"--window", "1"}},
                 {4, {"--window", "4"}},
                 {16, {"--window", "16"}},
                 {5, {"--max-cached", "5"}},
                 {5, {"--max-cached", "5", "--evict", "sinks"}},
                 {12, {"--max-cached", "12", "--evict", "sinks"}},
                 {7, {"--max-cached", "7", "--evict", "sinks", "--sinks", "1"}}};
    char digest[sizeof rules / sizeof *rules][DIGEST_TEXT];
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char *words[10] = {"--tokens", "30"};
        for (size_t w = 0; rules[i].words[w]; w++) words[2 + w] = rules[i].words[w];
        const Options own = options_of((size_t)_i, words), plain = options_of(0, words);
        CacheResult r[] = {run(&own), run(&plain)};
        ck_assert_uint_eq(r[0].step[0].step, 0);
        ck_assert(!r[0].full);
        ck_assert_msg(r[0].full_differs == rules[i].rows, "%s: step %zu", r[0].words,
                      r[0].full_differs);
        ck_assert_uint_eq(r[0].full_compared, rules[i].rows + 1);
        ck_assert_uint_eq(r[0].bytes.live, LAYERS * rules[i].rows * 2 * 128);
        ck_assert_str_eq(r[0].digest, r[1].digest);
        strcpy(digest[i], r[0].digest);
        for (size_t j = 0; j < i; j++) ck_assert_str_ne(digest[i], digest[j]);
        close_all(r, 2);
    }
}
END_TEST

START_TEST(what_hides_nothing_and_rounds_nothing_is_the_full_model) {
    CacheResult r[] = {RUN((size_t)_i, "--tokens", "30"),
                       RUN((size_t)_i, "--tokens", "30", "--window", "40"),
                       RUN((size_t)_i, "--tokens", "30", "--max-cached", "40"),
                       RUN((size_t)_i, "--tokens", "30", "--window", "30"),
                       RUN((size_t)_i, "--tokens", "30", "--rope", "before")};
    ck_assert(r[0].full);
    for (size_t i = 1; i < sizeof r / sizeof *r; i++) {
        ck_assert_str_eq(r[i].digest, r[0].digest);
        ck_assert(r[i].full || (r[i].full_differs == FULL_MODEL_SAME &&
                                r[i].full_compared == r[i].steps));
    }
    close_all(r, sizeof r / sizeof *r);
}
END_TEST

START_TEST(a_text_longer_than_the_context_goes_on_under_a_window) {
    char *const words[] = {"--tokens", "90", "--window", "6", "--prompt", "ab", NULL};
    const Options own = options_of((size_t)_i, words), plain = options_of(0, words);
    CacheResult r[] = {run(&own), run(&plain)};
    ck_assert_uint_eq(r[0].step[89].context, 92);
    ck_assert_uint_eq(r[0].full_differs, 6);
    ck_assert_str_eq(r[0].digest, r[1].digest);
    close_all(r, 2);
}
END_TEST

START_TEST(a_prompt_in_chunks_gives_the_logits_of_the_prompt_at_once) {
    static char *const chunks[] = {"1", "3", "7", "30"};
    static char prompt[] = "a prompt of two dozens.";
    CacheResult r[2];
    r[0] = RUN(0, "--tokens", "9", "--prompt", prompt);
    ck_assert_uint_eq(r[0].prompt_tokens, 24);
    for (size_t i = 0; i < 2 * sizeof chunks / sizeof *chunks; i++) {
        r[1] = i % 2 ? RUN((size_t)_i, "--tokens", "9", "--prompt", prompt, "--chunk",
                           chunks[i / 2], "--logits", "all")
                     : RUN((size_t)_i, "--tokens", "9", "--prompt", prompt, "--chunk",
                           chunks[i / 2]);
        ck_assert_str_eq(r[1].digest, r[0].digest);
        ck_assert_uint_eq(r[1].step[0].rows, 24);
        /* Each pass reads all weights again. */
        const uint64_t once = r[0].step[0].cached.counters.weight_bytes_read,
                       more = r[1].step[0].cached.counters.weight_bytes_read;
        ck_assert(i / 2 == 3 ? more >= once : more > once);
        cache_result_close(&r[1]);
    }
    close_all(r, 1);
}
END_TEST

static uint64_t flops(const CacheBill *bill) {
    return counters_flops(&bill->counters);
}

START_TEST(more_work_for_the_same_tokens_changes_no_bit) {
    enum { ALL = 5 };
    CacheResult r[ALL] = {
        RUN((size_t)_i, "--tokens", "20", "--prompt", "some"),
        RUN((size_t)_i, "--tokens", "20", "--prompt", "some", "--logits", "all"),
        RUN((size_t)_i, "--tokens", "20", "--prompt", "some", "--scores", "dense"),
        RUN((size_t)_i, "--tokens", "20", "--prompt", "some", "--kernels", "naive"),
        RUN((size_t)_i, "--tokens", "20", "--prompt", "some", "--kernels", "naive",
            "--scores", "dense", "--logits", "all")};
    for (size_t i = 1; i < ALL; i++) {
        ck_assert_str_eq(r[i].digest, r[0].digest);
        const bool as_much = i == 3;
        ck_assert((flops(&r[i].recompute) == flops(&r[0].recompute)) == as_much);
        for (size_t s = 0; s < 20; s++)
            ck_assert_int_eq(r[i].step[s].token, r[0].step[s].token);
    }
    close_all(r, ALL);
}
END_TEST

START_TEST(drawn_tokens_are_the_seed_s_and_the_same_over_every_kind) {
    CacheResult r[3];
    for (size_t i = 0; i < 3; i++)
        r[i] = RUN(i ? (size_t)_i : 0, "--tokens", "20", "--temperature", "0.9",
                   "--top-p", "0.8", "--seed", i < 2 ? "5" : "6");
    ck_assert_str_eq(r[0].digest, r[1].digest);
    ck_assert_str_ne(r[0].digest, r[2].digest);
    close_all(r, 3);
}
END_TEST

static void count_steps(const CacheResult *result, const CacheStep *step, void *data) {
    size_t *seen = data;
    ck_assert_uint_eq(++*seen, result->steps);
    ck_assert_ptr_eq(step, &result->step[result->steps - 1]);
    ck_assert_int_eq(step->before, *seen == 1 ? 1 : (step - 1)->token);
}

START_TEST(each_step_is_shown_as_it_comes) {
    const Options options = TYPED(&cache_command, "--model", TINY, "--tokens", "5");
    CacheResult r;
    size_t seen = 0;
    ck_assert(cache_run(&options, count_steps, &seen, &r, &memory, NULL));
    ck_assert_uint_eq(seen, 5);
    for (size_t i = 1; i < 5; i++) ck_assert_int_eq(r.token[i], r.step[i - 1].token);
    close_all(&r, 1);
}
END_TEST

/* ---- Memory that runs out -------------------------------------------------------- */

static bool attempt(const Options *options, Memory *own, Error *err) {
    CacheResult result;
    if (!cache_run(options, NULL, NULL, &result, own, err)) {
        if (err) ck_assert_ptr_null(strchr(err->text, '\n'));
        return false;
    }
    cache_result_close(&result);
    return true;
}

START_TEST(every_allocation_may_fail) {
    const Options full = options_of((size_t)_i, (char *[]){"--tokens", "5", NULL});
    demand_no_leaks(&full, attempt);
    const Options rule = options_of(
        (size_t)_i, (char *[]){"--tokens", "5", "--window", "2", "--logits", "all",
                               "--prompt", "xy", "--chunk", "2", NULL});
    demand_no_leaks(&rule, attempt);
}
END_TEST

START_TEST(a_run_that_fails_leaves_no_trace_behind) {
    char folder[] = "/tmp/kvstep-cache-XXXXXX", path[64];
    struct stat info;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/trace.json", folder);
    const Options options = TYPED(&cache_command, "--model", TINY, "--tokens", "2",
                                  "--trace", path, "--trace-attention");
    ck_assert(attempt(&options, &memory, NULL));
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_gt(info.st_size, 0);
    ck_assert_int_eq(unlink(path), 0);
    size_t failures = 0;
    for (bool done = false; !done; failures += !done) {
        Memory own = {.fail_at = failures + 1};
        Error err = {0};
        done = attempt(&options, &own, &err);
        ck_assert_uint_eq(own.live, 0);
        ck_assert_int_eq(unlink(path), done ? 0 : -1);
    }
    ck_assert_uint_gt(failures, 10);
    ck_assert_msg(rmdir(folder) == 0, "something else was left in %s", folder);
}
END_TEST

/* ---- Real weights ---------------------------------------------------------------- */

static const char story[] =
    "Once upon a time, there was a little girl named Lily. She loved to play outside "
    "in the park. One day, she saw a big, red ball. She wanted to play with it, but it "
    "was too high.\n"
    "Lily's mom said, \"Lily, let's go to the park.\" Lily was sad and didn't know "
    "what to do. She said, \"I want to play with your ball, but I can't find it.\"\n"
    "Lily was sad and didn't know what to do. She said, \"I'm sorry, Lily. I didn't "
    "know what to do.\"\n"
    "Lily didn't want to help her mom, so she said, \"I'm sorry, mom. I didn't know "
    "what to do.\" Her mom said, \"Don't worry, Lily. We can help you.";

/* llama2.c and llama.cpp agree on the text. */
START_TEST(stories260K_tells_the_story_that_other_programs_tell) {
    char model[600], tokenizer[600], text[4096], prompt[] = "Once upon a time";
    snprintf(model, sizeof model, "%s/stories260K.bin", getenv("KVSTEP_MODELS"));
    snprintf(tokenizer, sizeof tokenizer, "%s/tok512.bin", getenv("KVSTEP_MODELS"));
    char *words[WORDS] = {"--model",  model,  "--tokenizer", tokenizer,
                          "--prompt", prompt, "--tokens",    "200"};
    for (size_t w = 0; kinds[_i].words[w]; w++) words[8 + w] = kinds[_i].words[w];
    const Options options = typed(&cache_command, words);
    CacheResult r = run(&options);
    size_t length = strlen(strcpy(text, prompt));
    for (size_t i = 0; i < r.steps; i++) {
        const Piece *piece = &r.step[i].text;
        ck_assert_uint_lt(length + piece->length, sizeof text);
        memcpy(text + length, piece->bytes, piece->length);
        length += piece->length;
    }
    text[length] = '\0';
    const size_t common = length < strlen(story) ? length : strlen(story);
    ck_assert_uint_ge(common, 300);
    ck_assert_msg(strncmp(text, story, common) == 0, "it says: %s", text);
    ck_assert(r.full);
    close_all(&r, 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("cache run");
    TCase *tests = tcase_create("run");
    tcase_set_timeout(tests, 60);
    const TTest *const of_every_kind[] = {
        every_kind_reserves_what_its_formula_says_in_every_two_formats,
        a_rule_parts_from_the_full_model_with_the_first_key_it_drops,
        what_hides_nothing_and_rounds_nothing_is_the_full_model,
        a_text_longer_than_the_context_goes_on_under_a_window,
        a_prompt_in_chunks_gives_the_logits_of_the_prompt_at_once,
        more_work_for_the_same_tokens_changes_no_bit,
        drawn_tokens_are_the_seed_s_and_the_same_over_every_kind,
        every_allocation_may_fail};
    for (size_t i = 0; i < sizeof of_every_kind / sizeof *of_every_kind; i++)
        tcase_add_loop_test(tests, of_every_kind[i], 0, KINDS);
    tcase_add_test(tests, each_format_of_k_and_of_v_gives_logits_of_its_own);
    tcase_add_test(tests, each_step_is_shown_as_it_comes);
    tcase_add_test(tests, a_run_that_fails_leaves_no_trace_behind);
    if (getenv("KVSTEP_MODELS"))
        tcase_add_loop_test(tests, stories260K_tells_the_story_that_other_programs_tell,
                            0, KINDS);
    else
        printf("skipped: stories260K_tells_the_story_that_other_programs_tell "
               "(KVSTEP_MODELS names no folder)\n");
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
