#ifndef CORE_SCHEDULING_COMPARISON_POLICY_SEARCH_H
#define CORE_SCHEDULING_COMPARISON_POLICY_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/*
 * Which of many candidates, each a policy with terms, comes to the least objective: successive
 * halving (Z. Karnin, T. Koren, O. Somekh, "Almost optimal exploration in multi-armed bandits",
 * ICML 2013; K. Jamieson, A. Talwalkar, AISTATS 2016) under common random numbers, and then a
 * confirmation by paired t statistics (docs/design.md, "Searching for a scheduler").
 *
 * The search says what to simulate next; the caller simulates it, in any order and on any threads,
 * and gives the values back. What it finds depends on nothing else.
 */
struct policy_search_plan {
    size_t n;               /* candidates, >= 1 */
    const bool *draws;      /* by candidate: whether its repetitions differ */
    const double *weight;   /* by candidate: what simulating a task counts for, > 0 */
    const double *setup;    /* by candidate: what each simulation counts for beside its tasks, >= 0;
                               NULL: nothing */
    const double *tasks_by; /* of the first i jobs that arrive, i from 0 to `jobs`; rising */
    size_t jobs;            /* >= 1 */
    double
        budget; /* tasks to simulate, by weight, and setups; all once at least, of any candidate */
    double error_chance; /* of naming one that is not best, inside (0, 1) */
};

/* What a simulation of a candidate counts for, of the first jobs. */
static inline double
policy_search_price(const struct policy_search_plan *plan, size_t candidate, size_t jobs)
{
    double setup = plan->setup != NULL ? plan->setup[candidate] : 0;
    return setup + plan->weight[candidate] * plan->tasks_by[jobs];
}

/* Simulate a candidate in a repetition; all candidates share the draws of a repetition. */
struct policy_search_cell {
    size_t candidate;
    size_t repetition;
};

/* Cells over the first jobs that arrive: as many as `jobs`. */
struct policy_search_batch {
    const struct policy_search_cell *cells;
    size_t n; /* >= 1 */
    size_t jobs;
};

/* A round: what was compared, and how it ended. */
struct policy_search_round {
    bool confirms;     /* it belongs to the confirmation, not to the halving */
    size_t candidates; /* that were compared */
    size_t kept; /* halving: for the next round; else: which may yet be better, the best too */
    size_t jobs; /* the first ones that arrive */
    size_t repetitions; /* that the best one has by then */
};

/* How good a candidate has proved. */
struct policy_search_rank {
    size_t candidate;
    size_t round;       /* the last one it was simulated in, from 0 */
    size_t jobs;        /* in which so many jobs were simulated */
    size_t repetitions; /* of these jobs */
    double value;       /* the mean over them */
    double excess; /* by what share it is above the best one in the repetitions of both; NAN: they
                    * have none of all jobs */
};

struct policy_search_found {
    struct policy_search_rank *ranks; /* of all that were simulated; the first one is the best */
    size_t n;
    size_t left_out; /* could not be simulated, or not within the budget */
    const struct policy_search_round *rounds;
    size_t n_rounds;
    double task_runs; /* what was simulated, by weight, and setups */
    /* The chance that another one is better, from above; NAN where nothing says how large it is. */
    double error_chance;
    /* But for the chance of error of the plan, no other one is better by more than this share of
     * the best one's value; NAN likewise. */
    double loss;
    bool cut_short; /* the chance of error is above the plan's for want of budget */
};

struct policy_search;

/* Begin; what the plan refers to is borrowed. The state lives in the arena, up to 24 kB a candidate.
 * NULL: out of memory. */
struct policy_search *policy_search_begin(const struct policy_search_plan *plan,
                                          struct arena *arena);

/* What to simulate next; it stays valid until its values are given. false: the search is over. */
bool policy_search_next(struct policy_search *search, struct policy_search_batch *batch);

/* values[i] of cells[i] of the last batch, the objective, > 0; NAN: it cannot be simulated. O(n log n
 * + values). */
void policy_search_give(struct policy_search *search, const double values[]);

/* What a search that is over has found, in the arena. false: out of memory. No candidate could be
 * simulated: n is 0. */
bool policy_search_conclude(const struct policy_search *search,
                            struct arena *arena,
                            struct policy_search_found *found);

#endif
