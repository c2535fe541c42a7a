#include "tests/viz_folder.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

void viz_folder_enter(void) {
    strcpy(folder, "/tmp/kvstep-viz-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

void viz_folder_leave(void) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

const char *viz_in_folder(const char *name) {
    static char path[2][160];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

void viz_write_sample(const Sample *sample, VizFormat format, const char *name,
                      VizReport *report) {
    Error err = {0};
    ck_assert_msg(viz_write(sample->draw, NULL, sample->width, sample->height, format,
                            viz_in_folder(name), report, &err),
                  "%s: %s", sample->name, err.text);
}

const Sample *viz_sample_named(const char *name) {
    for (size_t i = 0; i < viz_sample_count; i++)
        if (strcmp(viz_samples[i].name, name) == 0) return &viz_samples[i];
    ck_abort_msg("no sample %s", name);
}
