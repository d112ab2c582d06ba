#ifndef CORE_SCHEDULING_TASKS_TASKS_OUTCOME_H
#define CORE_SCHEDULING_TASKS_TASKS_OUTCOME_H

#include "base/rounding.h"
#include "core/scheduling/comparison/percentiles.h"
#include "core/scheduling/tasks/tasks_progress.h"
#include "core/scheduling/tasks/tasks_terms.h"

/* What became of simulated bags of tasks. */
struct tasks_class {
    const char *name; /* "all", "short", "long"; NULL: the class of this number of those declared */
    uint32_t count;   /* jobs; 0: all figures are NAN */
    struct percentiles completion_s;
    struct percentiles slowdown; /* of jobs: completion / longest task */
    /* A percentile of the completions over the same one of the jobs' longest tasks. */
    double completion_over_longest_p50;
    double completion_over_longest_p90;
    double completion_over_longest_p99;
};

/* All jobs, then by class, the highest first: short and long where the model declares none. */
enum tasks_class_id { TASKS_ALL, TASKS_SHORT, TASKS_LONG };
enum { TASKS_CLASSES = 1 + TASKS_CLASSES_MAX };

struct tasks_outcome {
    double makespan_s; /* from the first arrival to the last result */
    double utilization;
    struct tasks_class classes[TASKS_CLASSES];
};

static inline double
tasks_completion_s(const struct tasks_model *model, const struct tasks_result *result, uint32_t job)
{
    return rounding_elapsed(model->jobs[job].arrival_s, result->finish_s[job],
                            model->longest_s[job]);
}

static inline double
tasks_slowdown(const struct tasks_model *model, const struct tasks_result *result, uint32_t job)
{
    return tasks_completion_s(model, result, job) / model->longest_s[job];
}

/* Of at least one job. Percentiles are of type 7. 48 bytes a job of scratch, which is back at its
 * mark. progress may be NULL; all tasks are reported. PV_E_MEMORY, PV_E_CANCELLED. O(jobs
 * log(jobs)). */
enum pv_code tasks_outcome_of(const struct tasks_model *model,
                              const struct tasks_result *result,
                              const struct tasks_progress *progress,
                              struct arena *scratch,
                              struct tasks_outcome *outcome,
                              struct pv_error *err) PV_MUSTCHECK;

/* The same of the jobs of one of so many classes (tasks_class_of); it has no name. */
enum pv_code tasks_outcome_of_class(const struct tasks_model *model,
                                    const struct tasks_result *result,
                                    uint32_t classes,
                                    uint32_t class,
                                    struct arena *scratch,
                                    struct tasks_class *found,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif
