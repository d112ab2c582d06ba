#include "api/simulations/comparison_limits.h"

struct codec_comparison_limits comparison_limits(const struct config *config)
{
    return (struct codec_comparison_limits){
        .jobs = (size_t)config->simulation_jobs_max,
        .tasks = (size_t)config->simulation_tasks_max,
        .runs = (size_t)config->simulation_runs_max,
        .task_runs = (size_t)config->simulation_job_task_runs_max,
        .probes_per_task = (size_t)config->simulation_probes_per_task_max,
        .job_rows = (size_t)config->simulation_job_rows_max,
        .memory_bytes = (size_t)config->request_memory_bytes_max};
}

struct codec_comparison_limits comparison_limits_again(const struct config *config)
{
    return (struct codec_comparison_limits){.jobs = INT32_MAX,
                                            .tasks = INT32_MAX,
                                            .runs = INT32_MAX,
                                            .task_runs = SIZE_MAX,
                                            .probes_per_task = INT32_MAX,
                                            .job_rows = SIZE_MAX,
                                            .memory_bytes =
                                                (size_t)config->request_memory_bytes_max};
}
