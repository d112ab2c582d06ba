#include "api/simulations/comparison_limits.h"

struct codec_comparison_limits comparison_limits(const struct config *config,
                                                 const struct workload_summary *workload)
{
    int64_t most = config->simulation_search_task_runs_max;
    int64_t usual = config->simulation_search_task_runs;
    return (struct codec_comparison_limits){
        .workload = workload,
        .jobs = (size_t)config->simulation_jobs_max,
        .tasks = (size_t)config->simulation_tasks_max,
        .runs = (size_t)config->simulation_runs_max,
        .task_runs = (size_t)config->simulation_job_task_runs_max,
        .probes_per_task = (size_t)config->simulation_probes_per_task_max,
        .splits = (size_t)config->slot_splits_max,
        .auto_nodes = (size_t)config->speculation_auto_nodes_max,
        .looks = (size_t)config->simulation_speculation_looks_max,
        .network_steps = (size_t)config->simulation_network_steps_max,
        .job_rows = (size_t)config->simulation_job_rows_max,
        .memory_bytes = (size_t)config->simulation_memory_bytes_max,
        .search_task_runs = (size_t)(usual < most ? usual : most),
        .search_task_runs_max = (size_t)most};
}

struct codec_comparison_limits comparison_limits_again(const struct config *config,
                                                       const struct workload_summary *workload)
{
    return (struct codec_comparison_limits){
        .workload = workload,
        .jobs = INT32_MAX,
        .tasks = INT32_MAX,
        .runs = INT32_MAX,
        .task_runs = SIZE_MAX,
        .probes_per_task = INT32_MAX,
        .splits = SIZE_MAX,
        .auto_nodes = SIZE_MAX,
        .looks = (size_t)config->simulation_speculation_looks_max,
        .network_steps = (size_t)config->simulation_network_steps_max,
        .job_rows = SIZE_MAX,
        .memory_bytes = (size_t)config->simulation_memory_bytes_max,
        .search_task_runs_max = INT64_MAX};
}
