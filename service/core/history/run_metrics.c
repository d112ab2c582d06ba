#include "core/history/run_metrics.h"

#include <math.h>

#include "base/order.h"

#define CLEAR_COUNT(name) to->name = RUN_UNKNOWN;
#define CLEAR_SECONDS(name) to->name = (double)NAN;
#define CLEAR_CODE(name) to->name = RUN_NO_EXIT_CODE;

struct run_metrics run_metrics_unknown(void)
{
    struct run_metrics metrics;
    struct run_metrics *to = &metrics;
    RUN_METRICS(CLEAR_COUNT, CLEAR_SECONDS)
    return metrics;
}

void run_stage_clear_log(struct run_stage *stage)
{
    stage->attempts = stage->tasks_failed = RUN_UNKNOWN;
    stage->resource_profile_id = stage->cache_source_id = RUN_UNKNOWN;
    stage->metrics = run_metrics_unknown();
}

void run_clear_log(struct run *run)
{
    struct run *to = run;
    RUN_TOTALS(CLEAR_COUNT, CLEAR_SECONDS)
    run_clear_figures(run);
}

void run_clear_figures(struct run *run)
{
    struct run *to = run;
    RUN_FIGURES(CLEAR_COUNT, CLEAR_SECONDS, CLEAR_CODE)
    run->metrics = run_metrics_unknown();
    run->resources = NULL;
    run->n_resources = 0;
}

void run_stage_skip(struct run_stage *stage)
{
    stage->skipped = true;
    stage->n_tasks = RUN_UNKNOWN;
    stage->task_duration_s = (double)NAN;
    stage->task_time_s = (double)NAN;
    stage->duration_s = (double)NAN;
    stage->started_s = (double)NAN;
    stage->input_records = (double)NAN;
    stage->nominal_rate_per_s = (double)NAN;
    run_stage_clear_log(stage);
}

int run_label_compare(const void *a, const void *b)
{
    return compare_strview(((const struct run_label *)a)->key, ((const struct run_label *)b)->key);
}
