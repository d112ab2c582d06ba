/*
 * Leaving out the fewest jobs (docs/design.md, "Remedies").
 *
 * A replay that ends at a late job says which jobs one of must go, whatever else goes: those that
 * held a core while another job had tasks waiting, those released and unfinished at the miss, and
 * those released that have memory, for which another may have waited.
 * Without any other, all goes as before up to the miss. So sets are tried by increasing size, each
 * of them grown by such jobs only, and only where the work within every span of time could fit
 * after the jobs that may still go. Where the budget ends first, jobs go until nobody is late, and
 * come back one at a time as long as nobody is.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/deadline/edf_searches.h"

/* Share of the budget for the search that proves; the rest is for the one that only finds. */
static const double share_exact = 0.5;

/* More spans are not looked at in one bound. */
enum { SPANS_MAX = 1 << 14 };

/* The jobs that held a core while another job waited. */
struct holders {
    struct edf_watch watch;
    size_t *running;    /* tasks by job */
    bool *held;         /* by job */
    uint32_t *unmarked; /* jobs that run and are not held; some may run no more */
    size_t n_unmarked;
    bool *listed; /* by job: among the unmarked */
    size_t n_jobs;
};

/* One job on the way to a set. */
struct level {
    uint32_t *candidates;
    size_t n;
    size_t at; /* candidates before are kept in all that follows; that one is out */
};

struct leaving {
    struct edf_trial *trial;
    struct holders holders;
    bool *kept; /* by job: stays in the sets under way */
    struct level *levels;
    uint32_t *candidates; /* n for each level */
    double *largest;      /* of the work in a span */
    size_t deepest;       /* levels there is room for */
};

/* --- who held cores --- */

static void
holders_started(struct edf_watch *watch, const struct edf_replay *replay, uint32_t s, size_t n)
{
    struct holders *holders = (struct holders *)watch;
    uint32_t j = replay->plan->stages[s].job;
    holders->running[j] += n;
    if (holders->held[j] || holders->listed[j])
        return;
    holders->listed[j] = true;
    holders->unmarked[holders->n_unmarked++] = j;
}

static void
holders_ended(struct edf_watch *watch, const struct edf_replay *replay, uint32_t s, size_t n)
{
    struct holders *holders = (struct holders *)watch;
    holders->running[replay->plan->stages[s].job] -= n;
}

/* The only job that waits; n_jobs: several do. */
static size_t only_waiting(const struct edf_replay *replay)
{
    const struct edf_plan_stage *stages = replay->plan->stages;
    uint32_t first = stages[(uint32_t)replay->ready.items[0].value].job;
    for (size_t i = 1; i < replay->ready.n; i++)
        if (stages[(uint32_t)replay->ready.items[i].value].job != first)
            return replay->plan->n_jobs;
    return first;
}

static void holders_settled(struct edf_watch *watch, const struct edf_replay *replay)
{
    struct holders *holders = (struct holders *)watch;
    if (replay->ready.n == 0 || holders->n_unmarked == 0)
        return;
    size_t only = only_waiting(replay);
    size_t stay = 0;
    for (size_t i = 0; i < holders->n_unmarked; i++) {
        uint32_t j = holders->unmarked[i];
        if (j == only && holders->running[j] > 0) {
            holders->unmarked[stay++] = j;
            continue;
        }
        holders->listed[j] = false;
        holders->held[j] = holders->running[j] > 0;
    }
    holders->n_unmarked = stay;
}

static void holders_begin(struct holders *holders)
{
    size_t n = holders->n_jobs;
    holders->watch = (struct edf_watch){
        .started = holders_started, .ended = holders_ended, .settled = holders_settled};
    holders->n_unmarked = 0;
    memset(holders->running, 0, n * sizeof *holders->running);
    memset(holders->held, 0, n * sizeof *holders->held);
    memset(holders->listed, 0, n * sizeof *holders->listed);
}

static enum edf_replay_end run(struct leaving *leaving)
{
    holders_begin(&leaving->holders);
    return edf_trial_run(leaving->trial, &leaving->holders.watch);
}

/* One of the jobs for which this holds must go, after a run that ended at a late job. */
static bool may_help(const struct leaving *leaving, size_t j)
{
    const struct edf_trial *trial = leaving->trial;
    bool released = trial->plan.jobs[j].release_s <= trial->replay.now;
    bool unfinished = trial->replay.stages_left[j] > 0 && released;
    bool held_memory = trial->plan.jobs[j].memory_bytes > 0 && released;
    return !trial->left_out[j] &&
           (leaving->holders.held[j] || unfinished || held_memory || edf_trial_is_late(trial, j));
}

/* --- a bound --- */

static int compare_falling(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Work between two instants that must go, beyond what the cores can do there. */
static double excess_of(const struct edf_trial *trial, double work_s, double from, double to)
{
    double length = (to - from) * (1 + 1e-12) + trial->rounding_s;
    return work_s * (1 - 1e-12) - trial->rounding_s - (double)trial->cores * length;
}

/* So many jobs of the span, the largest first, whose work makes up for the excess. */
static size_t count_for(double largest[], size_t n, double excess)
{
    size_t count = 0;
    qsort(largest, n, sizeof *largest, compare_falling);
    for (; count < n && excess > 0; count++)
        excess -= largest[count];
    return count;
}

/* At least so many more jobs must go. n_jobs + 1: none of those that may go is enough. */
static size_t bound_from_below(struct leaving *leaving)
{
    struct edf_trial *trial = leaving->trial;
    size_t n = trial->plan.n_jobs;
    size_t most = 0;
    size_t step = n / (SPANS_MAX / n + 1) + 1;
    for (size_t from = 0; from < n; from += step) {
        double opens = trial->plan.jobs[trial->plan.by_release[from]].release_s;
        double work = 0;
        double worst = 0;
        double closes = -INFINITY;
        for (size_t at = 0; at < n; at++) {
            uint32_t j = trial->replay.by_deadline[at];
            double end = trial->jobs[j].release_s + trial->jobs[j].deadline_s;
            if (trial->left_out[j] || trial->jobs[j].release_s < opens)
                continue;
            work += trial->work_s[j];
            double excess = excess_of(trial, work, opens, end);
            if (excess > worst) {
                worst = excess;
                closes = end;
            }
        }
        size_t m = 0;
        for (size_t j = 0; worst > 0 && j < n; j++)
            if (!trial->left_out[j] && !leaving->kept[j] && trial->jobs[j].release_s >= opens &&
                trial->jobs[j].release_s + trial->jobs[j].deadline_s <= closes)
                leaving->largest[m++] = trial->work_s[j];
        double enough = 0;
        for (size_t i = 0; i < m; i++)
            enough += leaving->largest[i];
        if (worst > enough * (1 + 1e-12) + trial->rounding_s)
            return n + 1;
        size_t count = count_for(leaving->largest, m, worst);
        most = count > most ? count : most;
    }
    trial->replay.steps += 1 + (uint64_t)n * n / 64;
    return most;
}

/* --- by increasing size --- */

/* The candidates of a level, after a run with what is out so far. */
static void open_level(struct leaving *leaving, size_t depth)
{
    size_t n = leaving->trial->plan.n_jobs;
    struct level *level = &leaving->levels[depth];
    *level = (struct level){.candidates = &leaving->candidates[depth * n]};
    for (size_t j = 0; j < n; j++)
        if (!leaving->kept[j] && may_help(leaving, j))
            level->candidates[level->n++] = (uint32_t)j;
}

/* The next candidate of the level goes; the one before it comes back, and is kept from now on. */
static bool next_of(struct leaving *leaving, struct level *level, bool first)
{
    if (!first) {
        uint32_t before = level->candidates[level->at++];
        edf_trial_leave_out(leaving->trial, before, false);
        leaving->kept[before] = true;
    }
    if (level->at < level->n) {
        edf_trial_leave_out(leaving->trial, level->candidates[level->at], true);
        return true;
    }
    for (size_t i = 0; i < level->n; i++)
        leaving->kept[level->candidates[i]] = false;
    return false;
}

/*
 * All sets of `size` jobs that may do. EDF_REPLAY_DONE: with those that are left out now, all are
 * met.
 */
static enum edf_replay_end try_size(struct leaving *leaving, size_t size)
{
    size_t depth = 0;
    bool first = true;
    enum edf_replay_end end = run(leaving);
    if (end != EDF_REPLAY_MISSED)
        return end;
    open_level(leaving, 0);
    for (;;) {
        bool there = next_of(leaving, &leaving->levels[depth], first);
        first = false;
        if (!there && depth-- == 0)
            return EDF_REPLAY_MISSED;
        if (!there || bound_from_below(leaving) > size - depth - 1)
            continue;
        end = run(leaving);
        if (end != EDF_REPLAY_MISSED)
            return end;
        if (depth + 1 == size)
            continue;
        open_level(leaving, ++depth);
        first = true;
    }
}

static void keep_all(struct leaving *leaving)
{
    size_t n = leaving->trial->plan.n_jobs;
    memset(leaving->kept, 0, n * sizeof *leaving->kept);
    for (size_t j = 0; j < n; j++)
        edf_trial_leave_out(leaving->trial, j, false);
}

/* The fewest jobs, left out now. False: the budget was spent before. */
static bool find_fewest(struct leaving *leaving)
{
    keep_all(leaving);
    size_t size = bound_from_below(leaving);
    for (size = size == 0 ? 1 : size; size <= leaving->deepest; size++) {
        enum edf_replay_end end = try_size(leaving, size);
        if (end != EDF_REPLAY_MISSED)
            return end == EDF_REPLAY_DONE;
        keep_all(leaving);
    }
    return false;
}

/* --- without a proof --- */

/* Who goes next. */
enum going {
    GOING_LATE,    /* the first late job, in the order they are served */
    GOING_LARGEST, /* the one with most work of those that may help and are served no later */
    GOING_WAYS
};

static size_t choose_going(const struct leaving *leaving, enum going way)
{
    const struct edf_trial *trial = leaving->trial;
    size_t chosen = trial->plan.n_jobs;
    for (size_t at = 0; at < trial->plan.n_jobs; at++) {
        uint32_t j = trial->replay.by_deadline[at];
        if (trial->left_out[j])
            continue;
        bool late = edf_trial_is_late(trial, j);
        bool larger = chosen == trial->plan.n_jobs || trial->work_s[j] > trial->work_s[chosen];
        if (way == GOING_LATE ? late : may_help(leaving, j) && larger)
            chosen = j;
        if (late)
            return chosen;
    }
    return chosen;
}

/* Let jobs go until nobody is late. False: the budget was spent before. */
static bool let_go(struct leaving *leaving, enum going way)
{
    struct edf_trial *trial = leaving->trial;
    enum edf_replay_end end;
    while ((end = run(leaving)) == EDF_REPLAY_MISSED) {
        size_t j = choose_going(leaving, way);
        assert(j < trial->plan.n_jobs);
        edf_trial_leave_out(trial, j, true);
    }
    return end == EDF_REPLAY_DONE;
}

/* Bring back one at a time, those with little work first. True: none can come back alone. */
static bool bring_back(struct leaving *leaving)
{
    struct edf_trial *trial = leaving->trial;
    size_t n = trial->plan.n_jobs;
    memset(leaving->kept, 0, n * sizeof *leaving->kept); /* here: could not come back */
    for (;;) {
        size_t chosen = n;
        for (size_t j = 0; j < n; j++)
            if (trial->left_out[j] && !leaving->kept[j] &&
                (chosen == n || trial->work_s[j] < trial->work_s[chosen]))
                chosen = j;
        if (chosen == n)
            return true;
        edf_trial_leave_out(trial, chosen, false);
        enum edf_replay_end end = run(leaving);
        if (end != EDF_REPLAY_DONE)
            edf_trial_leave_out(trial, chosen, true);
        if (end == EDF_REPLAY_CUT)
            return false;
        if (end == EDF_REPLAY_DONE) /* who could not come back before may now */
            memset(leaving->kept, 0, n * sizeof *leaving->kept);
        else
            leaving->kept[chosen] = true;
    }
}

static void take_set(const struct edf_trial *trial, struct edf_left_out *found)
{
    found->n = 0;
    for (size_t j = 0; j < trial->plan.n_jobs; j++)
        if (trial->left_out[j])
            found->jobs[found->n++] = j;
}

static size_t count_left_out(const struct edf_trial *trial)
{
    size_t count = 0;
    for (size_t j = 0; j < trial->plan.n_jobs; j++)
        count += trial->left_out[j];
    return count;
}

/* The smallest set of those that each way leads to. */
static void find_few(struct leaving *leaving, uint64_t budget, struct edf_left_out *found)
{
    for (size_t way = 0; way < GOING_WAYS; way++) {
        edf_trial_allot(leaving->trial, budget, way + 1 < GOING_WAYS ? 0.6 : 1);
        keep_all(leaving);
        if (!let_go(leaving, (enum going)way))
            continue;
        bool irreducible = bring_back(leaving);
        size_t count = count_left_out(leaving->trial);
        if (found->n > 0 && (count > found->n || (count == found->n && !irreducible)))
            continue;
        take_set(leaving->trial, found);
        found->irreducible = irreducible;
    }
}

/* --- all of it --- */

static bool init_leaving(struct leaving *leaving, struct arena *scratch)
{
    size_t n = leaving->trial->plan.n_jobs;
    struct holders *holders = &leaving->holders;
    /* Deeper sets are out of reach of any budget. */
    leaving->deepest = n < 64 ? n : 64;
    holders->n_jobs = n;
    holders->running = arena_array(scratch, n, sizeof *holders->running);
    holders->held = arena_array(scratch, n, sizeof *holders->held);
    holders->unmarked = arena_array(scratch, n, sizeof *holders->unmarked);
    holders->listed = arena_array(scratch, n, sizeof *holders->listed);
    leaving->kept = arena_calloc(scratch, n, sizeof *leaving->kept);
    leaving->levels = arena_array(scratch, leaving->deepest, sizeof *leaving->levels);
    leaving->candidates = arena_array(scratch, leaving->deepest * n, sizeof *leaving->candidates);
    leaving->largest = arena_array(scratch, n, sizeof *leaving->largest);
    return holders->running != NULL && holders->held != NULL && holders->unmarked != NULL &&
           holders->listed != NULL && leaving->kept != NULL && leaving->levels != NULL &&
           leaving->candidates != NULL && leaving->largest != NULL;
}

enum pv_code edf_find_left_out(struct edf_trial *trial,
                               uint64_t budget,
                               struct arena *arena,
                               struct arena *scratch,
                               struct edf_left_out *found,
                               struct pv_error *err)
{
    struct leaving leaving = {.trial = trial};
    size_t n = trial->plan.n_jobs;
    *found = (struct edf_left_out){.jobs = arena_array(arena, n, sizeof *found->jobs)};
    edf_trial_begin(trial, budget);
    if (found->jobs == NULL || !init_leaving(&leaving, scratch))
        return pv_no_memory(err);
    edf_replay_order(&trial->replay, trial->deadlines_s);
    edf_trial_allot(trial, budget, share_exact);
    found->exact = found->irreducible = find_fewest(&leaving);
    if (found->exact)
        take_set(trial, found);
    else
        find_few(&leaving, budget, found);
    return PV_OK;
}
