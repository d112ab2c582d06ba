#include "core/autoscaling/allocation_replay.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/order.h"
#include "core/autoscaling/allocation_replay_internal.h"

/* --- executors --- */

void allocation_replay_add(struct allocation_run *run, double requested_s)
{
    struct allocation_lease *lease = vector_add(run->scratch, &run->leases);
    run->failed = run->failed || lease == NULL;
    if (lease == NULL)
        return;
    *lease = (struct allocation_lease){requested_s, (double)INFINITY};
    uint32_t executor = pool_add(&run->pool, run->leases.n - 1, run->now_s);
    if (run->held_words > 0)
        memset(&run->held[executor * run->held_words], 0, run->held_words * sizeof *run->held);
}

void allocation_replay_release(struct allocation_run *run, uint32_t executor)
{
    run->leases.items[run->pool.executors[executor].lease].to_s = run->now_s;
    pool_remove(&run->pool, executor);
    run->released++;
}

/* --- time --- */

static double next_instant(const struct allocation_run *run)
{
    double next_s = fmin(allocation_manager_arrival_s(run), run->look_at_s);
    if (run->submissions.n > 0)
        next_s = fmin(next_s, heap_top(&run->submissions).key);
    if (run->ends.n > 0)
        next_s = fmin(next_s, heap_top(&run->ends).key);
    next_s = fmin(next_s, run->record != NULL ? recorded_executors_next_s(run)
                                              : allocation_manager_next_s(run));
    return fmax(next_s, run->now_s);
}

static void take_step(struct allocation_run *run)
{
    size_t n = run->steps.n;
    if (n > 0 && run->steps.items[n - 1].executors == run->pool.n)
        return;
    if (n > 0 && run->steps.items[n - 1].at_s >= run->now_s)
        run->steps.n--; /* of the same instant */
    struct allocation_step *step = vector_add(run->scratch, &run->steps);
    run->failed = run->failed || step == NULL;
    if (step != NULL)
        *step = (struct allocation_step){run->now_s, run->pool.n};
    run->peak = larger_int64(run->peak, run->pool.n);
}

/* All that happens at now_s. */
static void take_instant(struct allocation_run *run)
{
    while (run->ends.n > 0 && heap_top(&run->ends).key <= run->now_s)
        allocation_tasks_end(run, (uint32_t)heap_pop(&run->ends).value);
    while (allocation_manager_arrival_s(run) <= run->now_s)
        allocation_replay_add(run, run->requests.items[run->arrived++]);
    while (run->submissions.n > 0 && heap_top(&run->submissions).key <= run->now_s)
        allocation_tasks_submit(run, (size_t)heap_pop(&run->submissions).value);
    if (run->record != NULL)
        recorded_executors_act(run);
    else
        allocation_manager_act(run);
    take_step(run);
}

static enum pv_code run_through(struct allocation_run *run, struct pv_error *err)
{
    while (!run->failed && run->tasks_started <= run->task_budget) {
        take_instant(run);
        double next_s = next_instant(run);
        if (isinf(next_s) && run->stages_left > 0 && run->record != NULL &&
            run->change < run->record->n) {
            /* The stage before the change waits for the executors of the change. */
            run->submitted_s[run->record->changes[run->change].after] = run->now_s;
            next_s = recorded_executors_next_s(run);
        }
        if (isinf(next_s) && run->stages_left > 0)
            return pv_fail(err, PV_E_DOMAIN, "stages wait for each other");
        if (next_s >= run->end_s)
            break;
        run->now_s = next_s;
    }
    if (run->failed)
        return pv_no_memory(err);
    if (run->tasks_started > run->task_budget)
        return pv_fail(err, PV_E_LIMIT,
                       "replaying the job under dynamic allocation takes more than %llu simulated "
                       "tasks",
                       (unsigned long long)run->task_budget);
    return PV_OK;
}

/* --- begin and end --- */

/* No stage was submitted yet. */
static bool record_init(struct allocation_run *run)
{
    run->submitted_s = arena_array(run->scratch, run->n_stages, sizeof *run->submitted_s);
    for (size_t s = 0; run->submitted_s != NULL && s < run->n_stages; s++)
        run->submitted_s[s] = (double)NAN;
    return run->submitted_s != NULL;
}

static bool run_init(struct allocation_run *run)
{
    const struct allocation_policy *policy = run->policy;
    const struct edf_job *job = run->job->job;
    size_t tasks = 0, units = 0;
    for (size_t s = 0; s < job->n_stages; s++) {
        tasks += job->stages[s].tasks;
        units += job->stages[s].tasks * allocation_units_of(run, s);
    }
    int64_t most = policy->max_executors;
    /* Cores beyond those of all tasks stay free on every executor: leaving them out changes nothing. */
    int64_t cores = smaller_int64(run->job->cores_per_executor, larger_int64((int64_t)units, 1));
    /* Executors beyond one a task are never asked for; those there from the start count too. */
    most = smaller_int64(most, (int64_t)tasks + 1);
    if (run->record == NULL)
        most = larger_int64(most, policy->initial_executors);
    run->most = most;
    if (run->record != NULL && run->record->leave == ALLOCATION_LEAVE_DONE)
        most *= 2; /* as many may be leaving */
    size_t slots = (size_t)most > tasks / (size_t)cores ? tasks : (size_t)(most * cores);
    if (run->record != NULL && run->record->leave == ALLOCATION_LEAVE_LOST)
        slots = tasks; /* lost tasks keep their slots */
    run->set_aside = arena_array(run->scratch, job->n_stages, sizeof *run->set_aside);
    if (run->set_aside == NULL || !heap_init(&run->ends, run->scratch, slots + 1) ||
        !pool_init(&run->pool, run->scratch, (uint32_t)most, cores) ||
        !allocation_tasks_init(run, slots + 1))
        return false;
    if (policy->shuffle_tracking && isfinite(policy->shuffle_timeout_s)) {
        run->held_words = run->n_stages / 64 + 1;
        run->held = arena_calloc(run->scratch, (size_t)most * run->held_words, sizeof *run->held);
        if (run->held == NULL)
            return false;
    }
    if (run->record != NULL)
        return record_init(run);
    for (int64_t i = 0; i < policy->initial_executors; i++)
        allocation_replay_add(run, 0.0);
    run->target = policy->initial_executors;
    return true;
}

/* A copy of n items; NULL: no memory. */
static void *copy_items(struct arena *arena, const void *items, size_t n, size_t size)
{
    void *copy = arena_array(arena, n == 0 ? 1 : n, size);
    if (copy != NULL && n > 0)
        memcpy(copy, items, n * size);
    return copy;
}

static bool
finish(struct allocation_run *run, struct arena *arena, struct allocation_outcome *outcome)
{
    double executor_s = 0.0;
    for (size_t i = 0; i < run->leases.n; i++) {
        struct allocation_lease *lease = &run->leases.items[i];
        lease->to_s = fmin(lease->to_s, run->end_s);
        executor_s += lease->to_s - lease->from_s;
    }
    *outcome = (struct allocation_outcome){.duration_s = run->end_s,
                                           .executor_s = executor_s,
                                           .peak_executors = run->peak,
                                           .started = run->arrived + run->came_later,
                                           .released = run->released};
    if (arena == NULL)
        return true;
    outcome->leases = copy_items(arena, run->leases.items, run->leases.n, sizeof *outcome->leases);
    outcome->n_leases = run->leases.n;
    outcome->steps = copy_items(arena, run->steps.items, run->steps.n, sizeof *outcome->steps);
    outcome->n_steps = run->steps.n;
    if (outcome->leases == NULL || outcome->steps == NULL)
        return false;
    outcome->steps[0].at_s = 0.0; /* the initial ones are held from the start on */
    return true;
}

enum pv_code allocation_replay(const struct allocation_job *job,
                               const struct allocation_policy *policy,
                               uint64_t task_budget,
                               struct arena *arena,
                               struct arena *scratch,
                               struct allocation_outcome *outcome,
                               struct pv_error *err)
{
    assert(arena != scratch);
    struct arena_mark mark = arena_mark(scratch);
    struct allocation_run run = {.job = job,
                                 .policy = policy,
                                 .shuffles =
                                     job->shuffles == NULL ? job->job->stages : job->shuffles,
                                 .scratch = scratch,
                                 .record = job->record,
                                 .n_stages = job->job->n_stages,
                                 .stages_left = job->job->n_stages,
                                 .step_up = 1,
                                 .add_at_s = (double)INFINITY,
                                 .look_at_s = (double)INFINITY,
                                 .now_s = job->initialization_s,
                                 .end_s = (double)INFINITY,
                                 .task_budget = task_budget};
    enum pv_code code = run_init(&run) ? run_through(&run, err) : pv_no_memory(err);
    if (code == PV_OK && !finish(&run, arena, outcome))
        code = pv_no_memory(err);
    arena_rewind(scratch, mark);
    return code;
}
