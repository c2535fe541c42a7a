/* A folder of its own for each picture test, and samples written into it. */
#ifndef KVSTEP_TESTS_VIZ_FOLDER_H
#define KVSTEP_TESTS_VIZ_FOLDER_H

#include "tests/viz_samples.h"

/* A checked fixture: makes the folder, removes it with all that is in it. */
void viz_folder_enter(void);
void viz_folder_leave(void);

/* The path of a file in the folder; good until the second call after this. */
const char *viz_in_folder(const char *name);

/* Fails the test when the sample cannot be written or is not there. */
void viz_write_sample(const Sample *sample, VizFormat format, const char *name,
                      VizReport *report);
const Sample *viz_sample_named(const char *name);

#endif
