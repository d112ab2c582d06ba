#ifndef SAMPLE_EVENTLOG_H
#define SAMPLE_EVENTLOG_H

#include <stdio.h>

#include "sample/simulate.h"

/*
 * A sample run as the event log Spark 3.5 would have written: one JSON object a line, in the order
 * of their instants. start_ms: wall clock of the application's start, since 1970. number makes the
 * application id ("application_<start>_<number>").
 * PV_E_UNAVAILABLE when `out` cannot be written; PV_E_MEMORY. scratch is back at its mark.
 */
enum pv_code sample_write_eventlog(const struct sample_run *run,
                                   int64_t start_ms,
                                   int number,
                                   FILE *out,
                                   struct arena *scratch,
                                   struct pv_error *err) PV_MUSTCHECK;

#endif
