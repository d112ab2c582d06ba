#include "core/scheduling/tasks_model.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/rounding.h"
#include "core/sim/statistics.h"
#include "core/sim/variates.h"

struct arrival {
    double at_s;
    uint32_t job;
};

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

static int order_by_arrival(const void *a, const void *b)
{
    const struct arrival *x = a;
    const struct arrival *y = b;
    int order = compare_double(x->at_s, y->at_s);
    return order != 0 ? order : (x->job > y->job) - (x->job < y->job);
}

static bool in_order(const struct tasks_model *model)
{
    for (uint32_t j = 1; j < model->n_jobs; j++)
        if (model->jobs[j].arrival_s < model->jobs[j - 1].arrival_s)
            return false;
    return true;
}

/* false: no memory. */
static bool order_jobs(const struct tasks_model *model, uint32_t order[], struct arena *arena)
{
    for (uint32_t j = 0; j < model->n_jobs; j++)
        order[j] = j;
    if (in_order(model))
        return true;
    struct arena_mark mark = arena_mark(arena);
    struct arrival *arrivals = arena_array(arena, model->n_jobs, sizeof *arrivals);
    if (arrivals == NULL)
        return false;
    for (uint32_t j = 0; j < model->n_jobs; j++)
        arrivals[j] = (struct arrival){model->jobs[j].arrival_s, j};
    qsort(arrivals, model->n_jobs, sizeof *arrivals, order_by_arrival);
    for (uint32_t j = 0; j < model->n_jobs; j++)
        order[j] = arrivals[j].job;
    arena_rewind(arena, mark);
    return true;
}

enum pv_code
tasks_model_complete(struct tasks_model *model, struct arena *arena, struct pv_error *err)
{
    uint32_t *order = arena_array(arena, model->n_jobs, sizeof *order);
    double *mean_s = arena_array(arena, model->n_jobs, sizeof *mean_s);
    double *longest_s = arena_array(arena, model->n_jobs, sizeof *longest_s);
    struct compensated_sum work = {0, 0};
    if (order == NULL || mean_s == NULL || longest_s == NULL || !order_jobs(model, order, arena))
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
                  const struct tasks_trial *trial,
                  struct tasks_job jobs[])
{
    double rate_per_s = load * tasks_model_capacity(model) * (double)model->n_jobs / model->work_s;
    double at_s = 0;
    for (uint32_t i = 0; i < model->n_jobs; i++) {
        uint32_t j = model->order[i];
        const uint64_t keys[] = {TASKS_ARRIVALS, trial->repetition, j};
        struct rng stream = variate_stream(trial->seed, keys, 3);
        at_s += variate_exponential(&stream, rate_per_s);
        jobs[j] = model->jobs[j];
        jobs[j].arrival_s = at_s;
    }
}
