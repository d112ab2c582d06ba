/*
 * Clairvoyance EDF (S. Ripamonti, "xSpark", thesis, Politecnico di Milano 2017, section 5.2), in
 * the exact form of docs/design.md, "Clairvoyance EDF".
 *
 * A discrete-event replay. Three heaps: batches of running tasks by the instant they end, stages
 * that have tasks to start by rank (job by deadline, then stage id), and, only where placements are
 * observed, idle cores by number. Cores are alike, so who runs where changes no instant: without an
 * observer a batch is all tasks of equal duration that a stage starts at one instant, and a stage
 * of a million equal tasks on a thousand cores costs a thousand steps.
 *
 * Differs from the thesis: tasks are not preempted, ties have a rule, jobs are released over time, and
 * wait for memory (section 3.4) where it is counted. O(T log K + S log S).
 */
#include "core/deadline/clairvoyant_edf.h"

#include <assert.h>
#include <math.h>

#include "core/deadline/clairvoyant_edf_internal.h"

const char *const edf_launch_order_words[] = {"first_come", "earliest_deadline", NULL};

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool edf_replay_init(struct edf_replay *replay,
                     const struct edf_plan *plan,
                     size_t cores,
                     bool observed,
                     struct arena *arena)
{
    size_t running = least_of(cores, plan->tasks);
    *replay = (struct edf_replay){.plan = plan};
    replay->started = arena_array(arena, plan->n_stages, sizeof *replay->started);
    replay->left = arena_array(arena, plan->n_stages, sizeof *replay->left);
    replay->parents_left = arena_array(arena, plan->n_stages, sizeof *replay->parents_left);
    replay->ended = arena_array(arena, plan->n_stages, sizeof *replay->ended);
    replay->stages_left = arena_array(arena, plan->n_jobs, sizeof *replay->stages_left);
    replay->by_deadline = arena_array(arena, plan->n_jobs, sizeof *replay->by_deadline);
    replay->deadlines_at_s = arena_array(arena, plan->n_jobs, sizeof *replay->deadlines_at_s);
    replay->rank_base = arena_array(arena, plan->n_jobs, sizeof *replay->rank_base);
    replay->launch_rank = arena_array(arena, plan->n_jobs, sizeof *replay->launch_rank);
    replay->launched_s = arena_array(arena, plan->n_jobs, sizeof *replay->launched_s);
    replay->completions_s = arena_array(arena, plan->n_jobs, sizeof *replay->completions_s);
    return replay->started != NULL && replay->left != NULL && replay->parents_left != NULL &&
           replay->ended != NULL && replay->stages_left != NULL && replay->by_deadline != NULL &&
           replay->deadlines_at_s != NULL && replay->rank_base != NULL &&
           replay->launch_rank != NULL && replay->launched_s != NULL &&
           replay->completions_s != NULL && heap_init(&replay->events, arena, running) &&
           heap_init(&replay->delayed, arena, plan->n_delayed) &&
           heap_init(&replay->waiting, arena, plan->memory == NULL ? 0 : plan->n_jobs) &&
           heap_init(&replay->ready, arena, plan->n_stages) &&
           heap_init(&replay->idle, arena, observed ? running : 0);
}

/* Job a is served before job b. */
static bool is_served_before(const struct edf_replay *replay, uint32_t a, uint32_t b)
{
    return edf_is_served_before(replay->plan, a, replay->deadlines_at_s[a], b,
                                replay->deadlines_at_s[b]);
}

static void sift_down(struct edf_replay *replay, size_t at, size_t n)
{
    uint32_t *jobs = replay->by_deadline;
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_served_before(replay, jobs[child], jobs[child + 1]))
            child++;
        if (!is_served_before(replay, jobs[at], jobs[child]))
            return;
        uint32_t job = jobs[at];
        jobs[at] = jobs[child];
        jobs[child] = job;
    }
}

/* Running jobs hold their memory already: they go before all others. */
static void rank_launch(struct edf_replay *replay, uint32_t j, size_t at)
{
    const struct edf_plan *plan = replay->plan;
    replay->launch_rank[j] = (double)at - (plan->jobs[j].runs_already ? (double)plan->n_jobs : 0.0);
}

static void rank_launches(struct edf_replay *replay)
{
    const struct edf_plan *plan = replay->plan;
    const uint32_t *order = edf_launches_by_deadline(plan) ? replay->by_deadline : plan->by_release;
    for (size_t at = 0; at < plan->n_jobs; at++)
        rank_launch(replay, order[at], at);
}

/* Heapsort: the order is total, and qsort could not be given the deadlines without a global. */
void edf_replay_order(struct edf_replay *replay, const double deadlines_s[])
{
    const struct edf_plan *plan = replay->plan;
    uint32_t *jobs = replay->by_deadline;
    for (size_t j = 0; j < plan->n_jobs; j++) {
        replay->deadlines_at_s[j] = plan->jobs[j].release_s + deadlines_s[j];
        jobs[j] = (uint32_t)j;
    }
    for (size_t at = plan->n_jobs / 2; at-- > 0;)
        sift_down(replay, at, plan->n_jobs);
    for (size_t n = plan->n_jobs; n > 1; n--) {
        uint32_t last = jobs[0];
        jobs[0] = jobs[n - 1];
        jobs[n - 1] = last;
        sift_down(replay, 0, n - 1);
    }
    double base = 0;
    for (size_t at = 0; at < plan->n_jobs; at++) {
        replay->rank_base[jobs[at]] = base;
        base += plan->jobs[jobs[at]].n_stages;
    }
    rank_launches(replay);
}

static void reset(struct edf_replay *replay, const double deadlines_s[], size_t cores)
{
    const struct edf_plan *plan = replay->plan;
    replay->events.n = replay->delayed.n = replay->ready.n = replay->waiting.n = replay->idle.n = 0;
    replay->free_bytes = plan->memory == NULL ? 0 : plan->memory->bytes;
    replay->fresh = 0;
    replay->free = least_of(cores, plan->tasks);
    for (size_t s = 0; s < plan->n_stages; s++) {
        replay->started[s] = 0;
        replay->left[s] = plan->stages[s].tasks;
        replay->parents_left[s] = plan->stages[s].n_parents;
    }
    for (size_t j = 0; j < plan->n_jobs; j++)
        replay->stages_left[j] = plan->jobs[j].n_stages;
    replay->jobs_left = plan->n_jobs;
    replay->too_late = false;
    /* So that a search of many short replays of many stages comes to an end as well. */
    replay->steps += plan->n_stages;
    edf_replay_order(replay, deadlines_s);
}

/* Stage s may run now: its tasks wait for cores, or, where it has none, it has ended. */
static void open_stage(struct edf_replay *replay, uint32_t s, size_t *n_ended)
{
    const struct edf_plan_stage *stage = &replay->plan->stages[s];
    if (stage->tasks == 0) {
        replay->ended[(*n_ended)++] = s;
        return;
    }
    if (replay->latest_starts_s != NULL && replay->now > replay->latest_starts_s[s])
        replay->too_late = true;
    heap_push(&replay->ready, replay->rank_base[stage->job] + stage->order_in_job, s);
    if (replay->watch != NULL && replay->watch->opened != NULL)
        replay->watch->opened(replay->watch, replay, s);
}

/* The parents of stage s have ended, or its job is launched: it may run once its delay has passed. */
static void await_delay(struct edf_replay *replay, uint32_t s, size_t *n_ended)
{
    const double delay_s = replay->plan->stages[s].delay_s;
    if (delay_s > 0)
        heap_push(&replay->delayed, replay->now + delay_s, s);
    else
        open_stage(replay, s, n_ended);
}

/* Pass on the ends of the stages on the stack, and of those without tasks that thereby end too. */
static void pass_on(struct edf_replay *replay, size_t n_ended)
{
    while (n_ended > 0) {
        const struct edf_plan_stage *stage = &replay->plan->stages[replay->ended[--n_ended]];
        if (--replay->stages_left[stage->job] == 0) {
            replay->completions_s[stage->job] = replay->now;
            replay->free_bytes += replay->plan->jobs[stage->job].memory_bytes;
            replay->jobs_left--;
        }
        for (size_t c = stage[0].first_child; c < stage[1].first_child; c++) {
            uint32_t child = replay->plan->children[c];
            if (--replay->parents_left[child] == 0)
                await_delay(replay, child, &n_ended);
        }
    }
}

static void launch_job(struct edf_replay *replay, uint32_t j)
{
    const struct edf_plan_job *job = &replay->plan->jobs[j];
    size_t n_ended = 0;
    replay->launched_s[j] = replay->now;
    replay->free_bytes -= job->memory_bytes;
    for (uint32_t s = job->first_stage; s < job->first_stage + job->n_stages; s++)
        if (replay->plan->stages[s].n_parents == 0)
            await_delay(replay, s, &n_ended);
    pass_on(replay, n_ended);
}

static void end_delay(struct edf_replay *replay, uint32_t s)
{
    size_t n_ended = 0;
    open_stage(replay, s, &n_ended);
    pass_on(replay, n_ended);
}

static void release_job(struct edf_replay *replay, uint32_t j)
{
    if (replay->plan->jobs[j].memory_bytes > 0)
        heap_push(&replay->waiting, replay->launch_rank[j], j);
    else
        launch_job(replay, j);
}

/* Strictly in their order: while the first one does not fit, nobody is launched, so that none that
 * needs much starves. */
static void launch_waiting(struct edf_replay *replay)
{
    while (replay->waiting.n > 0) {
        uint32_t j = (uint32_t)heap_top(&replay->waiting).value;
        if (replay->plan->jobs[j].memory_bytes > replay->free_bytes)
            return;
        (void)heap_pop(&replay->waiting);
        launch_job(replay, j);
    }
}

/* A value of the events' heap: stage, and the core (observed) or the number of tasks. */
static uint64_t clairvoyant_edf_pack(uint32_t stage, size_t low)
{
    return (uint64_t)stage << 32 | (uint32_t)low;
}

static void end_batch(struct edf_replay *replay, uint64_t value, bool observed)
{
    uint32_t s = (uint32_t)(value >> 32);
    size_t low = (uint32_t)value;
    size_t tasks = observed ? 1 : low;
    if (observed)
        heap_push(&replay->idle, (double)low, 0);
    replay->free += tasks;
    replay->left[s] -= tasks;
    if (replay->watch != NULL && replay->watch->ended != NULL)
        replay->watch->ended(replay->watch, replay, s, tasks);
    if (replay->left[s] == 0) {
        replay->ended[0] = s;
        pass_on(replay, 1);
    }
}

/* How many of the stage's next tasks last as long as the first of them, at most `most`. */
static size_t equal_tasks(const struct edf_plan_stage *stage, size_t next, size_t most)
{
    most = least_of(most, stage->tasks - next);
    if (stage->durations == NULL)
        return most;
    size_t n = 1;
    while (n < most && stage->durations[next + n] == stage->durations[next])
        n++;
    return n;
}

static bool clairvoyant_edf_notify(struct edf_replay *replay,
                                   const struct edf_observer *observer,
                                   uint32_t s,
                                   size_t core,
                                   double end_s)
{
    uint32_t job = replay->plan->stages[s].job;
    const struct edf_placement placement = {
        .job = job,
        .stage = s - replay->plan->jobs[job].first_stage,
        .task = replay->started[s],
        .core = core,
        .start_s = replay->now,
        .end_s = end_s,
    };
    return observer->placed(observer->context, &placement);
}

static size_t lowest_idle_core(struct edf_replay *replay)
{
    /* Cores that ran before have lower numbers than fresh ones. */
    return replay->idle.n > 0 ? (size_t)heap_pop(&replay->idle).key : replay->fresh++;
}

/* Free cores take tasks until either run out. False: the observer refused. */
static bool dispatch(struct edf_replay *replay, const struct edf_observer *observer)
{
    while (replay->free > 0 && replay->ready.n > 0) {
        uint32_t s = (uint32_t)heap_top(&replay->ready).value;
        const struct edf_plan_stage *stage = &replay->plan->stages[s];
        size_t next = replay->started[s];
        double lasts = stage->durations == NULL ? stage->uniform_s
                                                : stage->durations[next] + stage->overhead_s;
        double end = replay->now + lasts;
        size_t n = 1;
        size_t low;
        if (observer != NULL) {
            low = lowest_idle_core(replay);
            if (!clairvoyant_edf_notify(replay, observer, s, low, end))
                return false;
        } else {
            low = n = equal_tasks(stage, next, least_of(replay->free, UINT32_MAX));
        }
        heap_push(&replay->events, end, clairvoyant_edf_pack(s, low));
        replay->steps++;
        if (replay->watch != NULL && replay->watch->started != NULL)
            replay->watch->started(replay->watch, replay, s, n);
        replay->free -= n;
        replay->started[s] += n;
        if (replay->started[s] == stage->tasks)
            (void)heap_pop(&replay->ready);
    }
    if (replay->watch != NULL && replay->watch->settled != NULL)
        replay->watch->settled(replay->watch, replay);
    return true;
}

/* Some job is beyond its deadline already. *front walks through the jobs as they are served: the
 * first unfinished one has the earliest deadline. */
static bool is_missed(const struct edf_replay *replay, const double deadlines_s[], size_t *front)
{
    for (; *front < replay->plan->n_jobs; (*front)++) {
        uint32_t j = replay->by_deadline[*front];
        double release = replay->plan->jobs[j].release_s;
        if (replay->stages_left[j] > 0)
            return !edf_is_met(replay->now, release, deadlines_s[j]);
        if (!edf_is_met(replay->completions_s[j], release, deadlines_s[j]))
            return true;
    }
    return false;
}

enum edf_replay_end edf_replay_run(struct edf_replay *replay,
                                   const double deadlines_s[],
                                   size_t cores,
                                   bool stop_at_miss,
                                   uint64_t steps_max,
                                   const struct edf_observer *observer)
{
    const struct edf_plan *plan = replay->plan;
    size_t released = 0;
    size_t front = 0;
    reset(replay, deadlines_s, cores);
    while (replay->jobs_left > 0) {
        double release = released < plan->n_jobs ? plan->jobs[plan->by_release[released]].release_s
                                                 : (double)INFINITY;
        assert(replay->events.n > 0 || replay->delayed.n > 0 || released < plan->n_jobs);
        replay->now = replay->events.n > 0 ? fmin(release, heap_top(&replay->events).key) : release;
        if (replay->delayed.n > 0)
            replay->now = fmin(replay->now, heap_top(&replay->delayed).key);
        while (replay->events.n > 0 && heap_top(&replay->events).key == replay->now)
            end_batch(replay, heap_pop(&replay->events).value, observer != NULL);
        while (replay->delayed.n > 0 && heap_top(&replay->delayed).key == replay->now)
            end_delay(replay, (uint32_t)heap_pop(&replay->delayed).value);
        for (; released < plan->n_jobs &&
               plan->jobs[plan->by_release[released]].release_s == replay->now;
             released++)
            release_job(replay, plan->by_release[released]);
        launch_waiting(replay);
        if (stop_at_miss && (replay->too_late || is_missed(replay, deadlines_s, &front)))
            return EDF_REPLAY_MISSED;
        if (replay->steps >= steps_max)
            return EDF_REPLAY_CUT;
        if (!dispatch(replay, observer))
            return EDF_REPLAY_REFUSED;
    }
    return EDF_REPLAY_DONE;
}

/* --- the public call --- */

void edf_judge(const struct edf_job *job, double completion_s, struct edf_outcome *out)
{
    double execution = completion_s - job->release_s;
    *out = (struct edf_outcome){
        .launched_s = job->release_s,
        .completion_s = completion_s,
        .execution_s = execution,
        .deadline_error_percent = 100 * fabs(job->deadline_s - execution) / job->deadline_s,
        .met = edf_is_met(completion_s, job->release_s, job->deadline_s),
    };
}

void edf_measure(const struct edf_job jobs[],
                 size_t n_jobs,
                 size_t cores,
                 double work_s,
                 const struct edf_outcome outcomes[],
                 struct edf_metrics *metrics)
{
    struct edf_metrics sums = {0};
    double first = INFINITY;
    double last = -INFINITY;
    for (size_t j = 0; j < n_jobs; j++) {
        double error = outcomes[j].deadline_error_percent;
        *(outcomes[j].met ? &sums.advance : &sums.delayed) += 1;
        *(outcomes[j].met ? &sums.epsilon_advance : &sums.epsilon_delayed) += error;
        first = fmin(first, jobs[j].release_s);
        last = fmax(last, outcomes[j].completion_s);
    }
    sums.epsilon_absolute = sums.epsilon_advance + sums.epsilon_delayed;
    sums.epsilon = sums.epsilon_absolute / (double)n_jobs;
    sums.makespan_s = last - first;
    /* Far from instant 0, instants are rounded by more than the work takes. */
    sums.utilization =
        sums.makespan_s > 0 ? fmin(1, work_s / ((double)cores * sums.makespan_s)) : (double)NAN;
    *metrics = sums;
}

static enum pv_code schedule(const struct edf_job jobs[],
                             size_t n_jobs,
                             size_t cores,
                             struct arena *scratch,
                             struct edf_outcome outcomes[],
                             struct edf_metrics *metrics,
                             const struct edf_observer *observer,
                             struct pv_error *err)
{
    struct edf_plan plan;
    PV_TRY(edf_plan_make(jobs, n_jobs, scratch, &plan, err));
    if (observer != NULL && least_of(cores, plan.tasks) > UINT32_MAX)
        return pv_fail(err, PV_E_LIMIT, "placements on more than 2^32 - 1 cores");
    struct edf_replay replay;
    double *deadlines = arena_array(scratch, n_jobs, sizeof *deadlines);
    if (deadlines == NULL || !edf_replay_init(&replay, &plan, cores, observer != NULL, scratch))
        return pv_no_memory(err);
    for (size_t j = 0; j < n_jobs; j++)
        deadlines[j] = jobs[j].deadline_s;
    if (edf_replay_run(&replay, deadlines, cores, false, UINT64_MAX, observer) != EDF_REPLAY_DONE)
        return pv_fail(err, PV_E_CANCELLED, "the schedule was not wanted to its end");
    for (size_t j = 0; j < n_jobs; j++) {
        edf_judge(&jobs[j], replay.completions_s[j], &outcomes[j]);
        outcomes[j].launched_s = replay.launched_s[j];
    }
    if (metrics != NULL)
        edf_measure(jobs, n_jobs, cores, plan.work_s, outcomes, metrics);
    return PV_OK;
}

enum pv_code edf_schedule(const struct edf_job jobs[],
                          size_t n_jobs,
                          size_t cores,
                          struct arena *scratch,
                          struct edf_outcome outcomes[],
                          struct edf_metrics *metrics,
                          const struct edf_observer *observer,
                          struct pv_error *err)
{
    assert(cores > 0 && n_jobs > 0);
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = schedule(jobs, n_jobs, cores, scratch, outcomes, metrics, observer, err);
    arena_rewind(scratch, mark);
    return code;
}
