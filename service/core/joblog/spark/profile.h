#ifndef CORE_JOBLOG_SPARK_PROFILE_H
#define CORE_JOBLOG_SPARK_PROFILE_H

#include "core/joblog/common/log_reader.h"

struct sparklog;

/*
 * The run of what a reader of sparklog_kind has gathered (log_kind.build); sorts the stages.
 */
enum pv_code profile_build(struct log_reader *reader,
                           struct arena *arena,
                           struct run *run,
                           struct pv_error *err) PV_MUSTCHECK;

/* The stages of the run (profile_stages.c): run->stages, n_stages, metrics, problem_size (input blocks). */
enum pv_code profile_build_stages(struct sparklog *log,
                                  struct arena *arena,
                                  struct run *run,
                                  struct pv_error *err) PV_MUSTCHECK;

/*
 * Sets the kind of the run (profile_kinds.c): streaming, the time that a session waited for a person,
 * and properties that the job set itself. False: no memory.
 */
bool profile_set_kinds(struct sparklog *log, struct arena *arena, struct run *run);

/* Warnings of that, and of executors and attempts that were lost. False: no memory. */
bool profile_warn_of_kinds(const struct sparklog *log, struct run *run);

/*
 * Replaces impossible times of the application (profile_times.c):
 *
 *   - a start that is missing or lies after the first stage, by the earliest event; not if the
 *     clock was set back
 *   - an end before the last end of a stage or a job, by NO_TIME
 *
 * Counts the replaced times.
 */
void profile_drop_impossible_times(struct sparklog *log);

/* True if the driver's clock was set back while the application ran: no time that spans the step is
 * known. profile_drop_impossible_times finds it. */
bool profile_clock_set_back(const struct sparklog *log);

/* Are both known, and more than a day apart? */
bool profile_is_far(int64_t from_ms, int64_t to_ms);

/* The end of the application, or of what the log has of it. */
int64_t profile_end_of(const struct sparklog *log);

struct interval {
    int64_t from_ms;
    int64_t to_ms;
};

/* Length of the union of intervals, none of which ends before it begins; sorts them. */
int64_t profile_union_length(struct interval *intervals, size_t n);

#endif
