/* The pictures of the commands, on runs of every kind: nothing in them covers or leaves
 * anything, all can be read, and they say what was counted.
 *
 * Goldens are the dumps in tests/figures_golden/. After a wanted change look at the
 * pictures, then write them anew: KVSTEP_GOLDEN=write build/tests/test_figures */
#include "chapters/00_forward/command.h"
#include "chapters/00_forward/figures.h"
#include "chapters/01_generate/command.h"
#include "chapters/01_generate/figures.h"
#include "chapters/02_attention/command.h"
#include "chapters/02_attention/figures.h"
#include "chapters/03_cache/command.h"
#include "chapters/03_cache/figures.h"
#include "tests/check_main.h"
#include "tests/viz_compare.h"
#include "viz/figure.h"

#include <string.h>

#define GOLDEN "tests/figures_golden/"
#define WORDS  6

/* One run; words end at the first NULL. */
typedef struct {
    const char *words[WORDS];
} RunCase;

static const char chinese[] = "--prompt=\xE9\x9B\xA8\xE5\x90\x8E \xF0\x9F\x98\x80\x01"
                              "\x1B[31m\t\xE2\x80\xAE.";

static const RunCase cache_runs[] = {
    {{"--tokens=24"}},
    {{"--tokens=1"}},
    {{"--tokens=2", "--prompt=abcdefghij"}},
    {{"--tokens=64"}},
    {{"--tokens=200"}},
    {{"--tokens=10", chinese}},
    {{"--tokens=16", "--model=random:heads=8,kv_heads=8"}},
    {{"--tokens=30", "--model=random:layers=1"}},
    {{"--tokens=40", "--model=random:layers=9", "--layer=8"}},
    {{"--tokens=12", "--model=random:layers=40,dim=16,heads=1,kv_heads=1"}},
    {{"--tokens=12", "--model=random:heads=64,kv_heads=1,dim=64"}},
    {{"--tokens=20", "--scores=dense", "--prompt=hello", "--chunk=2"}},
    {{"--tokens=48", "--window=16", "--cache=ring"}},
    {{"--tokens=40", "--max-cached=12", "--evict=sinks", "--sinks=4"}},
};
enum { CACHE_RUNS = sizeof cache_runs / sizeof *cache_runs };

static Options options_of(const Command *command, const RunCase *run) {
    char *argv[WORDS + 1] = {(char *)command->info.name};
    int argc = 1;
    Options options;
    Error err = {0};
    for (; argc <= WORDS && run->words[argc - 1]; argc++)
        argv[argc] = (char *)run->words[argc - 1];
    ck_assert_msg(options_parse(&command->info, argc, argv, &options, &err) ==
                      OPTIONS_RUN,
                  "%s", err.text);
    return options;
}

static void demand_clean(const char *name, VizDraw draw, const void *data) {
    VizReport report;
    Error err = {0};
    char *dump = viz_dump(draw, data, VIZ_SLIDE_WIDTH, VIZ_SLIDE_HEIGHT, &report, &err);
    ck_assert_msg(dump != NULL, "%s: %s", name, err.text);
    ck_assert_msg(report.overlaps == 0 && report.outside == 0, "%s: %s", name,
                  report.problem);
    ck_assert_msg(report.smallest_px >= 14, "%s: a label of %.1f px", name,
                  report.smallest_px);
    ck_assert_msg(!strstr(dump, "no data"), "%s: an empty part", name);
    free(dump);
}

typedef struct {
    Memory memory;
    Options options;
    CacheResult result;
    CacheFigures figures;
} CacheRun;

static CacheRun *open_cache(const RunCase *words) {
    CacheRun *run = calloc(1, sizeof *run);
    Error err = {0};
    run->options = options_of(&cache_command, words);
    ck_assert_msg(
        cache_run(&run->options, NULL, NULL, &run->result, &run->memory, &err), "%s",
        err.text);
    ck_assert_msg(cache_figures_open(&run->figures, &run->result, &run->options,
                                     &run->memory, &err),
                  "%s", err.text);
    return run;
}

static void close_cache(CacheRun *run) {
    cache_figures_close(&run->figures);
    cache_result_close(&run->result);
    ck_assert_uint_eq(run->memory.live, 0);
    free(run);
}

START_TEST(pictures_of_cache_runs_are_clean) {
    CacheRun *run = open_cache(&cache_runs[_i]);
    demand_clean("growth", cache_figure_growth, &run->figures);
    demand_clean("cost", cache_figure_cost, &run->figures);
    demand_clean("recomputed", cache_figure_recomputed, &run->figures);
    demand_clean("heads", figure_heads, &run->figures.heads);
    close_cache(run);
}
END_TEST

START_TEST(long_and_strange_pieces_as_labels_leave_the_picture_clean) {
    static const char *const strange[] = {
        "a piece that is much longer than any place that a picture has for its label",
        "\xE4\xB8\xAD\xE6\x96\x87\xE6\x96\x87\xE5\xAD\x97\xE5\xBE\x88\xE9\x95\xBF",
        "\xF0\x9F\x98\x80\xF0\x93\x80\x80",
        "\x1B[31m\n\t",
        "\xFF\xE4\xB8",
        "\xE2\x80\xAEturned",
        "   "};
    const RunCase runs[] = {{{"--tokens=7"}}, {{"--tokens=12"}}, {{"--tokens=30"}}};
    CacheRun *run = open_cache(&runs[_i]);
    for (size_t i = 1; i < run->figures.labels.count; i++) {
        const char *text = strange[i % 7];
        labels_set(&run->figures.labels, i, (Piece){text, strlen(text)});
    }
    demand_clean("heads", figure_heads, &run->figures.heads);
    close_cache(run);
}
END_TEST

static const RunCase forward_runs[] = {
    {{NULL}},
    {{"--prompt="}},
    {{chinese}},
    {{"--model=random:layers=1"}},
    {{"--model=random:layers=6"}},
    {{"--model=random:layers=9,heads=8"}},
    {{"--model=random:layers=100,dim=8,heads=2,kv_heads=1"}},
};

START_TEST(pictures_of_forward_runs_are_clean) {
    Memory memory = {0};
    ForwardResult result;
    Error err = {0};
    Options options = options_of(&forward_command, &forward_runs[_i]);
    ck_assert_msg(forward_run(&options, &result, &memory, &err), "%s", err.text);
    demand_clean("forward", forward_figure, &result);
    forward_result_close(&result);
}
END_TEST

static const RunCase generate_runs[] = {
    {{"--tokens=24"}},
    {{"--tokens=1"}},
    {{"--tokens=3", chinese}},
    {{"--tokens=200"}},
    {{"--tokens=20", "--scores=dense", "--prompt=hello"}},
    {{"--tokens=40", "--model=random:layers=9,heads=8,window=8"}},
};

START_TEST(pictures_of_generate_runs_are_clean) {
    Memory memory = {0};
    GenerateResult result;
    GenerateFigures figures;
    Error err = {0};
    Options options = options_of(&generate_command, &generate_runs[_i]);
    ck_assert_msg(generate_run(&options, NULL, NULL, &result, &memory, &err), "%s",
                  err.text);
    ck_assert(generate_figures_open(&figures, &result, &options, &memory, &err));
    demand_clean("staircase", generate_figure_staircase, &figures);
    demand_clean("triangle", generate_figure_triangle, &figures);
    generate_figures_close(&figures);
    generate_result_close(&result);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

static const RunCase attention_runs[] = {
    {{NULL}},
    {{"--prompt="}},
    {{"--prompt=a"}},
    {{chinese, "--shift=100"}},
    {{"--no-mask"}},
    {{"--layer=8", "--head=7", "--model=random:layers=9,heads=8"}},
    {{"--model=random:rot=0"}},
    {{"--shift=3", "--prompt=a prompt that is rather long, so that no numbers fit into "
                   "cells and one block a cell is drawn, with the tokens by position"}},
};

START_TEST(pictures_of_attention_runs_are_clean) {
    Memory memory = {0};
    AttentionResult result;
    AttentionFigures figures;
    Error err = {0};
    Options options = options_of(&attention_command, &attention_runs[_i]);
    ck_assert_msg(attention_run(&options, &result, &memory, &err), "%s", err.text);
    ck_assert(attention_figures_open(&figures, &result, &memory, &err));
    demand_clean("matrices", attention_figure_matrices, &figures);
    demand_clean("same", attention_figure_same, &figures);
    demand_clean("rotation", attention_figure_rotation, &figures);
    demand_clean("heads", figure_heads, &figures.heads);
    attention_figures_close(&figures);
    attention_result_close(&result);
    ck_assert_uint_eq(memory.live, 0);
}
END_TEST

START_TEST(pairs_of_the_triangles_are_the_counted_scores) {
    CacheRun *run = open_cache(&cache_runs[_i]);
    const CacheFigures *f = &run->figures;
    const Shape *shape = &run->result.model.weights.shape;
    const LayerShape *layer = &shape->layer[0];
    const uint64_t flops = 2 * shape->layers * layer->heads * layer->k_size;
    const Counters *bill[2] = {&run->result.recompute.counters,
                               &run->result.cached.counters};
    for (int e = 0; e < 2; e++) {
        double sum = 0;
        for (size_t i = 0; i < f->side * f->side; i++) sum += f->times[e][i];
        ck_assert_uint_eq(f->pairs[e] * flops, bill[e]->flops[PART_SCORES]);
        ck_assert_double_eq(sum, (double)f->pairs[e]);
    }
    close_cache(run);
}
END_TEST

START_TEST(weights_of_the_cache_command_are_those_of_the_attention_command) {
    const RunCase long_run = {{"--tokens=1", "--prompt=The cat sat", "--layer=1"}};
    const RunCase attention = {{"--layer=1", "--prompt=The cat sat"}};
    CacheRun *run = open_cache(&long_run);
    Options options = options_of(&attention_command, &attention);
    Memory memory = {0};
    AttentionResult opened;
    ck_assert(attention_run(&options, &opened, &memory, NULL));
    const Attended *attended = &run->figures.attended;
    ck_assert_uint_eq(attended->n, opened.n);
    ck_assert_mem_eq(attended->weights, opened.weights,
                     opened.heads * opened.n * opened.n * sizeof(float));
    attention_result_close(&opened);
    close_cache(run);
}
END_TEST

static void demand_golden(const char *name, VizDraw draw, const void *data) {
    char path[120], where[600];
    Error err = {0};
    const char *mode = getenv("KVSTEP_GOLDEN");
    snprintf(path, sizeof path, GOLDEN "%s.txt", name);
    char *dump = viz_dump(draw, data, VIZ_SLIDE_WIDTH, VIZ_SLIDE_HEIGHT, NULL, &err);
    ck_assert_msg(dump != NULL, "%s", err.text);
    if (mode && strcmp(mode, "write") == 0) {
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        fputs(dump, file);
        fclose(file);
    }
    char *golden = file_text(path, NULL);
    ck_assert_msg(golden != NULL, "%s is missing", path);
    ck_assert_msg(dumps_agree(golden, dump, where), "%s: %s", path, where);
    free(golden);
    free(dump);
}

START_TEST(what_is_drawn_of_24_tokens_is_the_golden_text) {
    CacheRun *run = open_cache(&cache_runs[0]);
    demand_golden("cache-growth", cache_figure_growth, &run->figures);
    demand_golden("recomputed", cache_figure_recomputed, &run->figures);
    close_cache(run);
}
END_TEST

int main(void) {
    TCase *clean = tcase_create("clean");
    tcase_set_timeout(clean, 60);
    tcase_add_loop_test(clean, pictures_of_cache_runs_are_clean, 0, CACHE_RUNS);
    tcase_add_loop_test(
        clean, long_and_strange_pieces_as_labels_leave_the_picture_clean, 0, 3);
    tcase_add_loop_test(clean, pictures_of_forward_runs_are_clean, 0,
                        sizeof forward_runs / sizeof *forward_runs);
    tcase_add_loop_test(clean, pictures_of_generate_runs_are_clean, 0,
                        sizeof generate_runs / sizeof *generate_runs);
    tcase_add_loop_test(clean, pictures_of_attention_runs_are_clean, 0,
                        sizeof attention_runs / sizeof *attention_runs);
    TCase *truth = tcase_create("true");
    tcase_set_timeout(truth, 60);
    tcase_add_loop_test(truth, pairs_of_the_triangles_are_the_counted_scores, 0,
                        CACHE_RUNS);
    tcase_add_test(truth,
                   weights_of_the_cache_command_are_those_of_the_attention_command);
    tcase_add_test(truth, what_is_drawn_of_24_tokens_is_the_golden_text);
    Suite *suite = suite_create("figures");
    suite_add_tcase(suite, clean);
    suite_add_tcase(suite, truth);
    return check_run(suite);
}
