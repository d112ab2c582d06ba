/*
 * Processor sharing in virtual time (as in the analysis of A. Demers, S. Keshav, S. Shenker,
 * "Analysis and simulation of a fair queueing algorithm", SIGCOMM 1989), with a cap of one core a
 * task. Starting or ending a task costs O(log of those that run); a change of the quota costs O(1).
 */
#include "core/control/executor.h"

#include <math.h>

#include "base/rounding.h"

/* Cores that each running task has. */
static double pace(const struct control_executor *executor)
{
    return executor->running.n == 0 ? 0 : fmin(1, executor->cores / (double)executor->running.n);
}

double control_executor_advance(struct control_executor *executor, double now_s)
{
    double passed_s = now_s - executor->updated_s;
    executor->attained_s += pace(executor) * passed_s;
    executor->updated_s = now_s;
    return executor->cores * passed_s;
}

static double lasts_s(const struct control_work *work, size_t task)
{
    const struct edf_plan_stage *stage = work->stage;
    return stage->durations == NULL ? stage->uniform_s : stage->durations[task] + stage->overhead_s;
}

static void start_tasks(struct control_executor *executor, const struct control_work *work)
{
    double places = rounding_ceil(executor->cores);
    while (executor->started < executor->tasks && (double)executor->running.n < places) {
        size_t task = executor->first + executor->started++ * work->stride;
        heap_push(&executor->running, executor->attained_s + lasts_s(work, task), task);
    }
}

void control_executor_resize(struct control_executor *executor,
                             const struct control_work *work,
                             double cores)
{
    executor->cores = cores;
    start_tasks(executor, work);
}

void control_executor_complete(struct control_executor *executor, const struct control_work *work)
{
    executor->attained_s = heap_top(&executor->running).key;
    while (executor->running.n > 0 && heap_top(&executor->running).key <= executor->attained_s) {
        (void)heap_pop(&executor->running);
        executor->completed++;
    }
    start_tasks(executor, work);
}

double control_executor_next_s(const struct control_executor *executor)
{
    double each = pace(executor);
    if (!(each > 0))
        return HUGE_VAL;
    double left_s = heap_top(&executor->running).key - executor->attained_s;
    return executor->updated_s + fmax(0, left_s) / each;
}
