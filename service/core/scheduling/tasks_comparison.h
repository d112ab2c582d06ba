#ifndef CORE_SCHEDULING_TASKS_COMPARISON_H
#define CORE_SCHEDULING_TASKS_COMPARISON_H

#include "core/scheduling/policy_comparison.h"
#include "core/scheduling/tasks_outcome.h"
#include "core/scheduling/tasks_simulation.h"

/* Schedulers of bags of tasks, compared (docs/design.md, "Comparing schedulers"). Borrowed. */
struct tasks_comparison {
    struct policy_comparison plan;
    const struct tasks_model *model;    /* complete, of at least one job */
    const struct tasks_terms *policies; /* of the plan */
};

/* A cell: what it came to, and where there is room, of each job. */
struct tasks_cell {
    struct tasks_outcome outcome;
    double variability; /* the 95th percentile of the slowdowns over the median, of the class that
                           the objective is about */
    double *start_s;    /* of each job: when its first task began; NULL: not wanted */
    double *finish_s;   /* likewise: when its last result was at its scheduler */
    double *slowdown;   /* likewise */
};

/* Whether a policy draws random numbers at given arrivals. */
bool tasks_terms_draw(const struct tasks_terms *terms);

/* Bytes of scratch memory that a cell of a policy takes at most. */
size_t tasks_comparison_memory(const struct tasks_model *model, const struct tasks_terms *terms);

/* Simulate one cell; start_s, finish_s and slowdown of `made` are the caller's. progress may be
 * NULL. scratch is back at its mark. As tasks_simulate. */
enum pv_code tasks_comparison_run(const struct tasks_comparison *comparison,
                                  const struct policy_cell *cell,
                                  const struct tasks_progress *progress,
                                  struct arena *scratch,
                                  struct tasks_cell *made,
                                  struct pv_error *err) PV_MUSTCHECK;

/* The class of jobs that percentiles of the objective are of: the short ones, where there are any. */
enum tasks_class_id tasks_objective_class(const struct tasks_outcome *outcome);

/* The means of n >= 1 cells, figure by figure. */
struct tasks_outcome tasks_cells_mean(const struct tasks_cell cells[], size_t n);

double tasks_objective(const struct tasks_cell *cell, enum policy_objective objective);

#endif
