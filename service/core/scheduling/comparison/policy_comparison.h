#ifndef CORE_SCHEDULING_COMPARISON_POLICY_COMPARISON_H
#define CORE_SCHEDULING_COMPARISON_POLICY_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "core/scheduling/comparison/percentiles.h"
#include "core/scheduling/comparison/trial.h"
#include "core/sim/statistics.h"

/*
 * Policies side by side, at one or several loads, repeated with other draws (docs/design.md,
 * "Comparing schedulers"). Each simulation of one policy at one load in one repetition is a cell.
 * Cells do not depend on each other: they may be simulated in any order, on any threads.
 */
struct policy_comparison {
    size_t n_policies;   /* >= 1 */
    const bool *draws;   /* by policy: whether it draws random numbers of its own */
    const double *loads; /* arrivals are drawn so that capacity is loaded to each of these shares */
    size_t n_loads;      /* 0: arrivals as given, once */
    size_t repetitions;  /* >= 1 */
    uint64_t seed;
};

struct policy_cell {
    size_t load; /* of `loads`; 0 where there are none */
    size_t policy;
    size_t repetition;
};

/* How often there is a result: for each load, or once. */
static inline size_t policy_comparison_loads(const struct policy_comparison *comparison)
{
    return comparison->n_loads > 0 ? comparison->n_loads : 1;
}

/* How often a policy is simulated at each load: once where nothing is drawn. */
static inline size_t policy_comparison_repetitions(const struct policy_comparison *comparison,
                                                   size_t policy)
{
    return comparison->n_loads > 0 || comparison->draws[policy] ? comparison->repetitions : 1;
}

/* Whether figures depend on draws, and each is of a single one. */
bool policy_comparison_drawn_once(const struct policy_comparison *comparison);

/* The load of a cell; NAN: arrivals as given. */
double policy_cell_load(const struct policy_comparison *comparison, const struct policy_cell *cell);

static inline struct trial policy_cell_trial(const struct policy_comparison *comparison,
                                             const struct policy_cell *cell)
{
    return (struct trial){comparison->seed, cell->repetition};
}

/* How many cells there are. */
size_t policy_cell_count(const struct policy_comparison *comparison);

/* All cells, by load, then policy, then repetition; *n of them. NULL: out of memory. */
struct policy_cell *
policy_cells(const struct policy_comparison *comparison, struct arena *arena, size_t *n);

/* What the best policy is chosen by, the least of it: a percentile of the jobs' slowdowns, the 95th
 * one over the median, or the makespan. */
enum policy_objective {
    POLICY_SLOWDOWN_P50,
    POLICY_SLOWDOWN_P90,
    POLICY_SLOWDOWN_P95,
    POLICY_SLOWDOWN_P99,
    POLICY_VARIABILITY,
    POLICY_MAKESPAN
};

/* Of one of the first four objectives. */
double policy_percentile(const struct percentiles *slowdown, enum policy_objective objective);

/* The objective's values of a policy: one for each repetition, or one for all of them. */
struct policy_values {
    const double *at;
    size_t n; /* >= 1 */
};

struct policy_choice {
    size_t best;
    size_t next;   /* the best of the others; SIZE_MAX: there are none */
    double value;  /* of the best one, the mean over its repetitions */
    double other;  /* of the next one; NAN likewise */
    double margin; /* the share by which it is below the next one's; NAN likewise */
    bool equal;    /* to the next one: it is the first of them */
    /* Its paired difference to the next one is more than twice its standard error; true where
     * nothing was repeated. */
    bool clear;
};

/* The policy with the least mean, of equal ones (1e-9) the first. n >= 1. O(n repetitions). */
struct policy_choice policy_choose(const struct policy_values values[], size_t n);

/* Differences, other less one, over the repetitions of both; a policy that was simulated once would
 * have come to the same in all of them. */
struct running_moments policy_difference(const struct policy_values *one,
                                         const struct policy_values *other);

/* Outcomes of a kind of simulation, as they are concluded from: of structs of its own, cells that
 * contain an outcome, and outcomes. */
struct policy_outcomes {
    size_t cell_bytes;
    size_t bytes;
    double (*value)(const void *cell, enum policy_objective objective);
    /* Add the cell's outcome, figure by figure, with a weight to a sum, which is zeros at first. */
    void (*add)(void *sum, const void *cell, double weight);
};

/* What policies come to at a load; each kind has functions for what is of its own structs. */
struct policy_load {
    void *means;        /* of each policy: the outcome, means over its repetitions */
    const void **first; /* of each policy: the cell of its first repetition */
    const struct policy_values *values; /* of each policy: the objective's */
    struct policy_choice choice;        /* by the objective */
};

/* What all cells come to, cells being an array of the kind in the order of policy_cells: an item for
 * each load, in the arena. NULL: out of memory. O(cells). */
struct policy_load *policy_comparison_conclude(const struct policy_comparison *comparison,
                                               const struct policy_outcomes *outcomes,
                                               const void *cells,
                                               enum policy_objective objective,
                                               struct arena *arena);

/* By how many percent a figure is below that of the baseline: negative where it is above. */
static inline double policy_reduction_percent(double figure, double baseline)
{
    return 100 * (1 - figure / baseline);
}

#endif
