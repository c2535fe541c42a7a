/* Wall time, only ever shown beside counts. */
#ifndef KVSTEP_BASE_CLOCK_H
#define KVSTEP_BASE_CLOCK_H

/* Seconds since some fixed moment; never goes back. */
double clock_seconds(void);

#endif
