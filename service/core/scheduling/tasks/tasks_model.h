#ifndef CORE_SCHEDULING_TASKS_TASKS_MODEL_H
#define CORE_SCHEDULING_TASKS_TASKS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/scheduling/comparison/trial.h"

/*
 * What is simulated of bags of tasks on workers (docs/design.md, "Bags of tasks"): jobs whose tasks
 * depend on nothing, and workers that take one task at a time. Messages take the same time whoever
 * sends them.
 */
struct tasks_job {
    double arrival_s;          /* >= 0, finite */
    const double *durations_s; /* of its tasks, each > 0, finite */
    uint32_t tasks;            /* >= 1 */
    const uint32_t *placement; /* of each task, the Pigeon group, below their number; NULL: free */
    bool is_long;
    uint32_t priority; /* its class from 0, the highest, for Pigeon with three classes or more */
    const struct tasks_binding *bindings; /* of each task, for Pigeon's layouts; NULL: all free */
};

/* Workers that alone can run a task, because its data or what else it needs is there: different
 * ones, those first that are to be preferred where nothing else decides. */
struct tasks_binding {
    const uint32_t *workers; /* from 0, group after group */
    uint32_t n;              /* 0: the task is free */
};

enum { TASKS_CLASSES_MAX = 16 };

struct tasks_model {
    /* Given; borrowed. */
    uint32_t workers;       /* >= 1 */
    double communication_s; /* >= 0: one message */
    double capacity;        /* seconds of tasks that all workers do in one; 0: as many as workers */
    uint32_t n_classes; /* of jobs, the highest first, <= TASKS_CLASSES_MAX; 0: short and long */
    const struct tasks_job *jobs;
    uint32_t n_jobs;
    /* Derived by tasks_model_complete. */
    const uint32_t *order;   /* jobs by arrival, then as given */
    const double *mean_s;    /* of each job's tasks */
    const double *longest_s; /* of each job */
    uint64_t tasks;          /* of all jobs */
    double work_s;           /* of all tasks */
};

/* Whether a job is long: its tasks' mean duration is above the cut-off. NAN: there is none, and no
 * job is long. */
bool tasks_are_long(const double durations_s[], uint32_t tasks, double short_cutoff_s);

static inline double tasks_model_capacity(const struct tasks_model *model)
{
    return model->capacity > 0 ? model->capacity : (double)model->workers;
}

static inline uint32_t tasks_model_classes(const struct tasks_model *model)
{
    return model->n_classes > 0 ? model->n_classes : 2;
}

/* Of so many classes, the one of a job: of two, long jobs are in the second one. */
static inline uint32_t tasks_class_of(const struct tasks_job *job, uint32_t classes)
{
    if (classes > 2)
        return job->priority;
    return classes == 2 && job->is_long ? 1 : 0;
}

/* Fill in what is derived; 20 bytes a job of the arena, and 16 that are given back. PV_E_MEMORY.
 * O(tasks + jobs log(jobs)), without the logarithm for jobs that are given in order of arrival. */
enum pv_code tasks_model_complete(struct tasks_model *model,
                                  struct arena *arena,
                                  struct pv_error *err) PV_MUSTCHECK;

/* The jobs of a complete model with the arrivals of a Poisson process, so fast that it loads the
 * workers to a share `load` > 0 of their capacity in the long run. The first one comes after the
 * first gap; jobs keep their order of arrival. One gap a job, the same up to scale for every load.
 * jobs: as many as the model's. */
void tasks_retime(const struct tasks_model *model,
                  double load,
                  const struct trial *trial,
                  struct tasks_job jobs[]);

/* tasks[i]: of the first i jobs that arrive, i from 0 to n_jobs. */
void tasks_model_tasks_by(const struct tasks_model *model, double tasks[]);

/* The first n jobs that arrive, 1 <= n <= n_jobs, complete, in the arena. PV_E_MEMORY. O(tasks of
 * theirs). */
enum pv_code tasks_model_cut(const struct tasks_model *model,
                             uint32_t n,
                             struct arena *arena,
                             struct tasks_model *part,
                             struct pv_error *err) PV_MUSTCHECK;

#endif
