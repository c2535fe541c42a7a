/* Standard output: what was printed must have arrived, or the run is not fine. */
#ifndef KVSTEP_CHAPTERS_OUTPUT_H
#define KVSTEP_CHAPTERS_OUTPUT_H

#include "core/base/error.h"

/* Call first. A closed standard stream is filled, so that no file that is opened later
 * takes its number and gets what is printed; and a reader that goes away (`| head`)
 * becomes a write error, so that a run can still remove its half-written files. */
void output_begin(void);

/* Call last. False and err: a full disk, a closed stream. Where the reader went away,
 * ends the process by SIGPIPE, as every filter does: no message, no success. */
bool output_end(Error *err);

#endif
