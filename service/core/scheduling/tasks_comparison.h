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
    double *start_s;  /* of each job: when its first task began; NULL: not wanted */
    double *finish_s; /* likewise: when its last result was at its scheduler */
    double *slowdown; /* likewise */
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

/* What policies come to at a load. */
struct tasks_load {
    struct tasks_outcome
        *outcomes; /* of each policy: means over its repetitions, figure by figure */
    const struct tasks_cell **first; /* of each policy: its first repetition */
    struct policy_choice choice;     /* by the objective */
};

/* What all cells come to, made[i] being the i-th of policy_cells: an item for each load, in the arena.
 * NULL: out of memory. O(cells). */
struct tasks_load *tasks_comparison_conclude(const struct tasks_comparison *comparison,
                                             const struct tasks_cell made[],
                                             enum policy_objective objective,
                                             struct arena *arena);

#endif
