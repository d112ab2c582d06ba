#ifndef CORE_HISTORY_RUN_REACH_H
#define CORE_HISTORY_RUN_REACH_H

#include "core/history/run.h"

/*
 * Whether a report of a run reaches at least as far as another of the same run: a log is read
 * while it is written, and its reports may arrive in any order. One that has ended reaches as far
 * as any; one that has not, never as far as one that has. Of two that have not, that with the later
 * last event reaches further, then that with more tasks, stages, jobs. What is unknown is behind
 * what is known.
 */
bool run_reaches(const struct run *run, const struct run *other);

#endif
