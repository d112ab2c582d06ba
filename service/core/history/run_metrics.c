#include "core/history/run_metrics.h"

#include <math.h>

struct run_metrics run_metrics_unknown(void)
{
#define UNKNOWN_COUNT(name) .name = RUN_UNKNOWN,
#define UNKNOWN_SECONDS(name) .name = (double)NAN,
    return (struct run_metrics){RUN_METRICS(UNKNOWN_COUNT, UNKNOWN_SECONDS)};
#undef UNKNOWN_COUNT
#undef UNKNOWN_SECONDS
}

void run_stage_clear_log(struct run_stage *stage)
{
    stage->attempts = stage->tasks_failed = stage->resource_profile_id = RUN_UNKNOWN;
    stage->metrics = run_metrics_unknown();
}

void run_clear_log(struct run *run)
{
    run->jobs = run->stages_completed = run->stages_failed = RUN_UNKNOWN;
    run->tasks_succeeded = run->tasks_failed = run->executors_added = RUN_UNKNOWN;
    run->task_time_s = run->failed_task_time_s = (double)NAN;
    run_clear_figures(run);
}

void run_clear_figures(struct run *run)
{
    run->exit_code = RUN_NO_EXIT_CODE;
    run->tasks_killed = run->tasks_resubmitted = run->tasks_speculative = RUN_UNKNOWN;
    run->executors_removed = run->executors_excluded = run->nodes_excluded = RUN_UNKNOWN;
    run->core_s = run->job_time_s = run->stage_time_s = (double)NAN;
    run->peak_driver_heap_bytes = RUN_UNKNOWN;
    run->metrics = run_metrics_unknown();
    run->resources = NULL;
    run->n_resources = 0;
}
