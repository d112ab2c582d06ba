#ifndef CORE_SCHEDULING_SLOTS_FRESH_PLAN_H
#define CORE_SCHEDULING_SLOTS_FRESH_PLAN_H

#include <stdbool.h>

#include "core/scheduling/slots/fresh_static.h"

/*
 * A plan of slots for a batch of jobs (docs/design.md, "Slot plans"): the best split by FRESH static
 * (fresh_static.h), and what it depends on: the order of the jobs, how many run at once, the nodes
 * that have to be divided alike, and how far the profiles can be trusted.
 *
 * If the numbers of tasks are known, the splits are simulated (fresh_check.h) before one is
 * recommended: all of them, or the best by the fluid model and others over the whole range, until
 * FRESH_SIMULATED_TASKS tasks have been simulated for the plan. The split of FRESH static stands if it
 * takes at most a tenth longer than the best simulated split, and at most a quarter longer than the
 * fluid model has it. Otherwise the best simulated split is recommended, and makespans are simulated
 * ones where a split was simulated.
 */
#define FRESH_SIMULATED_TASKS 4e6

struct fresh_plan_terms {
    const struct fresh_work *jobs; /* in the order of the request */
    size_t n;                      /* >= 1 */
    size_t slots;                  /* >= 1; >= 2 where a job has reduces */
    size_t concurrency;            /* >= 1 */
    bool johnson;                  /* carried out in Johnson's order; false: as given */
    size_t nodes;                  /* that have equally many slots; 0: do not ask */
    const size_t *sweep;           /* further concurrencies >= 1 */
    size_t n_sweep;
    double profile_error; /* by which work may be wrong, as a part of it, 0 <= .. < 1; NAN: do not
                             ask */
};

struct fresh_split {
    size_t map_slots; /* 0: there is no such split */
    size_t reduce_slots;
    double makespan_s;
    double simulated_s; /* the same by the simulator; NAN: it was not simulated */
};

struct fresh_sweep_point {
    size_t concurrency;
    struct fresh_split best;
    double fairness;
};

/* Profiles that are wrong, and what the plan is worth then. */
struct fresh_sensitivity {
    double map_factor; /* of the work that maps turn out to be */
    double reduce_factor;
    size_t best_map_slots;
    double best_makespan_s;
    double makespan_s; /* of the split that was recommended */
    double regret_percent;
};

enum { FRESH_SENSITIVITIES = 2 };

struct fresh_plan {
    struct fresh_split best;
    double fairness; /* Jain's index of work / finish over the jobs: waiting counts (eq. 3.1) */
    size_t *order;   /* indices of jobs, as they are carried out */
    struct fresh_job_times *times;     /* of each job of the request, under the best split */
    double *makespan_s;                /* of every split: [i] with i + 1 map slots */
    double *simulated_s;               /* the same by the simulator; INFINITY: not simulated */
    bool is_simulated;                 /* makespans and times are simulated; false: fluid */
    struct fresh_split best_simulated; /* map_slots 0: none was simulated */
    size_t n_splits;
    struct fresh_split per_node; /* slots of each node; the makespan is the batch's */
    struct fresh_sweep_point *sweep;
    size_t n_sweep;
    struct fresh_sensitivity sensitivity[FRESH_SENSITIVITIES]; /* of no meaning where not asked */
};

/* All maps, and all reduces, of a job together. */
struct fresh_work
fresh_work_of(double maps, double map_task_s, double reduces, double reduce_task_s);

/*
 * Johnson's rule for two machines in a row (S. Johnson, "Optimal two- and three-stage production
 * schedules with setup times included", Naval Research Logistics Quarterly 1, 1954): first the jobs
 * with less map than reduce work, by ascending map work, then the others by descending reduce work;
 * equal ones as given. order[i]: which of n jobs is i-th. PV_E_MEMORY. O(n log n).
 */
enum pv_code fresh_johnson(const struct fresh_work jobs[],
                           size_t n,
                           struct arena *scratch,
                           size_t order[],
                           struct pv_error *err) PV_MUSTCHECK;

/* The plan, whose arrays are the arena's, as is what was worked with. PV_E_MEMORY.
 * O((1 + sweep) slots n log k). */
enum pv_code fresh_plan_make(const struct fresh_plan_terms *terms,
                             struct arena *arena,
                             struct fresh_plan *plan,
                             struct pv_error *err) PV_MUSTCHECK;

#endif
