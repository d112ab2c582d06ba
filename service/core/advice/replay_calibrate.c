#include "core/advice/replay_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/quantity_text.h"

struct span {
    double start_s;
    double end_s;
};

static int span_compare(const void *left, const void *right)
{
    const struct span *a = left;
    const struct span *b = right;
    return (a->start_s > b->start_s) - (a->start_s < b->start_s);
}

/* Length of the union of the stages' wall-clock intervals; NAN when one of them is unknown. */
static enum pv_code
active_time(const struct run *run, struct arena *scratch, double *active_s, struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct span *spans = arena_array(scratch, run->n_stages, sizeof *spans);
    size_t n = 0;
    double total = 0.0, reached = (double)-INFINITY;
    if (spans == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        if (!stage->skipped) {
            spans[n++] = (struct span){stage->started_s, stage->started_s + stage->duration_s};
            total += spans[n - 1].end_s; /* NAN sticks */
        }
    }
    *active_s = n == 0 || !isfinite(total) ? (double)NAN : 0.0;
    if (*active_s == 0.0)
        qsort(spans, n, sizeof *spans, span_compare);
    for (size_t i = 0; *active_s >= 0.0 && i < n; i++) {
        double from = fmax(spans[i].start_s, reached);
        *active_s += fmax(0.0, spans[i].end_s - from);
        reached = fmax(reached, spans[i].end_s);
    }
    arena_rewind(scratch, mark);
    return PV_OK;
}

/*
 * The part of the wall clock that no stage explains. Where the stages' instants are known it is
 * what their union leaves of the duration (initialization included); else initialization alone,
 * and the overhead a task takes up the rest.
 */
static double unexplained_time(const struct run *run, double active_s)
{
    double initialization_s = isfinite(run->initialization_s) ? run->initialization_s : 0.0;
    double fixed_s =
        isfinite(active_s) ? fmax(initialization_s, run->duration_s - active_s) : initialization_s;
    return fmin(fixed_s, run->duration_s);
}

/* On the run's own executors. */
static enum pv_code recorded_makespan(const struct replay *replay,
                                      const struct edf_job *job,
                                      const struct allocation_record *record,
                                      struct arena *scratch,
                                      double *seconds,
                                      struct pv_error *err)
{
    const struct run *run = replay->run;
    const struct replay_schedule on = {job,
                                       &replay->recorded_slots,
                                       replay->longest_s,
                                       run->executors,
                                       run->cores_per_executor,
                                       1.0,
                                       record};
    return replay_makespan(replay, &on, scratch, seconds, err);
}

/* Tasks one after another on the busiest slot, at least: how often the overhead counts. */
static double rounds_of_tasks(const struct replay *replay)
{
    const struct edf_job *job = &replay->job;
    const struct run *run = replay->run;
    double rounds = 0.0;
    for (size_t s = 0; s < job->n_stages; s++)
        rounds += ceil((double)job->stages[s].tasks / stage_slots_count(&replay->recorded_slots, s,
                                                                        run->executors,
                                                                        run->cores_per_executor));
    return rounds;
}

/*
 * The overhead a task for which the stages' makespan is target_s. The makespan is piecewise linear
 * in it, so a few steps of the secant are enough. No step that gives too much is kept, and the caller
 * accounts for the rest. 1e-9 of a makespan of days is below the millisecond of a log;
 * 1e-12 lets the rounding of a sum pass.
 */
static enum pv_code solve_overhead(struct replay *replay,
                                   double target_s,
                                   double *reached_s,
                                   struct arena *scratch,
                                   struct pv_error *err)
{
    enum { STEPS = 8 };
    struct edf_job job = replay->job;
    double slope = rounds_of_tasks(replay);
    double best = 0.0, best_s = *reached_s;
    double low = 0.0, low_s = *reached_s;
    for (int step = 0; step < STEPS && target_s - best_s > 1e-9 * target_s && slope > 0.0; step++) {
        double seconds = 0.0;
        job.overhead_per_task_s = low + (target_s - low_s) / slope;
        PV_TRY(recorded_makespan(replay, &job, &replay->record, scratch, &seconds, err));
        if (seconds <= target_s * (1.0 + 1e-12) && seconds > best_s) {
            best = job.overhead_per_task_s;
            best_s = seconds;
        }
        if (job.overhead_per_task_s > low && seconds > low_s)
            slope = (seconds - low_s) / (job.overhead_per_task_s - low);
        if (seconds < target_s) {
            low = job.overhead_per_task_s;
            low_s = seconds;
        }
    }
    replay->overhead_s = best;
    *reached_s = best_s;
    return PV_OK;
}

/* Fails with the reason why the replay on the run's own executors is slower than the run. Tasks are
 * never shortened to make up for it. */
static enum pv_code refuse_slow_replay(const struct replay *replay,
                                       double recorded_s,
                                       double seconds,
                                       struct pv_error *err)
{
    const struct run *run = replay->run;
    double least_s = 0.0;
    for (size_t s = 0; s < replay->job.n_stages; s++)
        least_s +=
            replay_recorded_work(replay, s) /
            stage_slots_count(&replay->recorded_slots, s, run->executors, run->cores_per_executor);
    if (least_s > recorded_s)
        return pv_fail(err, PV_E_TOO_FEW,
                       REPLAY_NOT "on the task slots of the executors that it is said to have had "
                                  "its tasks take at least %s, and its stages took %s",
                       quantity_duration(least_s).text, quantity_duration(recorded_s).text);
    return pv_fail(err, PV_E_TOO_FEW,
                   REPLAY_NOT "on its own executors its stages take %s in the "
                              "order that the graph demands, and took %s: they overlapped",
                   quantity_duration(seconds).text, quantity_duration(recorded_s).text);
}

/* Finds the cost of losses of executors. seconds: the makespan with the losses. */
static enum pv_code
find_lost(struct replay *replay, double seconds, struct arena *scratch, struct pv_error *err)
{
    struct edf_job job = replay->job;
    double planned_s = seconds;
    job.overhead_per_task_s = replay->overhead_s;
    if (replay->planned.changes != replay->record.changes)
        PV_TRY(recorded_makespan(replay, &job, &replay->planned, scratch, &planned_s, err));
    replay->lost_s = fmax(0.0, seconds - planned_s);
    return PV_OK;
}

enum pv_code replay_calibrate(struct replay *replay, struct arena *scratch, struct pv_error *err)
{
    const struct run *run = replay->run;
    double allotted_s = replay->job.overhead_per_task_s;
    replay->job.overhead_per_task_s = 0.0;
    double active_s = 0;
    PV_TRY(active_time(run, scratch, &active_s, err));
    replay->fixed_s = unexplained_time(run, active_s);
    double target_s = run->duration_s - replay->fixed_s;
    double seconds = 0.0;
    PV_TRY(recorded_makespan(replay, &replay->job, &replay->record, scratch, &seconds, err));
    if (seconds < target_s && allotted_s > 0.0)
        PV_TRY(solve_overhead(replay, target_s, &seconds, scratch, err));
    if (seconds - target_s > REPLAY_TOLERANCE * run->duration_s)
        return refuse_slow_replay(replay, target_s, seconds, err);
    /* Time that the overhead does not explain counts as time of the driver. */
    replay->fixed_s = fmax(0.0, run->duration_s - seconds);
    return find_lost(replay, seconds, scratch, err);
}
