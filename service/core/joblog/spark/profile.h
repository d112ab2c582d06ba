#ifndef CORE_JOBLOG_SPARK_PROFILE_H
#define CORE_JOBLOG_SPARK_PROFILE_H

#include "core/joblog/spark/sparklog_internal.h"

/*
 * The run of what a reader has gathered, by the definitions of the history. Everything `run` points
 * at lives in `arena`. PV_E_INVALID with fault code "no_application_start"; PV_E_LIMIT,
 * PV_E_MEMORY. `run` is written only on PV_OK.
 */
enum pv_code profile_build(struct sparklog *log,
                           struct arena *arena,
                           struct run *run,
                           struct pv_error *err) PV_MUSTCHECK;

/* The stages of the run (profile_stages.c): run->stages, n_stages, problem_size. */
enum pv_code profile_build_stages(struct sparklog *log,
                                  struct arena *arena,
                                  struct run *run,
                                  struct pv_error *err) PV_MUSTCHECK;

/* core_s and resources of the run (profile_executors.c). False: no memory. */
bool profile_build_executors(struct sparklog *log, struct arena *arena, struct run *run);

/* job_time_s and stage_time_s (profile_times.c). False: no memory. */
bool profile_build_times(struct sparklog *log, struct arena *arena, struct run *run);

struct interval {
    int64_t from_ms;
    int64_t to_ms;
};

/* Length of the union of intervals, none of which ends before it begins; sorts them. */
int64_t profile_union_length(struct interval *intervals, size_t n);

/* The application's end or, without one, its last sign of life. */
int64_t profile_end(const struct sparklog *log);

double profile_seconds(int64_t ms);

#endif
