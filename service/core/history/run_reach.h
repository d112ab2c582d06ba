#ifndef CORE_HISTORY_RUN_REACH_H
#define CORE_HISTORY_RUN_REACH_H

#include "core/history/run.h"

/*
 * Two logs of one run: a log is read while it is written, copies of it are cut off or damaged, and
 * they may arrive in any order. The more complete one stays.
 */

/*
 * Order of two logs of one run, as of qsort: above 0 if `run` is more complete than `other`. The
 * order is the same whoever comes first:
 *
 *   1. a log that has ended, before one that has not
 *   2. of two that have ended: an intact log before a damaged one;
 *      of two that have not: the one with the later last event
 *   3. more tasks, more stages, more jobs, less damage
 *   4. a log with a digest before a run without one; then the larger digest
 *
 * An unknown figure is less than a known one.
 */
int run_compare_reach(const struct run *run, const struct run *other);

enum run_verdict {
    RUN_VERDICT_INSERT,
    RUN_VERDICT_KEEP,
    RUN_VERDICT_REPLACE,
    RUN_VERDICT_CONFLICT
};

/*
 * The verdict on `run`, read from one log, next to `stored`, read from another log of the same
 * application id and attempt:
 *
 *   - inserted if it is another run, or may be: core/history/log_origin.h
 *   - kept out, or replacing, if it is the same run: the more complete log stays
 *   - a conflict if both logs have ended and are intact
 *
 * A run that was imported without a digest gives way to a log that has ended.
 */
enum run_verdict run_log_verdict(const struct run *run, const struct run *stored);

/*
 * The same next to n stored runs, in any order. *which: the run that is kept, or that is in
 * conflict, or the first that gives way; gives_way (n of them): all that do.
 */
enum run_verdict run_logs_verdict(
    const struct run *run, const struct run stored[], size_t n, size_t *which, bool gives_way[]);

#endif
