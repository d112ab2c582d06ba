/*
 * Successive halving. Candidates of a round are simulated with the same fidelity, the better half
 * goes on to the next round, which has twice the fidelity: a round costs as much as the one before.
 * The fidelity of f < 1 is the first jobs with that share of the tasks, that of f >= 1 is f
 * repetitions of all jobs, of which those of the rounds before are not simulated again. Where no
 * candidate draws anything, it ends with all jobs once.
 */
#include "core/scheduling/comparison/policy_search.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/scheduling/comparison/policy_search_internal.h"
#include "core/sim/statistics.h"

/* More repetitions of all candidates than these come with the confirmation alone, for those that
 * need them. */
#define FIDELITY_MAX 8.0
/* The part of the budget that the halving may take; the rest is for the confirmation. */
#define HALVING_SHARE 0.5

int search_order_standings(const void *left, const void *right)
{
    const struct search_standing *a = left;
    const struct search_standing *b = right;
    int order = compare_double(a->value, b->value);
    return order != 0 ? order : compare_size(a->candidate, b->candidate);
}

/* --- what rounds cost --- */

static size_t halve(size_t n)
{
    return (n + 1) / 2;
}

/* Rounds until one is left. */
static size_t count_rounds(size_t n)
{
    size_t rounds = 1;
    for (; n > 2; n = halve(n))
        rounds++;
    return rounds;
}

/* The fewest jobs with a share of the tasks. */
static size_t jobs_of(const struct policy_search_plan *plan, double share)
{
    size_t low = 1;
    size_t high = plan->jobs;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (plan->tasks_by[middle] >= share * plan->tasks_by[plan->jobs])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* What simulations of n candidates count for at most, of the first jobs: by the weights of the n
 * heaviest ones, which stand first for this, and the greatest setup. */
static double price_of_heaviest(const struct policy_search *search, size_t n, size_t jobs)
{
    double weights = 0;
    for (size_t k = 0; k < n; k++)
        weights -= search->standings[k].value;
    return weights * search->plan.tasks_by[jobs] + (double)n * search->setup_max;
}

/* Of all rounds that begin with n candidates, at most: the heaviest ones may be the best. */
static double halving_cost(const struct policy_search *search, size_t n, double fidelity)
{
    const struct policy_search_plan *plan = &search->plan;
    double cost = 0;
    double before = 0; /* repetitions of the round before */
    for (size_t rounds = count_rounds(n); rounds > 0; rounds--, n = halve(n), fidelity *= 2) {
        double repetitions = search->random ? floor(fidelity) : fmin(1, floor(fidelity));
        if (fidelity < 1)
            cost += price_of_heaviest(search, n, jobs_of(plan, fidelity));
        else
            cost += price_of_heaviest(search, n, plan->jobs) * (repetitions - before);
        before = repetitions;
    }
    return cost;
}

/* The greatest fidelity of the first round, a power of 2, whose halving costs no more than `most`;
 * the last round has all jobs at least. 0: there is none. */
static double find_fidelity(const struct policy_search *search, size_t n, double most)
{
    double least = pow(0.5, (double)(count_rounds(n) - 1));
    for (double fidelity = search->random ? FIDELITY_MAX : 1; fidelity >= least; fidelity /= 2)
        if (halving_cost(search, n, fidelity) <= most)
            return fidelity;
    return 0;
}

/* Some of the candidates that lie evenly among them, or all. */
static void begin_with(struct policy_search *search, size_t n)
{
    for (size_t i = 0; i < search->plan.n; i++)
        search->candidates[i].left_out = true;
    for (size_t k = 0; k < n; k++) {
        search->alive[k] = k * search->plan.n / n;
        search->candidates[search->alive[k]].left_out = false;
    }
    search->n_alive = n;
}

/* All candidates with all there is to know of them, where the budget suffices; else halving that
 * leaves some of it for the confirmation, else one that does not, else fewer candidates. */
static void choose_fidelity(struct policy_search *search)
{
    const struct policy_search_plan *plan = &search->plan;
    size_t n = plan->n;
    for (size_t i = 0; i < n; i++)
        search->standings[i] = (struct search_standing){-plan->weight[i], i};
    qsort(search->standings, n, sizeof *search->standings, search_order_standings);
    if (n == 1 || (!search->random && halving_cost(search, n, 1) <= plan->budget))
        search->fidelity = 1;
    else
        search->fidelity = find_fidelity(search, n, HALVING_SHARE * plan->budget);
    while (search->fidelity == 0 && n > 1) {
        search->fidelity = find_fidelity(search, n, plan->budget);
        n = search->fidelity == 0 ? halve(n) : n;
    }
    if (search->fidelity == 0)
        search->fidelity = 1;
    search->cut_short = n < plan->n;
    begin_with(search, n);
}

static bool allocate(struct policy_search *search, struct arena *arena)
{
    size_t n = search->plan.n;
    search->candidates = arena_calloc(arena, n, sizeof *search->candidates);
    search->alive = arena_array(arena, n, sizeof *search->alive);
    search->standings = arena_array(arena, n, sizeof *search->standings);
    search->cells = arena_array(arena, n, SEARCH_REPETITIONS_MAX * sizeof *search->cells);
    double *values = arena_array(arena, n, SEARCH_REPETITIONS_MAX * sizeof *values);
    if (search->candidates == NULL || search->alive == NULL || search->standings == NULL ||
        search->cells == NULL || values == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        search->candidates[i].values = values + i * SEARCH_REPETITIONS_MAX;
    return true;
}

struct policy_search *policy_search_begin(const struct policy_search_plan *plan,
                                          struct arena *arena)
{
    struct policy_search *search = arena_calloc(arena, 1, sizeof *search);
    if (search == NULL)
        return NULL;
    search->plan = *plan;
    search->halving = true;
    for (size_t i = 0; i < plan->n; i++) {
        search->random = search->random || plan->draws[i];
        search->setup_max = fmax(search->setup_max, plan->setup != NULL ? plan->setup[i] : 0);
    }
    if (!allocate(search, arena))
        return NULL;
    choose_fidelity(search);
    return search;
}

/* --- a round of the halving --- */

void search_add_cell(struct policy_search *search, size_t candidate, size_t repetition)
{
    search->cells[search->n_cells++] = (struct policy_search_cell){candidate, repetition};
    search->spent += policy_search_price(&search->plan, candidate, search->cell_jobs);
}

static void begin_round(struct policy_search *search)
{
    const struct policy_search_plan *plan = &search->plan;
    double fidelity = search->fidelity;
    size_t repetitions = search->random && fidelity >= 1 ? (size_t)fidelity : 1;
    search->cell_jobs = fidelity < 1 ? jobs_of(plan, fidelity) : plan->jobs;
    search->rounds[search->n_rounds++] = (struct policy_search_round){
        .candidates = search->n_alive, .jobs = search->cell_jobs, .repetitions = repetitions};
    for (size_t k = 0; k < search->n_alive; k++) {
        size_t i = search->alive[k];
        size_t wanted = plan->draws[i] ? repetitions : 1;
        for (size_t r = search->candidates[i].seen; r < wanted; r++)
            search_add_cell(search, i, r);
        search->candidates[i].round = search->n_rounds - 1;
    }
}

/* The better half stays alive. Without draws all jobs once are all there is to know. */
static void end_round(struct policy_search *search)
{
    struct policy_search_round *round = &search->rounds[search->n_rounds - 1];
    bool whole = round->jobs == search->plan.jobs;
    size_t n = 0;
    for (size_t k = 0; k < search->n_alive; k++) {
        size_t i = search->alive[k];
        const struct search_candidate *candidate = &search->candidates[i];
        if (!candidate->left_out)
            search->standings[n++] =
                (struct search_standing){whole ? search_mean(search, i) : candidate->partial, i};
    }
    qsort(search->standings, n, sizeof *search->standings, search_order_standings);
    search->n_alive = halve(n);
    for (size_t k = 0; k < search->n_alive; k++)
        search->alive[k] = search->standings[k].candidate;
    round->kept = search->n_alive;
    search->fidelity *= 2;
    search->halving = whole ? search->random && search->n_alive > 1 : search->n_alive > 0;
}

/* --- from batch to batch --- */

bool policy_search_next(struct policy_search *search, struct policy_search_batch *batch)
{
    search->n_cells = 0;
    while (search->n_cells == 0 && search->halving) {
        begin_round(search);
        if (search->n_cells == 0)
            end_round(search);
    }
    if (search->n_cells == 0 && !search->over)
        search_confirm(search);
    search->over = search->n_cells == 0;
    *batch = (struct policy_search_batch){search->cells, search->n_cells, search->cell_jobs};
    return !search->over;
}

static void
keep_value(struct policy_search *search, const struct policy_search_cell *cell, double value)
{
    struct search_candidate *candidate = &search->candidates[cell->candidate];
    if (isnan(value) || candidate->left_out) {
        candidate->left_out = true;
        return;
    }
    candidate->jobs = search->cell_jobs;
    if (search->cell_jobs < search->plan.jobs)
        candidate->partial = value;
    else
        candidate->values[candidate->seen++] = value;
}

void policy_search_give(struct policy_search *search, const double values[])
{
    for (size_t i = 0; i < search->n_cells; i++)
        keep_value(search, &search->cells[i], values[i]);
    if (search->halving)
        end_round(search);
}
