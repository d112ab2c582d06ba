#include "core/history/run_measures.h"

#include <math.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/order.h"
#include "core/history/run_idle.h"
#include "core/history/task_slots.h"

static double task_time_of(const struct run_stage *stage)
{
    if (stage->n_tasks == 0)
        return 0;
    if (stage->task_durations_s != NULL && stage->n_tasks > 0)
        return task_time_sum(stage->task_durations_s, (size_t)stage->n_tasks);
    if (!isnan(stage->task_time_s))
        return stage->task_time_s;
    return stage->n_tasks > 0 ? (double)stage->n_tasks * stage->task_duration_s : (double)NAN;
}

/* --- the busiest core --- */

static double longest(const double durations_s[], size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, durations_s[i]);
    return most;
}

/* More tasks than cores. */
static enum pv_code run_measures_deal(const double durations_s[],
                                      size_t n,
                                      size_t cores,
                                      struct arena *scratch,
                                      double *busiest_s,
                                      struct pv_error *err)
{
    struct heap free_at;
    struct arena_mark mark = arena_mark(scratch);
    *busiest_s = 0;
    if (!heap_init(&free_at, scratch, cores))
        return pv_no_memory(err);
    for (size_t c = 0; c < cores; c++)
        heap_push(&free_at, 0, c);
    for (size_t i = 0; i < n; i++) {
        struct heap_item core = heap_pop(&free_at);
        double done_s = core.key + durations_s[i];
        *busiest_s = fmax(*busiest_s, done_s);
        heap_push(&free_at, done_s, core.value);
    }
    arena_rewind(scratch, mark);
    return PV_OK;
}

static enum pv_code find_busiest(const struct run_stage *stage,
                                 double cores,
                                 struct arena *scratch,
                                 double *busiest_s,
                                 struct pv_error *err)
{
    *busiest_s = stage->n_tasks == 0 ? 0 : (double)NAN;
    if (stage->n_tasks <= 0 || isnan(cores))
        return PV_OK;
    size_t n = (size_t)stage->n_tasks;
    if (stage->task_durations_s == NULL) {
        double mean_s =
            isnan(stage->task_duration_s) ? stage->task_time_s / (double)n : stage->task_duration_s;
        *busiest_s = ceil((double)n / cores) * mean_s;
        return PV_OK;
    }
    if ((double)n <= cores) {
        *busiest_s = longest(stage->task_durations_s, n);
        return PV_OK;
    }
    return run_measures_deal(stage->task_durations_s, n, (size_t)cores, scratch, busiest_s, err);
}

/* --- time in which a stage runs --- */

struct interval {
    double from_s;
    double to_s;
};

static int by_start(const void *a, const void *b)
{
    return compare_double(((const struct interval *)a)->from_s,
                          ((const struct interval *)b)->from_s);
}

static double unite(struct interval intervals[], size_t n)
{
    double sum_s = 0;
    double reached_s = (double)-INFINITY;
    qsort(intervals, n, sizeof *intervals, by_start);
    for (size_t i = 0; i < n; i++) {
        double from_s = fmax(intervals[i].from_s, reached_s);
        sum_s += fmax(0, intervals[i].to_s - from_s);
        reached_s = fmax(reached_s, intervals[i].to_s);
    }
    return sum_s;
}

/* NAN: some stage's duration is not known. */
static enum pv_code
find_stage_time(const struct run *run, struct arena *scratch, double *busy_s, struct pv_error *err)
{
    *busy_s = run->stage_time_s;
    if (run->from_log && !isnan(*busy_s))
        return PV_OK;
    struct arena_mark mark = arena_mark(scratch);
    struct interval *intervals = arena_array(scratch, run->n_stages, sizeof *intervals);
    size_t n = 0;
    bool placed = true;
    if (intervals == NULL)
        return pv_no_memory(err);
    double one_by_one_s = 0;
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        if (stage->skipped)
            continue;
        intervals[n++] = (struct interval){stage->started_s, stage->started_s + stage->duration_s};
        placed = placed && !isnan(stage->started_s);
        one_by_one_s += stage->duration_s;
    }
    *busy_s = placed && !isnan(one_by_one_s) ? unite(intervals, n) : one_by_one_s;
    arena_rewind(scratch, mark);
    return PV_OK;
}

/* --- all of it --- */

static enum pv_code add_stage(const struct run_stage *stage,
                              double slots,
                              struct arena *scratch,
                              struct run_measures *sum,
                              struct pv_error *err)
{
    double busiest_s;
    PV_TRY(find_busiest(stage, slots, scratch, &busiest_s, err));
    sum->parallel_s += task_time_of(stage);
    sum->max_task_s += busiest_s;
    /* fmax would take an unknown for nothing. */
    double beyond_s = stage->duration_s - busiest_s;
    sum->induced_s += beyond_s < 0 ? 0 : beyond_s;
    return PV_OK;
}

/* Time after the initialization in which no stage ran, without that in which a session was
 * left alone. */
static enum pv_code find_serial(const struct run *run,
                                double busy_s,
                                struct arena *scratch,
                                double *serial_s,
                                struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct run worked = *run;
    PV_TRY(run_leave_out_idle(&worked, scratch, err));
    double left_s = worked.duration_s - worked.initialization_s - busy_s;
    *serial_s = left_s < 0 ? 0 : left_s;
    arena_rewind(scratch, mark);
    return PV_OK;
}

enum pv_code run_measure(const struct run *run,
                         struct arena *scratch,
                         struct run_measures *measures,
                         struct pv_error *err)
{
    struct run_measures sum = {0, 0, 0, 0};
    size_t ran = 0;
    double busy_s = (double)NAN;
    for (size_t i = 0; i < run->n_stages; i++) {
        if (run->stages[i].skipped)
            continue;
        ran++;
        PV_TRY(add_stage(&run->stages[i], task_slots_of_run(run, &run->stages[i]), scratch, &sum,
                         err));
    }
    PV_TRY(find_stage_time(run, scratch, &busy_s, err));
    PV_TRY(find_serial(run, busy_s, scratch, &sum.serial_s, err));
    if (ran == 0)
        sum = (struct run_measures){(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    *measures = sum;
    return PV_OK;
}
