#ifndef CORE_ADVICE_HISTORY_EXTENT_H
#define CORE_ADVICE_HISTORY_EXTENT_H

#include "core/history/run.h"
#include "core/scaling/history/run_observations.h"

/* What ran: it bounds what is advised, and the last run is what advice is compared with. */
struct history_extent {
    int64_t most_cores; /* executors x cores per executor, of any run; RUN_UNKNOWN */
    struct {
        char run_id[37]; /* "": not stored, or unknown; then so is the rest */
        double problem_size;
        double duration_s;
        int64_t executors; /* RUN_UNKNOWN */
        int64_t cores_per_executor;
    } last; /* the latest run that succeeded, of the label group where labels make one */
};

extern const struct history_extent history_extent_unknown;

/* Of the runs observed and those that can be replayed, which may be older. */
struct history_extent
history_extent_find(const struct run_observations *seen, const struct run runs[], size_t n_runs);

/* Of a single run, such as a profile. */
struct history_extent history_extent_of_run(const struct run *run);

/* `times` the most that ran, in executors of so many cores; at least 1. RUN_UNKNOWN where it is not
 * known what ran. */
int64_t
history_extent_bound(const struct history_extent *extent, double times, int64_t cores_per_executor);

/* As many cores as the last run had, in executors of so many cores; RUN_UNKNOWN. */
int64_t history_extent_last(const struct history_extent *extent, int64_t cores_per_executor);

#endif
