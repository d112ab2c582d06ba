#include "core/deadline/contention.h"

#include <math.h>
#include <stdlib.h>

struct place {
    double key;
    size_t index;
};

struct contention_step {
    const struct contention_terms *terms;
    const struct contention_application *applications;
    size_t n;
    double requested;                /* sum of the requests */
    struct place *order;             /* n, working memory */
    double *left;                    /* n, working memory */
    struct contention_share *shares; /* n; weight is NAN and saturating_cores 0 to begin with */
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* --- by deadline (Alg. 5 and 6) --- */

typedef double (*claim)(const struct contention_step *step, size_t i);

static double claim_all(const struct contention_step *step, size_t i)
{
    return fmin(step->applications[i].remaining_tasks, step->terms->max_cores);
}

static double claim_requested(const struct contention_step *step, size_t i)
{
    return step->applications[i].requested_cores;
}

/* Whoever has least time left takes first. */
static void take_in_order(const struct contention_step *step, claim what)
{
    double left = step->terms->max_cores;
    for (size_t i = 0; i < step->n; i++)
        step->order[i] = (struct place){step->applications[i].time_to_complete_s, i};
    qsort(step->order, step->n, sizeof *step->order, compare_places);
    for (size_t k = 0; k < step->n && left > 0; k++) {
        size_t i = step->order[k].index;
        step->shares[i].saturating_cores = fmin(left, what(step, i));
        left -= step->shares[i].saturating_cores;
    }
}

static void take_all(const struct contention_step *step)
{
    take_in_order(step, claim_all);
}

static void take_requested(const struct contention_step *step)
{
    take_in_order(step, claim_requested);
}

/* --- by weight (Alg. 7) --- */

/*
 * Alg. 7 deals what remains by weight, round by round, and an application leaves with what it asked
 * for once a round's share covers the rest of it. All others hold weight x level cores at any time,
 * for one level common to all, and the level only rises: so applications leave in order of
 * request/weight, and the rounds end where the requests that fit, taken in that order, end. A
 * single pass in that order replaces up to n rounds.
 */
static void contention_deal(const struct contention_step *step)
{
    const struct contention_application *applications = step->applications;
    struct contention_share *shares = step->shares;
    for (size_t i = 0; i < step->n; i++)
        step->order[i] = (struct place){applications[i].requested_cores / shares[i].weight, i};
    qsort(step->order, step->n, sizeof *step->order, compare_places);
    /* left[k]: weights from k on, added from the small end; taking off would cancel. */
    double weights = 0;
    for (size_t k = step->n; k-- > 0;) {
        weights += shares[step->order[k].index].weight;
        step->left[k] = weights;
    }
    double remaining = step->terms->max_cores;
    size_t k = 0;
    for (; k < step->n; k++) {
        size_t i = step->order[k].index;
        double requested = applications[i].requested_cores;
        if (requested > remaining * (shares[i].weight / step->left[k]))
            break;
        shares[i].saturating_cores = requested;
        remaining = fmax(0, remaining - requested);
    }
    for (size_t open = k; open < step->n; open++) {
        struct contention_share *share = &shares[step->order[open].index];
        share->saturating_cores = remaining * (share->weight / step->left[k]);
    }
}

/* One second more than the time by which an application comes after the most urgent one. Late ones
 * have negative times; counted from the least time all are positive. */
static double after_first_s(const struct contention_step *step, double least_s, size_t i)
{
    return step->applications[i].time_to_complete_s - least_s + 1;
}

static void weigh_by_deadline(const struct contention_step *step)
{
    double least_s = INFINITY;
    double sum_s = 0;
    for (size_t i = 0; i < step->n; i++)
        least_s = fmin(least_s, step->applications[i].time_to_complete_s);
    for (size_t i = 0; i < step->n; i++)
        sum_s += after_first_s(step, least_s, i);
    /* Alone an application would weigh 1 - 1/1. */
    for (size_t i = 0; i < step->n; i++)
        step->shares[i].weight = step->n == 1 ? 1 : 1 - after_first_s(step, least_s, i) / sum_s;
}

static void weigh_by_speed(const struct contention_step *step)
{
    for (size_t i = 0; i < step->n; i++)
        step->shares[i].weight =
            step->terms->average_nominal_rate / step->applications[i].nominal_rate;
}

/* --- by request --- */

static void weigh_by_request(const struct contention_step *step)
{
    for (size_t i = 0; i < step->n; i++)
        step->shares[i].weight =
            step->requested > 0 ? step->applications[i].requested_cores / step->requested : 0;
}

static void divide(const struct contention_step *step)
{
    for (size_t i = 0; i < step->n; i++)
        step->shares[i].saturating_cores = step->terms->max_cores * step->shares[i].weight;
}

const struct contention_strategy contention_strategies[CONTENTION_STRATEGIES] = {
    {"edf_all", CONTENTION_NEEDS_TIME | CONTENTION_NEEDS_TASKS, NULL, take_all},
    {"edf_pure", CONTENTION_NEEDS_TIME, NULL, take_requested},
    {"edf_proportional", CONTENTION_NEEDS_TIME, weigh_by_deadline, contention_deal},
    [CONTENTION_PROPORTIONAL] = {"proportional", 0, weigh_by_request, divide},
    {"speed", CONTENTION_NEEDS_RATE, weigh_by_speed, contention_deal},
};

const char *const contention_strategy_words[CONTENTION_STRATEGIES + 1] = {
    "edf_all", "edf_pure", "edf_proportional", "proportional", "speed", NULL};

/* --- one step --- */

/* Compensated (Neumaier): whether 1,000 requests exceed the cores may not hang on their order. */
static double sum_requests(const struct contention_application applications[], size_t n)
{
    double sum = 0;
    double lost = 0;
    for (size_t i = 0; i < n; i++) {
        double term = applications[i].requested_cores;
        double next = sum + term;
        lost += fabs(sum) >= fabs(term) ? (sum - next) + term : (term - next) + sum;
        sum = next;
    }
    return sum + lost;
}

/* Shares that leave more than a hundredth of the cores idle grow until none is. */
static void fill_up(const struct contention_step *step)
{
    double total = 0;
    for (size_t i = 0; i < step->n; i++)
        total += step->shares[i].saturating_cores;
    if (total <= 0 || total >= 0.99 * step->terms->max_cores)
        return;
    for (size_t i = 0; i < step->n; i++)
        step->shares[i].saturating_cores =
            step->terms->max_cores * (step->shares[i].saturating_cores / total);
}

static void blend(const struct contention_step *step, bool contention)
{
    double gamma = contention ? 1 : step->terms->gamma;
    for (size_t i = 0; i < step->n; i++)
        step->shares[i].cores = gamma * step->shares[i].saturating_cores +
                                (1 - gamma) * step->applications[i].requested_cores;
}

enum pv_code contention_resolve(const struct contention_strategy *strategy,
                                const struct contention_terms *terms,
                                const struct contention_application applications[],
                                size_t n,
                                struct arena *scratch,
                                struct contention_share shares[],
                                struct contention_outcome *outcome,
                                struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct contention_step step = {
        .terms = terms, .applications = applications, .n = n, .shares = shares};
    step.order = arena_array(scratch, n, sizeof *step.order);
    step.left = arena_array(scratch, n, sizeof *step.left);
    if (step.order == NULL || step.left == NULL) {
        arena_rewind(scratch, mark);
        return pv_no_memory(err);
    }
    step.requested = sum_requests(applications, n);
    bool contention = step.requested > terms->max_cores;
    for (size_t i = 0; i < n; i++)
        shares[i] = (struct contention_share){.weight = (double)NAN};
    if (strategy->weigh != NULL)
        strategy->weigh(&step);
    if (step.requested > 0)
        strategy->saturate(&step);
    fill_up(&step);
    blend(&step, contention);
    arena_rewind(scratch, mark);
    *outcome = (struct contention_outcome){step.requested, contention};
    return PV_OK;
}
