/*
 * How sure is it that the best candidate is the best? Of n candidates and at the k-th look,
 *
 *     chance of error <= k (k + 1) (n - 1) max_i P(T > mean(d_i) / error(d_i)),
 *
 * d_i being the differences of candidate i to the best one in the repetitions of both, error(d_i)
 * the standard error of their mean, and T of Student's distribution. n - 1 covers any candidate that
 * may have looked best in place of the best one (Bonferroni), and 1/(k (k + 1)), which add up to 1,
 * that looking goes on until the bound is low enough.
 *
 * Between two looks repetitions are added for the candidates that the next look would not exclude.
 */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/rounding.h"
#include "core/numerics/student.h"
#include "core/scheduling/comparison/policy_search_internal.h"
#include "core/sim/statistics.h"

/* --- candidates in pairs --- */

double search_mean(const struct policy_search *search, size_t i)
{
    struct compensated_sum sum = {0, 0};
    size_t n = search->candidates[i].seen;
    for (size_t r = 0; r < n; r++)
        compensated_sum_add(&sum, search->candidates[i].values[r]);
    return compensated_sum_value(&sum) / (double)n;
}

/* Repetitions whose values are known. */
static size_t known(const struct policy_search *search, size_t i)
{
    size_t seen = search->candidates[i].seen;
    return search->plan.draws[i] || seen == 0 ? seen : SEARCH_REPETITIONS_MAX;
}

/* Repetitions in which both values are known; 1 where neither draws. */
static size_t common_repetitions(const struct policy_search *search, size_t i, size_t k)
{
    size_t of_i = known(search, i);
    size_t of_k = known(search, k);
    size_t n = of_i < of_k ? of_i : of_k;
    return search->plan.draws[i] || search->plan.draws[k] || n == 0 ? n : 1;
}

size_t search_best(const struct policy_search *search)
{
    size_t best = SIZE_MAX;
    size_t most = 0;
    double least = 0;
    for (size_t i = 0; i < search->plan.n; i++)
        if (!search->candidates[i].left_out && known(search, i) > 0 && search->plan.draws[i])
            most = known(search, i) > most ? known(search, i) : most;
    for (size_t i = 0; i < search->plan.n; i++) {
        if (search->candidates[i].left_out || known(search, i) == 0 || known(search, i) < most)
            continue;
        double mean = search_mean(search, i);
        if (best != SIZE_MAX && (mean >= least || rounding_equal(mean, least)))
            continue;
        best = i;
        least = mean;
    }
    return best;
}

/* By how much candidate i is above the best one. */
struct difference {
    size_t n; /* repetitions of both */
    double mean;
    double error; /* of the mean */
    double base;  /* the mean of the best one in them */
};

static struct difference compare(const struct policy_search *search, size_t i, size_t best)
{
    struct running_moments moments = {0};
    struct running_moments base = {0};
    size_t n = common_repetitions(search, i, best);
    for (size_t r = 0; r < n; r++) {
        double own = search_value(search, i, r);
        double of_best = search_value(search, best, r);
        running_moments_add(&moments, rounding_equal(own, of_best) ? 0 : own - of_best);
        running_moments_add(&base, of_best);
    }
    return (struct difference){n, n > 0 ? moments.mean : (double)NAN,
                               n > 1 ? running_moments_standard_error(&moments) : 0,
                               n > 0 ? base.mean : (double)NAN};
}

/* Whether so many repetitions say how far it scatters, or nothing does. */
static bool
suffices(const struct policy_search *search, size_t i, size_t best, const struct difference *d)
{
    bool exact = !search->plan.draws[i] && !search->plan.draws[best];
    return d->n >= (exact ? 1 : SEARCH_REPETITIONS_LEAST);
}

/* The chance that it is better than the best one; NAN: nothing is known. */
static double chance_better(const struct policy_search *search, size_t i, size_t best)
{
    struct difference d = compare(search, i, best);
    if (!suffices(search, i, best, &d))
        return (double)NAN;
    if (d.error == 0)
        return d.mean < 0 ? 1 : 0;
    return gsl_cdf_tdist_Q(d.mean / d.error, (double)(d.n - 1));
}

/* --- the bound --- */

static size_t count_in(const struct policy_search *search)
{
    size_t n = 0;
    for (size_t i = 0; i < search->plan.n; i++)
        n += !search->candidates[i].left_out;
    return n;
}

/* What the chance of each single pair is multiplied by at a look. */
static double multiplier(const struct policy_search *search, size_t look)
{
    double k = (double)(look > 0 ? look : 1);
    return k * (k + 1) * (double)(count_in(search) - 1);
}

struct search_evidence search_weigh(const struct policy_search *search, size_t best)
{
    struct search_evidence evidence = {0, 0};
    double factor = multiplier(search, search->looks);
    double level = search->plan.error_chance / fmax(factor, 1);
    double mean = search_mean(search, best);
    for (size_t i = 0; i < search->plan.n; i++) {
        if (search->candidates[i].left_out || i == best)
            continue;
        struct difference d = compare(search, i, best);
        double chance = chance_better(search, i, best);
        if (isnan(chance))
            return (struct search_evidence){(double)NAN, (double)NAN};
        double reach =
            d.error > 0 ? d.error * student_quantile(1 - 2 * level, (double)(d.n - 1)) : 0;
        evidence.error_chance = fmax(evidence.error_chance, fmin(1, factor * chance));
        evidence.loss = fmax(evidence.loss, (reach - d.mean) / mean);
    }
    return evidence;
}

/* --- who is simulated again --- */

/* Those that the next look would not exclude as things stand; how many of them. The closest ones to
 * the best one come first, those that share no repetition with it last. */
static size_t find_contenders(struct policy_search *search, size_t best)
{
    double level = search->plan.error_chance / fmax(multiplier(search, search->looks + 1), 1);
    size_t n = 0;
    for (size_t i = 0; i < search->plan.n; i++) {
        if (search->candidates[i].left_out || i == best)
            continue;
        struct difference d = compare(search, i, best);
        double chance = chance_better(search, i, best);
        if (chance <= level)
            continue;
        search->standings[n++] = (struct search_standing){d.n > 0 ? d.mean / d.base : HUGE_VAL, i};
    }
    qsort(search->standings, n, sizeof *search->standings, search_order_standings);
    return n;
}

/* Those of the contenders that have fewer repetitions than the best one become alive; where there
 * are none, the best one and all of them. One that draws nothing needs no other repetition. */
static void choose_alive(struct policy_search *search, size_t best, size_t contenders)
{
    bool behind = false;
    search->n_alive = 0;
    for (size_t k = 0; k < contenders; k++)
        behind = behind || known(search, search->standings[k].candidate) < known(search, best);
    if (!behind && search->plan.draws[best])
        search->alive[search->n_alive++] = best;
    for (size_t k = 0; k < contenders; k++) {
        size_t i = search->standings[k].candidate;
        bool gains = search->plan.draws[i] || known(search, i) == 0;
        if (gains && (!behind || known(search, i) < known(search, best)))
            search->alive[search->n_alive++] = i;
    }
}

/* Repetitions to add: as many as it has, at most up to those of the best one where it has fewer. */
static size_t wanted(const struct policy_search *search, size_t i, size_t best)
{
    size_t seen = search->candidates[i].seen;
    size_t most = search->plan.draws[i] ? SEARCH_REPETITIONS_MAX : 1;
    size_t target = 2 * seen > SEARCH_REPETITIONS_LEAST ? 2 * seen : SEARCH_REPETITIONS_LEAST;
    if (seen < known(search, best) && target > known(search, best))
        target = known(search, best);
    return (target < most ? target : most) - seen;
}

/* Of all that are alive, in tasks by weight; `each`: 1 instead of what is wanted. */
static double cost(const struct policy_search *search, size_t best, bool each)
{
    double sum = 0;
    for (size_t k = 0; k < search->n_alive; k++) {
        size_t i = search->alive[k];
        size_t n = wanted(search, i, best);
        sum += policy_search_price(&search->plan, i, search->plan.jobs) *
               (double)(each && n > 0 ? 1 : n);
    }
    return sum;
}

/* What the budget does not reach for is left out: the ones that are furthest from the best one, then
 * repetitions of all. */
static void add_cells(struct policy_search *search, size_t best)
{
    double left = search->plan.budget - search->spent;
    while (search->n_alive > 0 && cost(search, best, true) > left)
        search->n_alive /= 2; /* the best one, then the closest ones come first */
    if (search->n_alive == 1 && search->alive[0] == best)
        search->n_alive = 0;
    double share = fmin(1, left / cost(search, best, false));
    for (size_t k = 0; k < search->n_alive; k++) {
        size_t i = search->alive[k];
        size_t n = wanted(search, i, best);
        size_t first = search->candidates[i].seen;
        size_t some = share < 1 && n > 0 ? (size_t)fmax(1, share * (double)n) : n;
        double each = policy_search_price(&search->plan, i, search->plan.jobs);
        for (size_t r = 0; r < some && search->spent + each <= search->plan.budget; r++)
            search_add_cell(search, i, first + r);
    }
}

/* --- rounds --- */

static void begin_round(struct policy_search *search, size_t candidates)
{
    struct policy_search_round *round = &search->rounds[search->n_rounds++];
    *round = (struct policy_search_round){
        .confirms = true, .candidates = candidates, .jobs = search->plan.jobs};
    for (size_t c = 0; c < search->n_cells; c++) {
        const struct policy_search_cell *cell = &search->cells[c];
        search->candidates[cell->candidate].round = search->n_rounds - 1;
        if (cell->repetition >= round->repetitions)
            round->repetitions = cell->repetition + 1;
    }
}

/* Where nothing is drawn: all jobs for those that the halving left with a part of them, the best
 * ones first, as far as the budget reaches. */
static void confirm_exactly(struct policy_search *search)
{
    size_t n = 0;
    size_t jobs = 0;
    for (size_t i = 0; i < search->plan.n; i++) {
        const struct search_candidate *candidate = &search->candidates[i];
        if (!candidate->left_out && candidate->seen == 0 && candidate->jobs > jobs)
            jobs = candidate->jobs;
    }
    for (size_t i = 0; i < search->plan.n; i++) {
        const struct search_candidate *candidate = &search->candidates[i];
        if (!candidate->left_out && candidate->seen == 0 && candidate->jobs == jobs)
            search->standings[n++] = (struct search_standing){candidate->partial, i};
    }
    qsort(search->standings, n, sizeof *search->standings, search_order_standings);
    for (size_t k = 0; k < n; k++) {
        size_t i = search->standings[k].candidate;
        double each = policy_search_price(&search->plan, i, search->plan.jobs);
        if (search->spent + each <= search->plan.budget)
            search_add_cell(search, i, 0);
    }
    if (search->n_cells > 0)
        begin_round(search, search->n_cells + 1);
}

static void confirm_by_repetitions(struct policy_search *search, size_t best)
{
    struct policy_search_round *last = &search->rounds[search->n_rounds - 1];
    search->looks++;
    size_t contenders = find_contenders(search, best);
    if (last->confirms)
        last->kept = contenders + 1;
    if (search_weigh(search, best).error_chance <= search->plan.error_chance)
        return;
    choose_alive(search, best, contenders);
    add_cells(search, best);
    if (search->n_cells > 0)
        begin_round(search, contenders + 1);
}

void search_confirm(struct policy_search *search)
{
    size_t best = search_best(search);
    search->cell_jobs = search->plan.jobs;
    if (best == SIZE_MAX || search->n_rounds == SEARCH_ROUNDS_MAX)
        return;
    if (search->random)
        confirm_by_repetitions(search, best);
    else
        confirm_exactly(search);
}

/* --- what was found --- */

static int order_by_rank(const void *left, const void *right)
{
    const struct policy_search_rank *a = left;
    const struct policy_search_rank *b = right;
    int order = compare_nan_last(a->excess, b->excess);
    if (order == 0)
        order = compare_size(b->jobs, a->jobs);
    if (order == 0 && isnan(a->excess))
        order = compare_double(a->value, b->value);
    return order != 0 ? order : compare_size(a->candidate, b->candidate);
}

static struct policy_search_rank rank_of(const struct policy_search *search, size_t i, size_t best)
{
    const struct search_candidate *candidate = &search->candidates[i];
    if (candidate->seen == 0)
        return (struct policy_search_rank){i, candidate->round,   candidate->jobs,
                                           1, candidate->partial, (double)NAN};
    struct difference d = compare(search, i, best);
    return (struct policy_search_rank){i,
                                       candidate->round,
                                       search->plan.jobs,
                                       candidate->seen,
                                       search_mean(search, i),
                                       d.n > 0 ? d.mean / d.base : (double)NAN};
}

/* The best one is named first, whatever those with fewer repetitions seem to be. */
static void
make_ranks(const struct policy_search *search, size_t best, struct policy_search_found *found)
{
    found->ranks[found->n++] = rank_of(search, best, best);
    for (size_t i = 0; i < search->plan.n; i++)
        if (i != best && !search->candidates[i].left_out && search->candidates[i].jobs > 0)
            found->ranks[found->n++] = rank_of(search, i, best);
    qsort(found->ranks + 1, found->n - 1, sizeof *found->ranks, order_by_rank);
}

bool policy_search_conclude(const struct policy_search *search,
                            struct arena *arena,
                            struct policy_search_found *found)
{
    size_t best = search_best(search);
    struct policy_search_round *rounds = arena_array(arena, search->n_rounds, sizeof *rounds);
    *found = (struct policy_search_found){
        .ranks = arena_array(arena, search->plan.n, sizeof *found->ranks),
        .rounds = rounds,
        .n_rounds = search->n_rounds,
        .left_out = search->plan.n,
        .task_runs = search->spent,
        .error_chance = (double)NAN,
        .loss = (double)NAN,
        .cut_short = search->cut_short};
    if (found->ranks == NULL || rounds == NULL)
        return false;
    memcpy(rounds, search->rounds, search->n_rounds * sizeof *rounds);
    if (best == SIZE_MAX)
        return true;
    struct search_evidence evidence = search_weigh(search, best);
    make_ranks(search, best, found);
    found->left_out -= found->n;
    found->error_chance = evidence.error_chance;
    found->loss = evidence.loss;
    found->cut_short = search->cut_short || !(evidence.error_chance <= search->plan.error_chance);
    return true;
}
