#include "core/autoscaling/allocation_replay_internal.h"

#include <math.h>

#include "base/order.h"

static int64_t still_to_come(const struct allocation_run *run)
{
    return (int64_t)(run->requests.n - run->arrived);
}

double allocation_manager_arrival_s(const struct allocation_run *run)
{
    return still_to_come(run) == 0 ? (double)INFINITY
                                   : run->requests.items[run->arrived] + run->job->startup_s;
}

/* --- the target --- */

static int64_t needed(const struct allocation_run *run)
{
    double tasks = (double)(run->waiting + run->running) * run->policy->allocation_ratio;
    double executors = ceil(tasks / (double)run->job->cores_per_executor - 1e-9);
    return tasks > 0 && executors < 1 ? 1 : (int64_t)executors;
}

static void lower_target(struct allocation_run *run, int64_t wanted)
{
    int64_t before = run->target;
    run->target = larger_int64(wanted, run->policy->min_executors);
    run->step_up = 1;
    int64_t surplus = run->pool.n + still_to_come(run) - larger_int64(run->target, run->pool.n);
    run->requests.n -= (size_t)larger_int64(surplus, 0);
    if (run->is_held_back && run->target < before)
        run->look_at_s = run->now_s;
}

static void raise_target(struct allocation_run *run, int64_t wanted)
{
    int64_t before = run->target;
    int64_t most = smaller_int64(wanted, run->policy->max_executors);
    int64_t raised = smaller_int64(larger_int64(before, run->pool.n) + run->step_up, most);
    run->target = larger_int64(raised, before);
    run->step_up = run->target - before == run->step_up ? 2 * run->step_up : 1;
    for (int64_t i = run->pool.n + still_to_come(run); i < run->target; i++) {
        double *request = vector_add(run->scratch, &run->requests);
        run->failed = run->failed || request == NULL;
        if (request == NULL)
            return;
        *request = run->now_s;
    }
}

static void follow_policy(struct allocation_run *run)
{
    const struct allocation_policy *policy = run->policy;
    int64_t wanted = needed(run);
    if (run->waiting == 0) {
        run->add_at_s = (double)INFINITY;
        run->step_up = 1;
    } else if (isinf(run->add_at_s)) {
        run->add_at_s = run->now_s + policy->backlog_timeout_s;
    }
    if (wanted < run->target) {
        lower_target(run, wanted);
        return;
    }
    if (run->add_at_s > run->now_s || run->target >= smaller_int64(wanted, policy->max_executors))
        return;
    raise_target(run, wanted);
    run->add_at_s = run->now_s + policy->sustained_backlog_timeout_s;
}

/* A request that comes due while there is nothing to add waits for the next turn. */
static void keep_turn(struct allocation_run *run)
{
    double step_s = run->policy->sustained_backlog_timeout_s;
    bool can_add = run->target < smaller_int64(needed(run), run->policy->max_executors);
    if (!can_add || run->add_at_s >= run->now_s || !(step_s > 0))
        return;
    run->add_at_s += ceil((run->now_s - run->add_at_s) / step_s) * step_s;
}

/* --- executors that are let go --- */

static bool may_release(const struct allocation_run *run)
{
    int64_t left = run->pool.n - 1;
    return left >= run->policy->min_executors && left >= run->target;
}

static double idle_expiry(const struct allocation_run *run)
{
    uint32_t first = run->pool.idle.first;
    return first == POOL_NOBODY
               ? (double)INFINITY
               : run->pool.executors[first].idle_since_s + run->policy->idle_timeout_s;
}

/* Releases executors that hold shuffle output, and notes when the next one may go. */
static void release_holders(struct allocation_run *run)
{
    if (run->now_s < run->look_at_s)
        return;
    run->look_at_s = (double)INFINITY;
    run->is_held_back = false;
    for (uint32_t e = run->pool.holding.first, next; e != POOL_NOBODY; e = next) {
        next = run->pool.executors[e].next;
        double expiry_s = allocation_tasks_expiry(run, &run->pool.executors[e]);
        if (expiry_s > run->now_s)
            run->look_at_s = fmin(run->look_at_s, expiry_s);
        else if (may_release(run))
            allocation_replay_release(run, e);
        else
            run->is_held_back = true;
    }
}

static void release_idle(struct allocation_run *run)
{
    while (idle_expiry(run) <= run->now_s && may_release(run))
        allocation_replay_release(run, run->pool.idle.first);
    if (run->held_words > 0)
        release_holders(run);
}

double allocation_manager_next_s(const struct allocation_run *run)
{
    double next_s = (double)INFINITY;
    if (run->target < smaller_int64(needed(run), run->policy->max_executors))
        next_s = run->add_at_s;
    return may_release(run) ? fmin(next_s, idle_expiry(run)) : next_s;
}

void allocation_manager_act(struct allocation_run *run)
{
    keep_turn(run);
    allocation_tasks_start(run);
    follow_policy(run);
    release_idle(run);
}
