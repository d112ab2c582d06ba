#ifndef CORE_SCHEDULING_TASKS_TASKS_COMPARISON_H
#define CORE_SCHEDULING_TASKS_TASKS_COMPARISON_H

#include "core/scheduling/comparison/policy_comparison.h"
#include "core/scheduling/tasks/tasks_detail.h"
#include "core/scheduling/tasks/tasks_outcome.h"
#include "core/scheduling/tasks/tasks_simulation.h"

/* Schedulers of bags of tasks, compared (docs/design.md, "Comparing schedulers"). Borrowed. */
struct tasks_comparison {
    struct policy_comparison plan;
    const struct tasks_model *model;    /* complete, of at least one job */
    const struct tasks_terms *policies; /* of the plan, but the one that is found */
    /* By load: of the last policy of the plan, which a search has found; NULL: none has. */
    const struct tasks_terms *found;
};

/* The terms of a policy of the plan at a load. */
static inline const struct tasks_terms *
tasks_comparison_terms(const struct tasks_comparison *comparison, size_t load, size_t policy)
{
    bool found = comparison->found != NULL && policy + 1 == comparison->plan.n_policies;
    return found ? &comparison->found[load] : &comparison->policies[policy];
}

/* A cell: what it came to, and where there is room, of each job. */
struct tasks_cell {
    struct tasks_outcome outcome;
    double *start_s;             /* of each job: when its first task began; NULL: not wanted */
    double *finish_s;            /* likewise: when its last result was at its scheduler */
    double *slowdown;            /* likewise */
    struct tasks_detail *detail; /* NULL: not wanted */
};

/* Whether a policy draws random numbers at given arrivals. */
bool tasks_terms_draw(const struct tasks_terms *terms);

/* What setting up a simulation costs, in tasks, however few jobs there are: one for each worker, and
 * one for each master, at each of its failures anew. */
double tasks_comparison_setup(const struct tasks_model *model, const struct tasks_terms *terms);

/* What a simulation costs: that, and tasks_simulation_work. */
double tasks_comparison_work(const struct tasks_model *model, const struct tasks_terms *terms);

/* Bytes of scratch memory that a cell of a policy takes at most; as tasks_simulation_memory. */
size_t tasks_comparison_memory(const struct tasks_model *model, const struct tasks_terms *terms);

/* Simulate one cell; start_s, finish_s, slowdown and detail of `made` are the caller's. progress may
 * be NULL. scratch is back at its mark. As tasks_simulate. */
enum pv_code tasks_comparison_run(const struct tasks_comparison *comparison,
                                  const struct policy_cell *cell,
                                  const struct tasks_progress *progress,
                                  struct arena *scratch,
                                  struct tasks_cell *made,
                                  struct pv_error *err) PV_MUSTCHECK;

/* The class of jobs that percentiles of the objective are of: the short ones, where there are any;
 * where classes are declared, the highest one that has jobs. */
enum tasks_class_id tasks_objective_class(const struct tasks_outcome *outcome);

/* The objective's value of an outcome. */
double tasks_outcome_value(const struct tasks_outcome *outcome, enum policy_objective objective);

/* As policy_comparison_conclude: made[i] is the i-th of policy_cells. */
struct policy_load *tasks_comparison_conclude(const struct tasks_comparison *comparison,
                                              const struct tasks_cell made[],
                                              enum policy_objective objective,
                                              struct arena *arena);

/* Of a policy at a load: the means of its outcomes, and its first repetition. */
static inline const struct tasks_outcome *tasks_load_mean(const struct policy_load *load,
                                                          size_t policy)
{
    return (const struct tasks_outcome *)load->means + policy;
}
static inline const struct tasks_cell *tasks_load_first(const struct policy_load *load,
                                                        size_t policy)
{
    return load->first[policy];
}

#endif
