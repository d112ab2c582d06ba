#include "core/scheduling/slots/fresh_check.h"

#include <math.h>

#include "core/scheduling/slots/slots_engine.h"

double fresh_tasks(const struct fresh_batch *batch)
{
    double tasks = 0;
    for (size_t i = 0; i < batch->n; i++) {
        const struct fresh_work *job = &batch->jobs[i];
        if (!(job->maps >= 1) || (job->reduce_s > 0 && !(job->reduces >= 1)))
            return 0;
        tasks += job->maps + job->reduces;
    }
    return tasks;
}

double fresh_least_makespan(const struct fresh_batch *batch, size_t map_slots)
{
    double map_slots_all = (double)map_slots;
    double reduce_slots_all = (double)(batch->slots - map_slots);
    double at_once = fmin((double)batch->concurrency, (double)batch->n);
    double longest_s = 0, maps_s = 0, reduces_s = 0;
    if (!(fresh_tasks(batch) > 0))
        return 0;
    for (size_t i = 0; i < batch->n; i++) {
        const struct fresh_work *job = &batch->jobs[i];
        double map_s = job->map_s / fmin(map_slots_all, job->maps);
        double reduce_s =
            job->reduce_s > 0 ? job->reduce_s / fmin(reduce_slots_all, job->reduces) : 0;
        longest_s = fmax(longest_s, map_s + reduce_s);
        maps_s += map_s / at_once;
        reduces_s += reduce_s / at_once;
    }
    return fmax(longest_s, fmax(maps_s, reduces_s));
}

enum pv_code fresh_simulate(const struct fresh_batch *batch,
                            size_t map_slots,
                            struct arena *scratch,
                            struct fresh_job_times times[],
                            double *makespan_s,
                            struct pv_error *err)
{
    const struct slots_cluster cluster = {
        .slots = {[SLOTS_MAP] = map_slots, [SLOTS_REDUCE] = batch->slots - map_slots},
        .slow_start = 1};
    const struct slots_terms terms = {.policy = &slots_policy_fair,
                                      .concurrency = batch->concurrency};
    struct arena_mark mark = arena_mark(scratch);
    struct slots_job *jobs = arena_calloc(scratch, batch->n, sizeof *jobs);
    struct slots_tasks *tasks = arena_array(scratch, batch->n, 2 * sizeof *tasks);
    struct slots_job_times *got = arena_array(scratch, batch->n, sizeof *got);
    if (jobs == NULL || tasks == NULL || got == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < batch->n; i++) {
        const struct fresh_work *job = &batch->jobs[i];
        tasks[2 * i] = (struct slots_tasks){job->map_s / job->maps, (size_t)job->maps};
        tasks[2 * i + 1] = (struct slots_tasks){job->reduce_s / job->reduces, (size_t)job->reduces};
        jobs[i] = (struct slots_job){.predicted_size_s = (double)NAN};
        jobs[i].task_lists[SLOTS_MAP] = (struct slots_task_list){&tasks[2 * i], 1};
        jobs[i].task_lists[SLOTS_REDUCE] =
            (struct slots_task_list){&tasks[2 * i + 1], job->reduce_s > 0};
    }
    PV_TRY(slots_simulate(&cluster, jobs, batch->n, &terms, NULL, scratch, got, err));
    *makespan_s = 0;
    for (size_t i = 0; i < batch->n; i++) {
        times[i] = (struct fresh_job_times){got[i].start_s, got[i].map_end_s, got[i].reduce_start_s,
                                            got[i].finish_s};
        *makespan_s = fmax(*makespan_s, got[i].finish_s);
    }
    arena_rewind(scratch, mark);
    return PV_OK;
}
