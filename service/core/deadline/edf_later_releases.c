/*
 * Later releases (docs/design.md, "Remedies"). A job that is released later must still end by the
 * same instant, so that it is served in the same order and nobody waits longer for what it makes.
 *
 * Of one job alone, the instants tried are those at which the others are released or end, in the
 * schedule without it: up to its release every schedule is that one. Two releases between which the
 * job starts nothing have the same schedule, if it is served in the same order. Of several jobs: the first late job, in the order they
 * are served, is helped by moving one of those that were given most core time before it ended, to
 * when it is released or ends; the move after which least is missed stays, and so on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/deadline/edf_searches.h"

/* So many jobs, those with most core time, are tried in a step for several jobs. */
enum { BLOCKERS_MAX = 8 };

struct releases {
    struct edf_trial *trial;
    struct edf_contention contention;
    uint32_t *order;
    double *instants_s;
    size_t n_instants;
    double *ends_s;    /* by job, of the schedule that is to be improved */
    double *blocked_s; /* by job: core time started before the late job ended */
};

/* From its absolute deadline the job has this long, released at that instant. */
static double deadline_from(const struct edf_trial *trial, size_t j, double release_s)
{
    return trial->jobs[j].release_s + trial->jobs[j].deadline_s - release_s;
}

static void release_at(struct edf_trial *trial, size_t j, double release_s)
{
    bool asked = release_s == trial->jobs[j].release_s;
    edf_trial_set_release(trial, j, release_s);
    edf_trial_set_deadline(trial, j,
                           asked ? trial->jobs[j].deadline_s : deadline_from(trial, j, release_s));
}

/* It may still end in time, as far as its critical path says. */
static bool has_time(const struct edf_trial *trial, size_t j, double release_s)
{
    double deadline = deadline_from(trial, j, release_s);
    return deadline > 0 && trial->lengths_s[j] * (1 - 1e-12) <= deadline + trial->rounding_s;
}

static void add_change(const struct edf_trial *trial, size_t j, struct edf_change_list *list)
{
    list->items[list->n++] =
        (struct edf_change){.job = j,
                            .release_s = trial->plan.jobs[j].release_s,
                            .deadline_s = trial->deadlines_s[j],
                            .later_s = trial->plan.jobs[j].release_s - trial->jobs[j].release_s};
}

static int compare_instants(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* --- one job --- */

/* Instants to try, ascending. False: the budget was spent. */
static bool take_instants(struct releases *releases, size_t j)
{
    struct edf_trial *trial = releases->trial;
    const struct edf_replay *replay = &trial->replay;
    edf_trial_leave_out(trial, j, true);
    enum edf_replay_end end = edf_trial_run(trial, NULL);
    edf_trial_leave_out(trial, j, false);
    releases->n_instants = 0;
    /* Where somebody is late without it, releases after the miss do not help. */
    double last = end == EDF_REPLAY_MISSED ? replay->now : (double)INFINITY;
    for (size_t k = 0; k < trial->plan.n_jobs; k++) {
        double instants[2] = {trial->plan.jobs[k].release_s, replay->stages_left[k] == 0
                                                                 ? replay->completions_s[k]
                                                                 : (double)INFINITY};
        for (size_t i = 0; k != j && i < 2; i++)
            if (instants[i] > trial->jobs[j].release_s && instants[i] <= last &&
                instants[i] < (double)INFINITY && has_time(trial, j, instants[i]))
                releases->instants_s[releases->n_instants++] = instants[i];
    }
    qsort(releases->instants_s, releases->n_instants, sizeof *releases->instants_s,
          compare_instants);
    return end != EDF_REPLAY_CUT;
}

/* As in the last run: releases break ties of deadlines. */
static bool is_same_order(struct releases *releases)
{
    struct edf_replay *replay = &releases->trial->replay;
    size_t bytes = releases->trial->plan.n_jobs * sizeof *releases->order;
    memcpy(releases->order, replay->by_deadline, bytes);
    edf_replay_order(replay, releases->trial->deadlines_s);
    return memcmp(releases->order, replay->by_deadline, bytes) == 0;
}

/* The job released at the first instant at which that is enough. */
static enum edf_replay_end release_alone(struct releases *releases, size_t j)
{
    struct edf_trial *trial = releases->trial;
    if (!take_instants(releases, j))
        return EDF_REPLAY_CUT;
    double idle_until = -INFINITY; /* released by then, it starts nothing earlier than that */
    for (size_t i = 0; i < releases->n_instants; i++) {
        double at = releases->instants_s[i];
        if (at == trial->plan.jobs[j].release_s)
            continue;
        release_at(trial, j, at);
        if (at <= idle_until && is_same_order(releases))
            continue;
        idle_until = -INFINITY;
        if (!edf_trial_fits(trial))
            continue;
        edf_contention_begin(&releases->contention, j);
        enum edf_replay_end end = edf_trial_run(trial, &releases->contention.watch);
        if (end != EDF_REPLAY_MISSED)
            return end;
        if (trial->plan.memory == NULL) /* which it would hold before it starts anything */
            idle_until = fmin(releases->contention.first_start_s, trial->replay.now);
    }
    return EDF_REPLAY_MISSED;
}

static bool init_releases(struct releases *releases, struct arena *scratch)
{
    size_t n = releases->trial->plan.n_jobs;
    releases->contention.n_jobs = n;
    releases->contention.waited = arena_array(scratch, n, sizeof *releases->contention.waited);
    releases->order = arena_array(scratch, n, sizeof *releases->order);
    releases->instants_s = arena_array(scratch, 2 * n, sizeof *releases->instants_s);
    releases->ends_s = arena_array(scratch, n, sizeof *releases->ends_s);
    releases->blocked_s = arena_array(scratch, n, sizeof *releases->blocked_s);
    return releases->contention.waited != NULL && releases->order != NULL &&
           releases->instants_s != NULL && releases->ends_s != NULL && releases->blocked_s != NULL;
}

enum pv_code edf_find_one_later_release(struct edf_trial *trial,
                                        uint64_t budget,
                                        struct arena *arena,
                                        struct arena *scratch,
                                        struct edf_change_list *list,
                                        struct pv_error *err)
{
    struct releases releases = {.trial = trial};
    size_t n = trial->plan.n_jobs;
    bool *hopeless = arena_array(scratch, n, sizeof *hopeless);
    *list = (struct edf_change_list){.exact = true, .irreducible = true};
    list->items = arena_array(arena, n, sizeof *list->items);
    edf_trial_begin(trial, budget);
    if (hopeless == NULL || list->items == NULL || !init_releases(&releases, scratch))
        return pv_no_memory(err);
    edf_trial_find_hopeless(trial, hopeless);
    for (size_t j = 0; j < n; j++) {
        if (hopeless[j])
            continue;
        edf_trial_allot_part(trial, budget, n - j);
        enum edf_replay_end end = release_alone(&releases, j);
        list->exact = list->exact && end != EDF_REPLAY_CUT;
        if (end == EDF_REPLAY_DONE)
            add_change(trial, j, list);
        release_at(trial, j, trial->jobs[j].release_s);
    }
    return PV_OK;
}

/* --- several jobs --- */

/* Core time of each job that was started before one job ended. */
struct blocking {
    struct edf_watch watch;
    double *blocked_s;
    uint32_t late;
};

static void
blocking_started(struct edf_watch *watch, const struct edf_replay *replay, uint32_t s, size_t n)
{
    struct blocking *blocking = (struct blocking *)watch;
    const struct edf_plan_stage *stage = &replay->plan->stages[s];
    if (stage->job != blocking->late && replay->stages_left[blocking->late] > 0)
        blocking->blocked_s[stage->job] += stage->work_s * (double)n / (double)stage->tasks;
}

struct missed {
    size_t jobs;
    double late_s; /* all together */
};

static bool is_less(const struct missed *a, const struct missed *b)
{
    return a->jobs != b->jobs ? a->jobs < b->jobs : a->late_s < b->late_s;
}

/* Replay to the end. False: the budget was spent. */
static bool measure(struct edf_trial *trial, struct edf_watch *watch, struct missed *missed)
{
    *missed = (struct missed){0};
    if (edf_trial_run_whole(trial, watch) != EDF_REPLAY_DONE)
        return false;
    for (size_t j = 0; j < trial->plan.n_jobs; j++) {
        double late = edf_trial_elapsed_s(trial, j) - trial->deadlines_s[j];
        missed->jobs += late > 0;
        missed->late_s += late > 0 ? late : 0;
    }
    return true;
}

/* The first late job as they are served, of the last run; n_jobs: none is. */
static size_t first_late(const struct edf_trial *trial)
{
    for (size_t at = 0; at < trial->plan.n_jobs; at++) {
        uint32_t j = trial->replay.by_deadline[at];
        if (edf_trial_elapsed_s(trial, j) > trial->deadlines_s[j])
            return j;
    }
    return trial->plan.n_jobs;
}

/* The job with most core time that is left among them, which is then taken off. */
static size_t next_blocker(struct releases *releases)
{
    size_t n = releases->trial->plan.n_jobs;
    size_t most = n;
    for (size_t j = 0; j < n; j++)
        if (releases->blocked_s[j] > 0 &&
            (most == n || releases->blocked_s[j] > releases->blocked_s[most]))
            most = j;
    if (most < n)
        releases->blocked_s[most] = 0;
    return most;
}

/* The best move of one job that helps `late`; it is made. False: there is none, or the budget is
 * spent. */
static bool move_blocker(struct releases *releases, size_t late, struct missed *missed)
{
    struct edf_trial *trial = releases->trial;
    size_t n = trial->plan.n_jobs;
    const double to[] = {trial->plan.jobs[late].release_s, releases->ends_s[late]};
    size_t best = n;
    double best_at = 0;
    for (size_t i = 0; i < BLOCKERS_MAX; i++) {
        size_t j = next_blocker(releases);
        for (size_t k = 0; j < n && k < 2; k++) {
            double before = trial->plan.jobs[j].release_s;
            struct missed after;
            if (to[k] <= before || !has_time(trial, j, to[k]))
                continue;
            release_at(trial, j, to[k]);
            if (measure(trial, NULL, &after) && is_less(&after, missed)) {
                *missed = after;
                best = j;
                best_at = to[k];
            }
            release_at(trial, j, before);
        }
    }
    if (best < n)
        release_at(trial, best, best_at);
    return best < n;
}

/* True: nobody is late any more. */
static bool move_until_met(struct releases *releases)
{
    struct edf_trial *trial = releases->trial;
    size_t n = trial->plan.n_jobs;
    struct missed missed;
    struct blocking blocking = {.watch = {.started = blocking_started},
                                .blocked_s = releases->blocked_s};
    if (!measure(trial, NULL, &missed))
        return false;
    while (missed.jobs > 0) {
        size_t late = first_late(trial);
        if (late == n)
            return false;
        for (size_t j = 0; j < n; j++)
            releases->ends_s[j] = trial->replay.completions_s[j];
        memset(releases->blocked_s, 0, n * sizeof *releases->blocked_s);
        blocking.late = (uint32_t)late;
        if (!measure(trial, &blocking.watch, &missed) || !move_blocker(releases, late, &missed) ||
            !measure(trial, NULL, &missed))
            return false;
    }
    return true;
}

/* Those whose own release does as well keep it. True: none of the others may. */
static bool move_back(struct releases *releases)
{
    struct edf_trial *trial = releases->trial;
    size_t n = trial->plan.n_jobs;
    for (size_t j = 0, since = 0; since < n; j = (j + 1) % n, since++) {
        double at = trial->plan.jobs[j].release_s;
        if (at == trial->jobs[j].release_s)
            continue;
        release_at(trial, j, trial->jobs[j].release_s);
        enum edf_replay_end end = edf_trial_run(trial, NULL);
        if (end == EDF_REPLAY_DONE)
            since = 0;
        else
            release_at(trial, j, at);
        if (end == EDF_REPLAY_CUT)
            return false;
    }
    return true;
}

enum pv_code edf_find_later_releases(struct edf_trial *trial,
                                     uint64_t budget,
                                     struct arena *arena,
                                     struct arena *scratch,
                                     struct edf_change_list *list,
                                     struct pv_error *err)
{
    struct releases releases = {.trial = trial};
    size_t n = trial->plan.n_jobs;
    *list = (struct edf_change_list){.items = arena_array(arena, n, sizeof *list->items)};
    edf_trial_begin(trial, budget);
    if (list->items == NULL || !init_releases(&releases, scratch))
        return pv_no_memory(err);
    edf_trial_allot(trial, budget, 0.8);
    if (!move_until_met(&releases))
        return PV_OK;
    edf_trial_allot(trial, budget, 1);
    list->irreducible = move_back(&releases);
    for (size_t j = 0; j < n; j++)
        if (trial->plan.jobs[j].release_s != trial->jobs[j].release_s) {
            add_change(trial, j, list);
            list->total_s += list->items[list->n - 1].later_s;
        }
    return PV_OK;
}
