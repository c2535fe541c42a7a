/* The picture at the front of the README: the main job as `kvstep cache` runs it
 * without options, drawn small, so that its words can be read in a column of text.
 * `make front-picture` runs it; the argument is the path without its ending. */
#include "chapters/03_cache/figures.h"

#include <stdio.h>

static const double WIDTH = 640, HEIGHT = 280;

static bool draw(const Options *options, const char *path, Memory *memory, Error *err) {
    CacheResult result;
    CacheFigures figures = {0};
    if (!cache_run(options, NULL, NULL, &result, memory, err)) return false;
    bool done = cache_figures_open(&figures, &result, options, memory, err) &&
                viz_write(cache_figure_main_job, &figures, WIDTH, HEIGHT, VIZ_PNG, path,
                          NULL, err);
    cache_figures_close(&figures);
    cache_result_close(&result);
    return done;
}

int main(int argc, char **argv) {
    static const char *const accepted[] = {"model",  "prompt", "tokens",  "cache",
                                           "scores", "logits", "kernels", NULL};
    const CommandInfo command = {.name = "main_job", .accepts = accepted};
    Memory memory = {0};
    Options options;
    Error err = {0};
    if (argc == 2 && options_parse(&command, 1, argv, &options, &err) == OPTIONS_RUN &&
        draw(&options, argv[1], &memory, &err))
        return 0;
    fprintf(stderr, "main_job: %s\n", argc == 2 ? err.text : "give one path");
    return 1;
}
