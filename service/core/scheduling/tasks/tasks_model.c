#include "core/scheduling/tasks/tasks_model.h"

#include <math.h>

#include "base/rounding.h"
#include "core/scheduling/comparison/arrival_order.h"
#include "core/sim/statistics.h"

static double mean_duration(const double durations_s[], uint32_t tasks)
{
    struct compensated_sum sum = {0, 0};
    for (uint32_t i = 0; i < tasks; i++)
        compensated_sum_add(&sum, durations_s[i]);
    return compensated_sum_value(&sum) / (double)tasks;
}

bool tasks_are_long(const double durations_s[], uint32_t tasks, double short_cutoff_s)
{
    double mean = mean_duration(durations_s, tasks);
    return mean > short_cutoff_s && !rounding_equal(mean, short_cutoff_s);
}

enum pv_code
tasks_model_complete(struct tasks_model *model, struct arena *arena, struct pv_error *err)
{
    uint32_t *order = arena_array(arena, model->n_jobs, sizeof *order);
    double *mean_s = arena_array(arena, model->n_jobs, sizeof *mean_s);
    double *longest_s = arena_array(arena, model->n_jobs, sizeof *longest_s);
    struct compensated_sum work = {0, 0};
    if (order == NULL || mean_s == NULL || longest_s == NULL ||
        !arrival_order(&model->jobs->arrival_s, sizeof *model->jobs, model->n_jobs, order, arena))
        return pv_no_memory(err);
    model->tasks = 0;
    for (uint32_t j = 0; j < model->n_jobs; j++) {
        const struct tasks_job *job = &model->jobs[j];
        mean_s[j] = mean_duration(job->durations_s, job->tasks);
        longest_s[j] = 0;
        for (uint32_t i = 0; i < job->tasks; i++) {
            longest_s[j] = fmax(longest_s[j], job->durations_s[i]);
            compensated_sum_add(&work, job->durations_s[i]);
        }
        model->tasks += job->tasks;
    }
    model->order = order;
    model->mean_s = mean_s;
    model->longest_s = longest_s;
    model->work_s = compensated_sum_value(&work);
    return PV_OK;
}

void tasks_retime(const struct tasks_model *model,
                  double load,
                  const struct trial *trial,
                  struct tasks_job jobs[])
{
    double rate_per_s = load * tasks_model_capacity(model) * (double)model->n_jobs / model->work_s;
    double at_s = 0;
    for (uint32_t i = 0; i < model->n_jobs; i++) {
        uint32_t j = model->order[i];
        at_s += trial_gap_s(trial, rate_per_s, j);
        jobs[j] = model->jobs[j];
        jobs[j].arrival_s = at_s;
    }
}

void tasks_model_tasks_by(const struct tasks_model *model, double tasks[])
{
    tasks[0] = 0;
    for (uint32_t i = 0; i < model->n_jobs; i++)
        tasks[i + 1] = tasks[i] + model->jobs[model->order[i]].tasks;
}

enum pv_code tasks_model_cut(const struct tasks_model *model,
                             uint32_t n,
                             struct arena *arena,
                             struct tasks_model *part,
                             struct pv_error *err)
{
    struct tasks_job *jobs = arena_array(arena, n, sizeof *jobs);
    if (jobs == NULL)
        return pv_no_memory(err);
    for (uint32_t i = 0; i < n; i++)
        jobs[i] = model->jobs[model->order[i]];
    *part = *model;
    part->jobs = jobs;
    part->n_jobs = n;
    return tasks_model_complete(part, arena, err);
}
