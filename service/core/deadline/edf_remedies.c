/*
 * What would make an infeasible set of jobs feasible (docs/design.md, "Remedies").
 *
 * More cores. The schedule is not monotone in K (R. L. Graham, "Bounds on multiprocessing timing
 * anomalies", SIAM J. Appl. Math. 17, 1969), so K is tried upwards from a bound no schedule can
 * beat: the work that has to be done within a window of time, stage by stage, where critical paths
 * narrow the windows. A K is given up at the first job that is known to be late. Where even the
 * critical paths fit, K = number of tasks meets all deadlines, unless jobs wait for memory: from there
 * on the schedule stays the same, so the search ends.
 *
 * Later deadlines. Every missed deadline is raised to its job's execution time; since that changes
 * who is served first, the plan is replayed until all are met.
 */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/deadline/clairvoyant_edf_internal.h"

/* Work that can only be done between two instants. */
struct window {
    double opens_s;
    double closes_s;
    double work_s;
};

/* Above this many pairs of (opening, window) openings are sampled: the bound gets weaker, not
 * wrong. */
enum { WINDOW_PAIRS_MAX = 1 << 20, WINDOWS_BY_STAGE_MAX = 1024 };

struct search {
    const struct edf_job *jobs;
    const struct edf_plan *plan;
    struct arena *scratch;
    double *deadlines_s;     /* by job, as raised so far */
    double *completions_s;   /* by job: of the critical paths; of the last whole replay */
    uint32_t *order;         /* jobs as the last whole replay served them */
    double *starts_s;        /* earliest, by stage */
    double *latest_starts_s; /* by stage: beyond it the job is late for certain */
    double *tails_s;         /* from the start of a stage to the end of its job, by stage */
    struct window *windows;
    size_t n_windows;
    double rounding_s; /* no sum of a replay is further from the truth than this */
};

/* --- a bound from below --- */

/* Longest way from the start of each stage, after its delay, to the end of its job. */
static void measure_tails(struct search *search)
{
    const struct edf_plan *plan = search->plan;
    for (size_t at = plan->n_stages; at-- > 0;) {
        uint32_t s = plan->topological[at];
        const struct edf_plan_stage *stage = &plan->stages[s];
        double after = 0;
        for (size_t c = stage[0].first_child; c < stage[1].first_child; c++)
            after = fmax(after, plan->stages[plan->children[c]].delay_s +
                                    search->tails_s[plan->children[c]]);
        search->tails_s[s] = after + stage->longest_s;
    }
}

static double deadline_at(const struct search *search, size_t j)
{
    return search->jobs[j].release_s + search->jobs[j].deadline_s;
}

/*
 * Bounds are computed in real numbers, replays in doubles: each of at most T + S additions on the
 * way to an instant t is off by at most half a unit in the last place of t.
 */
static double rounding_of(const struct search *search)
{
    double largest = 0;
    for (size_t j = 0; j < search->plan->n_jobs; j++)
        largest =
            fmax(largest, fmax(fabs(search->jobs[j].release_s), fabs(deadline_at(search, j))));
    return largest * DBL_EPSILON *
           ((double)search->plan->tasks + (double)search->plan->n_stages + 8);
}

static void take_stage_windows(struct search *search)
{
    const struct edf_plan *plan = search->plan;
    for (size_t s = 0; s < plan->n_stages; s++) {
        const struct edf_plan_stage *stage = &plan->stages[s];
        double after = search->tails_s[s] - stage->longest_s;
        search->windows[s] = (struct window){
            search->starts_s[s], deadline_at(search, stage->job) - after, stage->work_s};
    }
    search->n_windows = plan->n_stages;
}

static void take_job_windows(struct search *search)
{
    const struct edf_plan *plan = search->plan;
    for (size_t j = 0; j < plan->n_jobs; j++)
        search->windows[j] = (struct window){search->jobs[j].release_s, deadline_at(search, j), 0};
    for (size_t s = 0; s < plan->n_stages; s++)
        search->windows[plan->stages[s].job].work_s += plan->stages[s].work_s;
    search->n_windows = plan->n_jobs;
}

static int compare_closing(const void *a, const void *b)
{
    const struct window *x = a;
    const struct window *y = b;
    return (x->closes_s > y->closes_s) - (x->closes_s < y->closes_s);
}

/* Least K that can do `work_s` within `length_s`. */
static double cores_for(const struct search *search, double work_s, double length_s)
{
    double work = work_s * (1 - 1e-12) - search->rounding_s;
    double length = length_s * (1 + 1e-12) + search->rounding_s;
    return work > 0 && length > 0 ? ceil(work / length) : 0;
}

/* The densest of all windows [an opening, a closing]. */
static double bound_by_work(struct search *search)
{
    size_t n = search->n_windows;
    double cores = 1;
    qsort(search->windows, n, sizeof *search->windows, compare_closing);
    size_t step = n / (WINDOW_PAIRS_MAX / n + 1) + 1;
    for (size_t from = 0; from < n; from += step) {
        double opens = search->windows[from].opens_s;
        double work = 0;
        for (size_t i = 0; i < n; i++) {
            const struct window *window = &search->windows[i];
            if (window->opens_s < opens)
                continue;
            work += window->work_s;
            cores = fmax(cores, cores_for(search, work, window->closes_s - opens));
        }
    }
    return cores;
}

/* A core runs only so many of a stage's tasks one after another before the stage must be over. */
static double bound_by_rounds(const struct search *search)
{
    const struct edf_plan *plan = search->plan;
    double cores = 1;
    for (size_t s = 0; s < plan->n_stages; s++) {
        const struct edf_plan_stage *stage = &plan->stages[s];
        if (stage->shortest_s <= 0)
            continue;
        double after = search->tails_s[s] - stage->longest_s;
        double length = deadline_at(search, stage->job) - after - search->starts_s[s];
        double rounds =
            floor((length * (1 + 1e-12) + search->rounding_s) / (stage->shortest_s * (1 - 1e-12)));
        if (rounds >= 1)
            cores = fmax(cores, ceil((double)stage->tasks / rounds));
    }
    return cores;
}

static size_t bound_from_below(struct search *search)
{
    if (search->plan->n_stages <= WINDOWS_BY_STAGE_MAX)
        take_stage_windows(search);
    else
        take_job_windows(search);
    double bound = fmax(bound_by_work(search), bound_by_rounds(search));
    double most = (double)search->plan->tasks;
    return bound < most ? (size_t)bound : search->plan->tasks;
}

/* --- more cores --- */

/* The first job that is late with a core for every task, or n_jobs. */
static size_t find_too_long(const struct search *search)
{
    size_t j = 0;
    while (
        j < search->plan->n_jobs &&
        edf_is_met(search->completions_s[j], search->jobs[j].release_s, search->jobs[j].deadline_s))
        j++;
    return j;
}

static void measure_latest_starts(struct search *search)
{
    for (size_t s = 0; s < search->plan->n_stages; s++)
        search->latest_starts_s[s] = deadline_at(search, search->plan->stages[s].job) -
                                     search->tails_s[s] * (1 - 1e-12) + search->rounding_s;
}

/* Working memory for replays on up to `cores` cores, in place of what stood behind the mark. */
static enum pv_code edf_remedies_make_room(struct search *search,
                                           struct arena_mark mark,
                                           size_t cores,
                                           struct edf_replay *replay,
                                           struct pv_error *err)
{
    uint64_t steps = replay->steps;
    arena_rewind(search->scratch, mark);
    if (!edf_replay_init(replay, search->plan, cores, false, search->scratch))
        return pv_no_memory(err);
    replay->steps = steps;
    replay->latest_starts_s = search->latest_starts_s;
    return PV_OK;
}

/* Try K = first, first + 1, ... until all deadlines are met or the budget is spent. */
static enum pv_code try_upwards(struct search *search,
                                size_t first,
                                uint64_t budget,
                                struct edf_remedies *remedies,
                                struct pv_error *err)
{
    struct arena_mark mark = arena_mark(search->scratch);
    struct edf_replay replay = {0};
    size_t room = 0;
    for (size_t cores = first;; cores++) {
        if (cores > room) {
            room = cores > SIZE_MAX / 2 ? cores : cores * 2;
            PV_TRY(edf_remedies_make_room(search, mark, room, &replay, err));
        }
        enum edf_replay_end end =
            edf_replay_run(&replay, search->deadlines_s, cores, true, budget, NULL);
        if (end == EDF_REPLAY_MISSED && cores < search->plan->tasks)
            continue;
        if (end == EDF_REPLAY_MISSED) /* for want of memory: more cores change nothing any more */
            return PV_OK;
        remedies->exact = end == EDF_REPLAY_DONE;
        remedies->has_min_total_cores = end == EDF_REPLAY_DONE;
        remedies->min_total_cores = end == EDF_REPLAY_DONE ? cores : 0;
        return PV_OK;
    }
}

/* With the most cores every job is then launched, and ends, as early as with any number: where that
 * is too late there is nothing to try. By deadline, one that comes later may be overtaken. */
static bool is_first_come(const struct edf_plan *plan)
{
    return plan->memory != NULL && plan->memory->order == EDF_FIRST_COME;
}

static enum pv_code find_cores(struct search *search,
                               uint64_t budget,
                               struct edf_remedies *remedies,
                               struct pv_error *err)
{
    edf_plan_ideal(search->plan, search->starts_s, search->completions_s);
    remedies->too_long = find_too_long(search);
    if (remedies->too_long < search->plan->n_jobs) {
        remedies->critical_path_s =
            search->completions_s[remedies->too_long] - search->jobs[remedies->too_long].release_s;
        return PV_OK;
    }
    search->rounding_s = rounding_of(search);
    measure_tails(search);
    measure_latest_starts(search);
    size_t bound = bound_from_below(search);
    if (is_first_come(search->plan)) {
        size_t most = search->plan->tasks == 0 ? 1 : search->plan->tasks;
        PV_TRY(try_upwards(search, most, budget, remedies, err));
        if (!remedies->has_min_total_cores)
            return PV_OK;
    }
    return try_upwards(search, bound == 0 ? 1 : bound, budget, remedies, err);
}

/* --- later deadlines --- */

static void keep_replay(struct search *search, const struct edf_replay *replay)
{
    for (size_t j = 0; j < search->plan->n_jobs; j++) {
        search->completions_s[j] = replay->completions_s[j];
        search->order[j] = replay->by_deadline[j];
    }
}

/* True when there was something to raise. */
static bool raise_missed(struct search *search)
{
    bool raised = false;
    for (size_t j = 0; j < search->plan->n_jobs; j++) {
        double release = search->jobs[j].release_s;
        if (edf_is_met(search->completions_s[j], release, search->deadlines_s[j]))
            continue;
        search->deadlines_s[j] = search->completions_s[j] - release;
        raised = true;
    }
    return raised;
}

/* The least deadline of job j whose absolute deadline lies behind `before`. */
static double deadline_behind(const struct search *search, size_t j, double before)
{
    double release = search->jobs[j].release_s;
    double at = nextafter(before, INFINITY);
    while (release + (at - release) <= before)
        at = nextafter(at, INFINITY);
    return at - release;
}

/*
 * Where the budget ends before the raising settles: deadlines under which jobs are served in the
 * order of the last whole replay, so that its completions stand, and which these completions meet.
 */
static void raise_in_order(struct search *search)
{
    double before = -INFINITY;
    for (size_t at = 0; at < search->plan->n_jobs; at++) {
        uint32_t j = search->order[at];
        double release = search->jobs[j].release_s;
        double deadline = fmax(search->deadlines_s[j], search->completions_s[j] - release);
        if (release + deadline <= before)
            deadline = deadline_behind(search, j, before);
        search->deadlines_s[j] = deadline;
        before = release + deadline;
    }
}

/* The deadlines as they are now have the jobs served as in the last whole replay. */
static bool is_same_order(const struct search *search, struct edf_replay *replay)
{
    edf_replay_order(replay, search->deadlines_s);
    for (size_t j = 0; j < search->plan->n_jobs; j++)
        if (replay->by_deadline[j] != search->order[j])
            return false;
    return true;
}

static enum pv_code find_deadlines(struct search *search,
                                   size_t cores,
                                   uint64_t budget,
                                   struct edf_remedies *remedies,
                                   struct pv_error *err)
{
    struct edf_replay replay;
    if (!edf_replay_init(&replay, search->plan, cores, false, search->scratch))
        return pv_no_memory(err);
    /* The first replay is the schedule that was asked about; the budget is for the others. */
    enum edf_replay_end end =
        edf_replay_run(&replay, search->deadlines_s, cores, false, UINT64_MAX, NULL);
    replay.steps = 0;
    while (end == EDF_REPLAY_DONE) {
        keep_replay(search, &replay);
        if (!raise_missed(search) || is_same_order(search, &replay))
            break;
        end = edf_replay_run(&replay, search->deadlines_s, cores, false, budget, NULL);
    }
    if (end != EDF_REPLAY_DONE) {
        raise_in_order(search);
        remedies->exact = false;
    }
    return PV_OK;
}

/* --- the public call --- */

static bool init_search(struct search *search)
{
    const struct edf_plan *plan = search->plan;
    struct arena *scratch = search->scratch;
    size_t windows = plan->n_stages <= WINDOWS_BY_STAGE_MAX ? plan->n_stages : plan->n_jobs;
    search->deadlines_s = arena_array(scratch, plan->n_jobs, sizeof *search->deadlines_s);
    search->completions_s = arena_array(scratch, plan->n_jobs, sizeof *search->completions_s);
    search->order = arena_array(scratch, plan->n_jobs, sizeof *search->order);
    search->starts_s = arena_array(scratch, plan->n_stages, sizeof *search->starts_s);
    search->tails_s = arena_array(scratch, plan->n_stages, sizeof *search->tails_s);
    search->windows = arena_array(scratch, windows, sizeof *search->windows);
    search->latest_starts_s = arena_array(scratch, plan->n_stages, sizeof *search->latest_starts_s);
    if (search->deadlines_s == NULL || search->completions_s == NULL || search->order == NULL ||
        search->starts_s == NULL || search->tails_s == NULL || search->windows == NULL ||
        search->latest_starts_s == NULL)
        return false;
    for (size_t j = 0; j < plan->n_jobs; j++)
        search->deadlines_s[j] = search->jobs[j].deadline_s;
    return true;
}

static enum pv_code edf_remedies_find(const struct edf_job jobs[],
                                      size_t n_jobs,
                                      size_t cores,
                                      uint64_t budget,
                                      struct arena *scratch,
                                      struct edf_remedies *remedies,
                                      struct pv_error *err)
{
    struct edf_plan plan;
    PV_TRY(edf_plan_make(jobs, n_jobs, scratch, &plan, err));
    struct search search = {.jobs = jobs, .plan = &plan, .scratch = scratch};
    if (!init_search(&search))
        return pv_no_memory(err);
    PV_TRY(find_cores(&search, budget, remedies, err));
    PV_TRY(find_deadlines(&search, cores, budget, remedies, err));
    for (size_t j = 0; j < n_jobs; j++) {
        bool kept = search.deadlines_s[j] == jobs[j].deadline_s;
        remedies->deadlines_s[j] = kept ? (double)NAN : search.deadlines_s[j];
    }
    return PV_OK;
}

enum pv_code edf_find_remedies(const struct edf_job jobs[],
                               size_t n_jobs,
                               size_t cores,
                               uint64_t task_budget,
                               struct arena *arena,
                               struct arena *scratch,
                               struct edf_remedies *remedies,
                               struct pv_error *err)
{
    assert(cores > 0 && n_jobs > 0);
    struct edf_remedies found = {.too_long = n_jobs, .critical_path_s = (double)NAN, .exact = true};
    found.deadlines_s = arena_array(arena, n_jobs, sizeof *found.deadlines_s);
    if (found.deadlines_s == NULL)
        return pv_no_memory(err);
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = edf_remedies_find(jobs, n_jobs, cores, task_budget, scratch, &found, err);
    arena_rewind(scratch, mark);
    if (code == PV_OK)
        *remedies = found;
    return code;
}
