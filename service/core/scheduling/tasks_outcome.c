#include "core/scheduling/tasks_outcome.h"

#include <math.h>

static const char *const class_names[TASKS_CLASSES] = {
    [TASKS_ALL] = "all", [TASKS_SHORT] = "short", [TASKS_LONG] = "long"};

static bool in_class(const struct tasks_job *job, enum tasks_class_id id)
{
    return id == TASKS_ALL || job->is_long == (id == TASKS_LONG);
}

/* false: no memory. */
static bool measure(const struct tasks_model *model,
                    const struct tasks_result *result,
                    enum tasks_class_id id,
                    struct arena *scratch,
                    struct tasks_class *found)
{
    double *values = arena_array(scratch, model->n_jobs, 3 * sizeof *values);
    struct percentiles over;
    size_t n = 0;
    if (values == NULL)
        return false;
    double *slowdown = values + model->n_jobs;
    double *longest_s = slowdown + model->n_jobs;
    for (uint32_t j = 0; j < model->n_jobs; j++) {
        if (!in_class(&model->jobs[j], id))
            continue;
        values[n] = tasks_completion_s(model, result, j);
        slowdown[n] = tasks_slowdown(model, result, j);
        longest_s[n++] = model->longest_s[j];
    }
    *found = (struct tasks_class){.name = class_names[id], .count = (uint32_t)n};
    if (!percentiles_of(values, n, scratch, &found->completion_s) ||
        !percentiles_of(slowdown, n, scratch, &found->slowdown) ||
        !percentiles_of(longest_s, n, scratch, &over))
        return false;
    found->completion_over_longest_p50 = found->completion_s.p50 / over.p50;
    found->completion_over_longest_p90 = found->completion_s.p90 / over.p90;
    found->completion_over_longest_p99 = found->completion_s.p99 / over.p99;
    return true;
}

enum pv_code tasks_outcome_of(const struct tasks_model *model,
                              const struct tasks_result *result,
                              struct arena *scratch,
                              struct tasks_outcome *outcome,
                              struct pv_error *err)
{
    double last_s = 0;
    for (uint32_t j = 0; j < model->n_jobs; j++)
        last_s = fmax(last_s, result->finish_s[j]);
    outcome->makespan_s = last_s - model->jobs[model->order[0]].arrival_s;
    outcome->utilization = model->work_s / ((double)model->workers * outcome->makespan_s);
    for (int c = 0; c < TASKS_CLASSES; c++) {
        struct arena_mark mark = arena_mark(scratch);
        bool done = measure(model, result, (enum tasks_class_id)c, scratch, &outcome->classes[c]);
        arena_rewind(scratch, mark);
        if (!done)
            return pv_no_memory(err);
    }
    return PV_OK;
}
