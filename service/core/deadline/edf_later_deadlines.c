/*
 * Later deadlines of several jobs with the least total (docs/design.md, "Remedies").
 *
 * The order in which jobs are served decides the schedule, and with it the least deadlines that
 * have this order and are met. So orders are searched: from the better of raise and replay and the
 * best single deadline, moving one job at a time, then all of them by branch and bound. An order is
 * replayed only if its bound from below promises less than the best so far: whoever is served k-th
 * has a deadline no earlier than the work of the first k can be done, and than its own critical
 * path. After each search every deadline is lowered as far as it can be alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/deadline/edf_searches.h"

/* So many moves are compared a round at most, the nearest. */
enum { MOVES_MAX = 4096 };

/* Up to so many jobs all orders may well be tried. */
enum { FEW_JOBS = 10 };

/* Shares of what is left of the budget, in order of the steps; of few jobs and of more. */
static const double share_first = 0.25, share_moves[] = {0.5, 0.8}, share_branches[] = {0.7, 0.2};

struct move {
    double bound_s;
    uint32_t from;
    uint32_t to;
};

struct orders {
    struct edf_trial *trial;
    uint64_t whole; /* budget */
    struct edf_contention contention;
    uint32_t *others;
    double *best_s; /* deadlines by job: all are met, and nothing better is known */
    double best_total_s;
    uint32_t *order;        /* of which a bound is asked, or which is tried */
    double *deadlines_s;    /* by job, of that order */
    double *at_s;           /* by place: instants of those deadlines */
    double *totals_s;       /* by place: later than they were, up to there */
    uint32_t *release_rank; /* by job */
    double *work_s;         /* by rank of release: of the jobs in order so far */
    bool *used;             /* by job */
    uint32_t *choice;       /* by place: how many jobs were tried there */
    uint32_t *sorted;       /* jobs by the deadlines they had */
    struct move *moves;
};

static double total_of(const struct orders *orders, const double deadlines_s[])
{
    double total = 0;
    for (size_t j = 0; j < orders->trial->plan.n_jobs; j++)
        total += deadlines_s[j] - orders->trial->jobs[j].deadline_s;
    return total;
}

/* --- the least deadlines of an order --- */

/* Place the job at least at least_s, behind the job before it. */
static void place(struct orders *orders, size_t at, double least_s)
{
    uint32_t j = orders->order[at];
    const struct edf_job *job = &orders->trial->jobs[j];
    double deadline = fmax(job->deadline_s, least_s);
    if (at > 0)
        deadline = edf_trial_deadline_behind(orders->trial, j, deadline, orders->order[at - 1],
                                             orders->at_s[at - 1]);
    orders->deadlines_s[j] = deadline;
    orders->at_s[at] = job->release_s + deadline;
    orders->totals_s[at] = (at > 0 ? orders->totals_s[at - 1] : 0) + (deadline - job->deadline_s);
}

/* When the work of the first jobs of the order, this one the last, can be done at the earliest. */
static double demand_of(struct orders *orders, size_t at)
{
    const struct edf_trial *trial = orders->trial;
    uint32_t j = orders->order[at];
    double work = 0;
    double end = -INFINITY;
    orders->work_s[orders->release_rank[j]] = trial->work_s[j];
    for (size_t rank = trial->plan.n_jobs; rank-- > 0;) {
        work += orders->work_s[rank];
        if (orders->work_s[rank] > 0)
            end = fmax(end, trial->jobs[trial->plan.by_release[rank]].release_s +
                                work * (1 - 1e-12) / (double)trial->cores);
    }
    return end - trial->rounding_s;
}

static void place_by_bound(struct orders *orders, size_t at)
{
    const struct edf_trial *trial = orders->trial;
    uint32_t j = orders->order[at];
    double release = trial->jobs[j].release_s;
    double alone = trial->lengths_s[j] * (1 - 1e-12) - trial->rounding_s;
    place(orders, at, fmax(alone, demand_of(orders, at) - release - trial->rounding_s));
}

/* No deadlines of this order that are met have a lower total. */
static double bound_of(struct orders *orders)
{
    size_t n = orders->trial->plan.n_jobs;
    memset(orders->work_s, 0, n * sizeof *orders->work_s);
    for (size_t at = 0; at < n; at++)
        place_by_bound(orders, at);
    orders->trial->replay.steps += 1 + (uint64_t)n * n / 64;
    return orders->totals_s[n - 1];
}

/* Replay the order whose bound was just asked for. EDF_REPLAY_DONE: it is better than the best,
 * and has become it. */
static enum edf_replay_end try_order(struct orders *orders)
{
    struct edf_trial *trial = orders->trial;
    size_t n = trial->plan.n_jobs;
    double slack =
        (orders->best_total_s - orders->totals_s[n - 1]) * (1 + 1e-9) + trial->rounding_s;
    for (size_t at = 0; at < n; at++)
        place(orders, at, orders->deadlines_s[orders->order[at]] + slack);
    for (size_t j = 0; j < n; j++)
        edf_trial_set_deadline(trial, j, orders->deadlines_s[j]);
    enum edf_replay_end end = edf_trial_run(trial, NULL);
    if (end != EDF_REPLAY_DONE)
        return end;
    for (size_t at = 0; at < n; at++)
        place(orders, at, edf_trial_elapsed_s(trial, orders->order[at]));
    double total = total_of(orders, orders->deadlines_s);
    if (!(total < orders->best_total_s))
        return EDF_REPLAY_MISSED;
    memcpy(orders->best_s, orders->deadlines_s, n * sizeof *orders->best_s);
    orders->best_total_s = total;
    return EDF_REPLAY_DONE;
}

/* --- one deadline at a time --- */

/* Lower each as far as the others let it, until none can be. What is left of the budget is shared.
 * False: it was spent before. */
static bool lower_each(struct orders *orders, uint64_t budget)
{
    struct edf_trial *trial = orders->trial;
    size_t n = trial->plan.n_jobs;
    bool whole = true;
    for (size_t j = 0; j < n; j++)
        edf_trial_set_deadline(trial, j, orders->best_s[j]);
    size_t since = 0; /* jobs in a row that could not be lowered */
    for (size_t j = 0; since < n && trial->replay.steps < budget; j = (j + 1) % n) {
        double floor = trial->jobs[j].deadline_s;
        double least = orders->best_s[j];
        since++;
        if (orders->best_s[j] == floor)
            continue;
        edf_trial_allot_part(trial, budget, n + 1 - since);
        enum edf_replay_end end = edf_later_deadline_alone(
            trial, j, floor, EDF_FIRST_PLACES, &orders->contention, orders->others, &least);
        whole = whole && end == EDF_REPLAY_DONE; /* with the deadline that it has, all are met */
        if (end != EDF_REPLAY_DONE || !(least < orders->best_s[j]))
            continue;
        orders->best_s[j] = least;
        edf_trial_set_deadline(trial, j, least);
        since = 0;
    }
    orders->best_total_s = total_of(orders, orders->best_s);
    return whole && since == n;
}

/* --- one job moved --- */

static int compare_moves(const void *a, const void *b)
{
    const struct move *x = a;
    const struct move *y = b;
    if (x->bound_s != y->bound_s)
        return x->bound_s < y->bound_s ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* The best order so far, into order. */
static void take_best(struct orders *orders)
{
    edf_replay_order(&orders->trial->replay, orders->best_s);
    memcpy(orders->order, orders->trial->replay.by_deadline,
           orders->trial->plan.n_jobs * sizeof *orders->order);
}

static void move_job(uint32_t order[], size_t from, size_t to)
{
    uint32_t j = order[from];
    for (; from < to; from++)
        order[from] = order[from + 1];
    for (; from > to; from--)
        order[from] = order[from - 1];
    order[to] = j;
}

/* Moves that promise something, best first. */
static size_t list_moves(struct orders *orders)
{
    size_t n = orders->trial->plan.n_jobs;
    size_t reach = MOVES_MAX / (2 * n) + 1;
    size_t found = 0;
    for (size_t from = 0; from < n; from++) {
        size_t last = from + reach < n ? from + reach : n - 1;
        for (size_t to = from > reach ? from - reach : 0; to <= last; to++) {
            if (to == from || to + 1 == from || found == MOVES_MAX ||
                edf_trial_is_spent(orders->trial))
                continue;
            move_job(orders->order, from, to);
            double bound = bound_of(orders);
            move_job(orders->order, to, from);
            if (bound < orders->best_total_s)
                orders->moves[found++] = (struct move){bound, (uint32_t)from, (uint32_t)to};
        }
    }
    qsort(orders->moves, found, sizeof *orders->moves, compare_moves);
    return found;
}

static void improve_by_moves(struct orders *orders)
{
    bool better = true;
    while (better && !edf_trial_is_spent(orders->trial)) {
        take_best(orders);
        size_t n = list_moves(orders);
        better = false;
        for (size_t i = 0; i < n && !better && !edf_trial_is_spent(orders->trial); i++) {
            const struct move *move = &orders->moves[i];
            move_job(orders->order, move->from, move->to);
            better =
                bound_of(orders) < orders->best_total_s && try_order(orders) == EDF_REPLAY_DONE;
            move_job(orders->order, move->to, move->from);
        }
    }
}

/* --- all orders --- */

/* Of all orders that begin as far as `at`: no total is lower. */
static double bound_of_rest(const struct orders *orders, size_t at)
{
    const struct edf_trial *trial = orders->trial;
    double total = orders->totals_s[at];
    for (size_t j = 0; j < trial->plan.n_jobs; j++) {
        const struct edf_job *job = &trial->jobs[j];
        double least = fmax(trial->lengths_s[j] * (1 - 1e-12), orders->at_s[at] - job->release_s);
        if (!orders->used[j])
            total += fmax(0, least - trial->rounding_s - job->deadline_s);
    }
    return total;
}

/* Put the next job that promises something at this place; false: none is left. */
static bool branch(struct orders *orders, size_t at)
{
    size_t n = orders->trial->plan.n_jobs;
    while (orders->choice[at] < n) {
        uint32_t j = orders->sorted[orders->choice[at]++];
        if (orders->used[j])
            continue;
        orders->order[at] = j;
        orders->used[j] = true;
        place_by_bound(orders, at);
        orders->trial->replay.steps += 1 + (uint64_t)n / 32;
        if (bound_of_rest(orders, at) < orders->best_total_s)
            return true;
        orders->used[j] = false;
        orders->work_s[orders->release_rank[j]] = 0;
    }
    return false;
}

/* A whole order: its bound is there already, place by place, and is needed again afterwards. */
static enum edf_replay_end try_leaf(struct orders *orders)
{
    (void)bound_of(orders);
    enum edf_replay_end end = try_order(orders);
    (void)bound_of(orders);
    return end;
}

/* Branch and bound. True: no order is better than the best. */
static bool try_all_orders(struct orders *orders)
{
    size_t n = orders->trial->plan.n_jobs;
    memset(orders->used, 0, n * sizeof *orders->used);
    memset(orders->work_s, 0, n * sizeof *orders->work_s);
    orders->choice[0] = 0;
    size_t at = 0;
    for (;;) {
        bool deeper = branch(orders, at);
        if (edf_trial_is_spent(orders->trial))
            return false;
        if (deeper && at + 1 < n) {
            orders->choice[++at] = 0;
            continue;
        }
        if (deeper && try_leaf(orders) == EDF_REPLAY_CUT)
            return false;
        if (!deeper && at-- == 0)
            return true;
        orders->used[orders->order[at]] = false;
        orders->work_s[orders->release_rank[orders->order[at]]] = 0;
    }
}

/* --- all of it --- */

static bool init_orders(struct orders *orders, struct arena *scratch)
{
    size_t n = orders->trial->plan.n_jobs;
    orders->contention.n_jobs = n;
    orders->contention.waited = arena_array(scratch, n, sizeof *orders->contention.waited);
    orders->others = arena_array(scratch, n, sizeof *orders->others);
    orders->best_s = arena_array(scratch, n, sizeof *orders->best_s);
    orders->order = arena_array(scratch, n, sizeof *orders->order);
    orders->deadlines_s = arena_array(scratch, n, sizeof *orders->deadlines_s);
    orders->at_s = arena_array(scratch, n, sizeof *orders->at_s);
    orders->totals_s = arena_array(scratch, n, sizeof *orders->totals_s);
    orders->release_rank = arena_array(scratch, n, sizeof *orders->release_rank);
    orders->work_s = arena_array(scratch, n, sizeof *orders->work_s);
    orders->used = arena_array(scratch, n, sizeof *orders->used);
    orders->choice = arena_array(scratch, n, sizeof *orders->choice);
    orders->sorted = arena_array(scratch, n, sizeof *orders->sorted);
    orders->moves = arena_array(scratch, MOVES_MAX, sizeof *orders->moves);
    if (orders->contention.waited == NULL || orders->others == NULL || orders->best_s == NULL ||
        orders->order == NULL || orders->deadlines_s == NULL || orders->at_s == NULL ||
        orders->totals_s == NULL || orders->release_rank == NULL || orders->work_s == NULL ||
        orders->used == NULL || orders->choice == NULL || orders->sorted == NULL ||
        orders->moves == NULL)
        return false;
    for (size_t rank = 0; rank < n; rank++)
        orders->release_rank[orders->trial->plan.by_release[rank]] = (uint32_t)rank;
    edf_replay_order(&orders->trial->replay, orders->trial->deadlines_s);
    memcpy(orders->sorted, orders->trial->replay.by_deadline, n * sizeof *orders->sorted);
    return true;
}

/* The better of what is known: all raised until none was missed, or one alone. */
static void
start(struct orders *orders, const double raised_deadlines_s[], const struct edf_change_list *alone)
{
    size_t n = orders->trial->plan.n_jobs;
    for (size_t j = 0; j < n; j++)
        orders->best_s[j] = isnan(raised_deadlines_s[j]) ? orders->trial->jobs[j].deadline_s
                                                         : raised_deadlines_s[j];
    orders->best_total_s = total_of(orders, orders->best_s);
    const struct edf_change *best = NULL;
    for (size_t i = 0; i < alone->n; i++)
        if (alone->items[i].later_s < (best == NULL ? orders->best_total_s : best->later_s))
            best = &alone->items[i];
    if (best == NULL)
        return;
    for (size_t j = 0; j < n; j++)
        orders->best_s[j] = j == best->job ? best->deadline_s : orders->trial->jobs[j].deadline_s;
    orders->best_total_s = best->later_s;
}

static void improve(struct orders *orders, struct edf_change_list *list)
{
    struct edf_trial *trial = orders->trial;
    bool many = trial->plan.n_jobs > FEW_JOBS;
    edf_trial_allot(trial, orders->whole, share_first);
    list->irreducible = lower_each(orders, trial->budget);
    double lowered = orders->best_total_s;
    edf_trial_allot(trial, orders->whole, share_moves[many]);
    improve_by_moves(orders);
    edf_trial_allot(trial, orders->whole, share_branches[many]);
    list->exact = try_all_orders(orders);
    if (!list->irreducible || orders->best_total_s != lowered)
        list->irreducible = lower_each(orders, orders->whole);
}

enum pv_code edf_find_later_deadlines(struct edf_trial *trial,
                                      uint64_t budget,
                                      const double raised_deadlines_s[],
                                      const struct edf_change_list *alone,
                                      struct arena *arena,
                                      struct arena *scratch,
                                      struct edf_change_list *list,
                                      struct pv_error *err)
{
    struct orders orders = {.trial = trial, .whole = budget};
    size_t n = trial->plan.n_jobs;
    *list = (struct edf_change_list){.items = arena_array(arena, n, sizeof *list->items)};
    edf_trial_begin(trial, budget);
    if (list->items == NULL || !init_orders(&orders, scratch))
        return pv_no_memory(err);
    start(&orders, raised_deadlines_s, alone);
    improve(&orders, list);
    for (size_t j = 0; j < n; j++)
        if (orders.best_s[j] > trial->jobs[j].deadline_s)
            list->items[list->n++] =
                (struct edf_change){.job = j,
                                    .release_s = trial->jobs[j].release_s,
                                    .deadline_s = orders.best_s[j],
                                    .later_s = orders.best_s[j] - trial->jobs[j].deadline_s};
    list->total_s = orders.best_total_s;
    return PV_OK;
}
