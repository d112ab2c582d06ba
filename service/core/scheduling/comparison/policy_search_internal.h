#ifndef CORE_SCHEDULING_COMPARISON_POLICY_SEARCH_INTERNAL_H
#define CORE_SCHEDULING_COMPARISON_POLICY_SEARCH_INTERNAL_H

#include "core/scheduling/comparison/policy_search.h"

enum {
    SEARCH_REPETITIONS_MAX = 1000,
    SEARCH_ROUNDS_MAX = 64,
    /* Fewer repetitions say too little of how far they scatter. */
    SEARCH_REPETITIONS_LEAST = 4
};

struct search_candidate {
    bool left_out;
    size_t seen;    /* repetitions of all jobs; of one that draws nothing at most 1 */
    double *values; /* of these: SEARCH_REPETITIONS_MAX */
    size_t jobs; /* 0: not simulated yet; else the last value of fewer jobs than all is of these */
    double partial; /* that value */
    size_t round;   /* the last one it was simulated in */
};

/* A candidate with what it is put in order by. */
struct search_standing {
    double value;
    size_t candidate;
};

struct policy_search {
    struct policy_search_plan plan;
    bool random;      /* some candidate draws */
    double setup_max; /* of all candidates */
    struct search_candidate *candidates;
    size_t *alive; /* those of the round, n_alive */
    size_t n_alive;
    struct search_standing *standings; /* room for all */
    bool halving;
    double fidelity; /* of the round: repetitions, or a part of the jobs */
    bool over;
    size_t looks; /* at the chance of error */
    double spent;
    bool cut_short;
    struct policy_search_cell *cells; /* n_cells, of the batch at hand */
    size_t n_cells;
    size_t cell_jobs;
    struct policy_search_round rounds[SEARCH_ROUNDS_MAX];
    size_t n_rounds;
};

/* --- policy_search.c --- */

/* A cell of the next batch, paid for at once. */
void search_add_cell(struct policy_search *search, size_t candidate, size_t repetition);

/* For qsort of struct search_standing: the least value first, of equal ones the first candidate. */
int search_order_standings(const void *left, const void *right);

/* --- policy_confirmation.c --- */

/* The value in a repetition that it was simulated in. */
static inline double search_value(const struct policy_search *search, size_t i, size_t repetition)
{
    return search->candidates[i].values[search->plan.draws[i] ? repetition : 0];
}

/* Its mean over all jobs; seen > 0. */
double search_mean(const struct policy_search *search, size_t i);

/* The one to name: of those with the most repetitions of all jobs the one with the least mean, of
 * equal ones the first; SIZE_MAX: none has any. */
size_t search_best(const struct policy_search *search);

/* The best one against all others. */
struct search_evidence {
    double error_chance;
    double loss;
};

struct search_evidence search_weigh(const struct policy_search *search, size_t best);

/* Make the next batch of the confirmation and its round; no cells: it is over. */
void search_confirm(struct policy_search *search);

#endif
