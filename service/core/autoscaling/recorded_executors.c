#include "core/autoscaling/allocation_replay_internal.h"

#include <math.h>

/* Instant of the next change. INFINITY if the record has no more changes, or if the stage before the
 * change was not submitted yet. */
double recorded_executors_next_s(const struct allocation_run *run)
{
    if (run->record == NULL || run->change == run->record->n)
        return (double)INFINITY;
    const struct allocation_change *change = &run->record->changes[run->change];
    double from_s = change->after == ALLOCATION_START ? 0.0 : run->submitted_s[change->after];
    return isnan(from_s) ? (double)INFINITY : from_s + change->by_s;
}

/* Executors in the replay while the record has so many. */
static int64_t share_of_record(const struct allocation_run *run, int64_t executors)
{
    double share = (double)executors * (double)run->policy->max_executors;
    double wanted = ceil(share / (double)run->record->most - 1e-9);
    return wanted < (double)run->most ? (int64_t)wanted : run->most;
}

/* Adds executors up to the target. */
static void take_missing(struct allocation_run *run)
{
    while (run->pool.n < run->target && pool_has_room(&run->pool) && !run->failed) {
        run->came_later += run->now_s > run->job->initialization_s;
        allocation_replay_add(run, fmax(0.0, run->came_s - run->job->startup_s));
    }
}

static void take_changes(struct allocation_run *run)
{
    for (double at_s; (at_s = recorded_executors_next_s(run)) <= run->now_s; run->change++) {
        run->target = share_of_record(run, run->record->changes[run->change].executors);
        run->came_s = at_s;
        take_missing(run);
    }
    take_missing(run); /* executors that left have made room */
}

/* Removes executors beyond the target, as far as allocation_leave allows. */
static void let_go(struct allocation_run *run)
{
    const enum allocation_leave leave = run->record->leave;
    while (run->pool.n > run->target) {
        bool awaited = run->waiting > 0 || run->running > 0 || run->change == run->record->n;
        if ((run->pool.n == 1 && awaited) || (leave == ALLOCATION_LEAVE_IDLE && run->waiting > 0))
            return;
        uint32_t executor = pool_choose(&run->pool);
        if (executor == POOL_NOBODY)
            executor = pool_find_busy(&run->pool);
        bool idle = run->pool.executors[executor].free == run->pool.cores;
        if (leave == ALLOCATION_LEAVE_IDLE && !idle)
            return;
        if (leave == ALLOCATION_LEAVE_DONE && !idle) {
            pool_leave(&run->pool, executor);
            run->released++;
            continue;
        }
        if (!idle)
            allocation_tasks_lose(run, executor);
        allocation_replay_release(run, executor);
    }
}

void recorded_executors_act(struct allocation_run *run)
{
    take_changes(run);
    let_go(run);
    allocation_tasks_start(run);
    let_go(run);
}
