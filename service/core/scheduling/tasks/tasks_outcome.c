#include "core/scheduling/tasks/tasks_outcome.h"

#include <math.h>
#include <string.h>

static const char *name_of(bool declared, uint32_t class)
{
    static const char *const names[] = {
        [TASKS_ALL] = "all", [TASKS_SHORT] = "short", [TASKS_LONG] = "long"};
    return class == TASKS_ALL || !declared ? names[class] : NULL;
}

/* Jobs of one of so many classes. */
struct selection {
    uint32_t classes;
    uint32_t class;
};

static struct selection select_class(const struct tasks_model *model, uint32_t class)
{
    return class == TASKS_ALL ? (struct selection){1, 0}
                              : (struct selection){tasks_model_classes(model), class - 1};
}

/* Sorting all jobs is what takes the time. */
static enum pv_code find_percentiles(const struct tasks_model *model,
                                     const struct tasks_progress *progress,
                                     const double values[],
                                     size_t n,
                                     struct arena *scratch,
                                     struct percentiles *found,
                                     struct pv_error *err)
{
    if (!tasks_progress_goes_on(progress, model->tasks))
        return pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
    return percentiles_of(values, n, scratch, found) ? PV_OK : pv_no_memory(err);
}

static enum pv_code measure(const struct tasks_model *model,
                            const struct tasks_result *result,
                            struct selection selected,
                            const struct tasks_progress *progress,
                            struct arena *scratch,
                            struct tasks_class *found,
                            struct pv_error *err)
{
    double *values = arena_array(scratch, model->n_jobs, 3 * sizeof *values);
    struct percentiles over;
    size_t n = 0;
    if (values == NULL)
        return pv_no_memory(err);
    double *slowdown = values + model->n_jobs;
    double *longest_s = slowdown + model->n_jobs;
    for (uint32_t j = 0; j < model->n_jobs; j++) {
        if (tasks_class_of(&model->jobs[j], selected.classes) != selected.class)
            continue;
        values[n] = tasks_completion_s(model, result, j);
        slowdown[n] = tasks_slowdown(model, result, j);
        longest_s[n++] = model->longest_s[j];
    }
    *found = (struct tasks_class){.count = (uint32_t)n};
    PV_TRY(find_percentiles(model, progress, values, n, scratch, &found->completion_s, err));
    PV_TRY(find_percentiles(model, progress, slowdown, n, scratch, &found->slowdown, err));
    PV_TRY(find_percentiles(model, progress, longest_s, n, scratch, &over, err));
    found->completion_over_longest_p50 = found->completion_s.p50 / over.p50;
    found->completion_over_longest_p90 = found->completion_s.p90 / over.p90;
    found->completion_over_longest_p99 = found->completion_s.p99 / over.p99;
    return PV_OK;
}

enum pv_code tasks_outcome_of(const struct tasks_model *model,
                              const struct tasks_result *result,
                              const struct tasks_progress *progress,
                              struct arena *scratch,
                              struct tasks_outcome *outcome,
                              struct pv_error *err)
{
    double last_s = 0;
    bool declared = model->n_classes > 0;
    uint32_t classes = tasks_model_classes(model);
    for (uint32_t j = 0; j < model->n_jobs; j++)
        last_s = fmax(last_s, result->finish_s[j]);
    outcome->makespan_s = last_s - model->jobs[model->order[0]].arrival_s;
    outcome->utilization = model->work_s / (tasks_model_capacity(model) * outcome->makespan_s);
    memset(outcome->classes, 0, sizeof outcome->classes);
    for (uint32_t c = 0; c <= classes; c++) {
        struct arena_mark mark = arena_mark(scratch);
        enum pv_code code = measure(model, result, select_class(model, c), progress, scratch,
                                    &outcome->classes[c], err);
        outcome->classes[c].name = name_of(declared, c);
        arena_rewind(scratch, mark);
        if (code != PV_OK)
            return code;
    }
    return PV_OK;
}

enum pv_code tasks_outcome_of_class(const struct tasks_model *model,
                                    const struct tasks_result *result,
                                    uint32_t classes,
                                    uint32_t class,
                                    struct arena *scratch,
                                    struct tasks_class *found,
                                    struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code =
        measure(model, result, (struct selection){classes, class}, NULL, scratch, found, err);
    arena_rewind(scratch, mark);
    return code;
}
