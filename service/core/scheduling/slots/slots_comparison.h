#ifndef CORE_SCHEDULING_SLOTS_SLOTS_COMPARISON_H
#define CORE_SCHEDULING_SLOTS_SLOTS_COMPARISON_H

#include "core/scheduling/comparison/policy_comparison.h"
#include "core/scheduling/slots/slots_detail.h"
#include "core/scheduling/slots/slots_outcome.h"

/* Policies for jobs on map and reduce slots, compared (docs/design.md, "Comparing schedulers"). */
struct slots_comparison {
    /* Given; borrowed. */
    struct policy_comparison plan; /* no policy draws */
    struct slots_cluster cluster;
    const struct slots_job *jobs;
    size_t n_jobs;                /* >= 1 and < 2^32 - 1 */
    struct slots_terms *policies; /* of the plan, but the one that is found; `split` is derived */
    /* By load: of the last policy of the plan, which a search has found; NULL: none has. */
    const struct slots_terms *found;
    const double *runtime_s; /* of each job, alone (slots_runtimes_alone); what cells need */
    /* Derived by slots_comparison_complete. */
    const uint32_t *order; /* jobs by arrival */
    double work_s[SLOTS_KINDS];
    double busy_s; /* of containers: as slots_resources_busy_s, whatever the speeds of nodes */
    size_t tasks;
    double network_tasks; /* what the network of one run counts for, in tasks */
};

/* The terms of a policy of the plan at a load. */
static inline const struct slots_terms *
slots_comparison_terms(const struct slots_comparison *comparison, size_t load, size_t policy)
{
    bool found = comparison->found != NULL && policy + 1 == comparison->plan.n_policies;
    return found ? &comparison->found[load] : &comparison->policies[policy];
}

/* A cell: what it came to, and where there is room, of each job. */
struct slots_cell {
    struct slots_outcome outcome;
    struct slots_job_times *times; /* n_jobs; NULL: not wanted */
    double *slowdown;              /* likewise */
    struct slots_detail *detail;   /* NULL: not wanted */
};

/* Fill in what is derived, in the arena. PV_E_INVALID as slots_split, PV_E_MEMORY. O(n log n +
 * entries of task lists), and for each policy "fresh_static" the splits of its slots. */
enum pv_code slots_comparison_complete(struct slots_comparison *comparison,
                                       struct arena *arena,
                                       struct pv_error *err) PV_MUSTCHECK;

/* The share of the slots of a kind that jobs would keep busy in the long run at a load; NAN where
 * there are neither slots nor work, and where tasks have containers. 1 and more: they never do in time what arrives. */
double slots_comparison_kind_load(const struct slots_comparison *comparison,
                                  enum slots_kind kind,
                                  double load);

/* Bytes of scratch memory that a cell takes at most. */
size_t slots_comparison_memory(const struct slots_comparison *comparison);

/* Simulate one cell of a complete comparison; times, slowdown and detail of `made` are the caller's.
 * progress may be NULL. scratch is back at its mark. As slots_simulate. */
enum pv_code slots_comparison_run(const struct slots_comparison *comparison,
                                  const struct policy_cell *cell,
                                  const struct slots_progress *progress,
                                  struct arena *scratch,
                                  struct slots_cell *made,
                                  struct pv_error *err) PV_MUSTCHECK;

/* The objective's value of an outcome. */
double slots_outcome_value(const struct slots_outcome *outcome, enum policy_objective objective);

/* tasks[i]: of the first i jobs that arrive, i from 0 to n_jobs. */
void slots_comparison_tasks_by(const struct slots_comparison *comparison, double tasks[]);

/* The same of the first n jobs that arrive, 1 <= n <= n_jobs, complete, in the arena. What it
 * borrows stays where it is. PV_E_MEMORY. O(n + entries of task lists). */
enum pv_code slots_comparison_cut(const struct slots_comparison *comparison,
                                  size_t n,
                                  struct arena *arena,
                                  struct slots_comparison *part,
                                  struct pv_error *err) PV_MUSTCHECK;

/* As policy_comparison_conclude: made[i] is the i-th of policy_cells. */
struct policy_load *slots_comparison_conclude(const struct slots_comparison *comparison,
                                              const struct slots_cell made[],
                                              enum policy_objective objective,
                                              struct arena *arena);

/* Of a policy at a load: the means of its outcomes, and its first repetition. */
static inline const struct slots_outcome *slots_load_mean(const struct policy_load *load,
                                                          size_t policy)
{
    return (const struct slots_outcome *)load->means + policy;
}
static inline const struct slots_cell *slots_load_first(const struct policy_load *load,
                                                        size_t policy)
{
    return load->first[policy];
}

#endif
