#include "core/advice/history_extent.h"

#include <math.h>
#include <stdio.h>

const struct history_extent history_extent_unknown = {
    .most_cores = RUN_UNKNOWN,
    .last = {.executors = RUN_UNKNOWN, .cores_per_executor = RUN_UNKNOWN}};

static void see_cores(struct history_extent *extent, double executors, int64_t cores_per_executor)
{
    double cores = executors * (double)cores_per_executor;
    if (cores_per_executor >= 1 && executors >= 1 && cores < (double)INT64_MAX &&
        (int64_t)cores > extent->most_cores)
        extent->most_cores = (int64_t)cores;
}

static void see_last(struct history_extent *extent,
                     const char *run_id,
                     double problem_size,
                     double executors,
                     int64_t cores_per_executor,
                     double duration_s)
{
    if (!(executors >= 1) || cores_per_executor < 1)
        return;
    (void)snprintf(extent->last.run_id, sizeof extent->last.run_id, "%.36s", run_id);
    extent->last.problem_size = problem_size;
    extent->last.duration_s = duration_s;
    extent->last.executors = (int64_t)executors;
    extent->last.cores_per_executor = cores_per_executor;
}

struct history_extent history_extent_of_run(const struct run *run)
{
    struct history_extent extent = history_extent_unknown;
    see_cores(&extent, (double)run->executors, run->cores_per_executor);
    see_last(&extent, run->id, run->problem_size, (double)run->executors, run->cores_per_executor,
             run->duration_s);
    return extent;
}

struct history_extent
history_extent_find(const struct run_observations *seen, const struct run runs[], size_t n_runs)
{
    struct history_extent extent = history_extent_unknown;
    for (size_t i = 0; i < seen->n; i++) {
        const struct observation *row = &seen->rows[i];
        int64_t cores = seen->evidence[i].cores_per_executor;
        see_cores(&extent, row->executors, cores);
        if (extent.last.executors == RUN_UNKNOWN && row->context <= 1)
            see_last(&extent, seen->evidence[i].run_id, row->problem_size, row->executors, cores,
                     row->duration_s);
    }
    for (size_t i = 0; i < n_runs; i++)
        see_cores(&extent, (double)runs[i].executors, runs[i].cores_per_executor);
    return extent;
}

int64_t
history_extent_bound(const struct history_extent *extent, double times, int64_t cores_per_executor)
{
    if (extent->most_cores < 1 || cores_per_executor < 1)
        return RUN_UNKNOWN;
    double bound = floor(times * (double)extent->most_cores / (double)cores_per_executor);
    return bound < 1 ? 1 : bound > 1e9 ? INT64_C(1000000000) : (int64_t)bound;
}

int64_t history_extent_last(const struct history_extent *extent, int64_t cores_per_executor)
{
    if (extent->last.executors < 1 || cores_per_executor < 1)
        return RUN_UNKNOWN;
    double cores = (double)extent->last.executors * (double)extent->last.cores_per_executor;
    double executors = round(cores / (double)cores_per_executor);
    return executors < 1 ? 1 : executors > 1e9 ? INT64_C(1000000000) : (int64_t)executors;
}
