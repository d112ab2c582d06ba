#include "core/spark/memory_evidence.h"

#include <math.h>
#include <stdio.h>

/* Loads that differ by less count as one: sizes that are measured differ a little from day to day. */
static const double SAME_LOAD = 0.99;
/* Runs with more than that many times the load show nothing of failures or pressure. */
static const double LIKE_LOAD = 2.0;

double memory_load(double problem_size, int64_t executors)
{
    return problem_size / (executors > 0 ? (double)executors : 1.0);
}

bool memory_is_as_large(double of, double load)
{
    return !(of < SAME_LOAD * load);
}

/* The load of a run; by size alone if the executors of either are unknown. */
static double load_of(const struct memory_run *run, int64_t executors, double *asked, double size)
{
    bool by_executors = run->executors > 0 && executors > 0;
    *asked = memory_load(size, by_executors ? executors : 1);
    return memory_load(run->problem_size, by_executors ? run->executors : 1);
}

/* The load of a run relative to that in question; NAN: unknown. */
static double relative_load(const struct memory_run *run, int64_t executors, double size)
{
    double asked;
    double load = load_of(run, executors, &asked, size);
    return load / asked;
}

static bool shows_pressure(const struct memory_run *run)
{
    return run->spilled_share > MEMORY_SPILL_SHARE / 10 || run->gc_share > MEMORY_GC_SHARE;
}

static bool ended_well(const struct memory_run *run)
{
    return run->succeeded && !(run->out_of_memory_errors > 0) && !(run->memory_limit_kills > 0) &&
           !shows_pressure(run);
}

static struct memory_mark mark_of(const struct memory_run *run, int64_t bytes, int64_t events)
{
    struct memory_mark mark = {
        .bytes = bytes, .cores_per_executor = run->cores_per_executor, .events = events};
    (void)snprintf(mark.run_id, sizeof mark.run_id, "%.36s", run->run_id);
    return mark;
}

/* Judges one part of the memory. is_short: the run did not have enough of that part. *short_of is the
 * most that newer runs had which did not have enough. */
static void see_outcome(const struct memory_run *run,
                        int64_t bytes,
                        int64_t events,
                        bool is_short,
                        double load,
                        int64_t *short_of,
                        struct memory_mark *failed,
                        struct memory_mark *sufficed)
{
    bool is_smaller = !(load > LIKE_LOAD);
    if (bytes == RUN_UNKNOWN)
        return;
    if (is_smaller && events > 0 && bytes > failed->bytes)
        *failed = mark_of(run, bytes, events);
    if (is_smaller && is_short && bytes > *short_of)
        *short_of = bytes;
    if (ended_well(run) && memory_is_as_large(load, 1.0) && bytes > *short_of &&
        (sufficed->bytes == RUN_UNKNOWN || bytes < sufficed->bytes))
        *sufficed = mark_of(run, bytes, 0);
}

/* Where one of two figures is unknown, fmax() takes the other. */
static void raise(double *most, double bytes, double times)
{
    *most = fmax(*most, bytes * times);
}

static void see_use(const struct memory_history *history,
                    const struct memory_run *run,
                    double load,
                    struct memory_evidence *evidence)
{
    const struct memory_peaks *peaks = &run->peaks;
    double growth = load < 1.0 ? 1.0 / load : 1.0;
    evidence->runs_measured++;
    if (ended_well(run) && memory_is_as_large(load, 1.0) && run->had.heap != RUN_UNKNOWN &&
        run->had.heap <= history->ran.heap)
        evidence->runs_sufficed++;
    if (run->cores_per_executor > evidence->cores_per_executor)
        evidence->cores_per_executor = run->cores_per_executor;
    raise(&evidence->peaks.heap, peaks->heap, growth);
    raise(&evidence->peaks.unified, peaks->unified, growth);
    raise(&evidence->peaks.storage, peaks->storage,
          run->problem_size < history->problem_size ? history->problem_size / run->problem_size
                                                    : 1.0);
    raise(&evidence->peaks.off_heap, peaks->off_heap, growth);
    raise(&evidence->peaks.python, peaks->python, growth);
    raise(&evidence->peaks.process, peaks->process, growth);
    raise(&evidence->peaks.non_heap, peaks->non_heap, 1.0);
}

static bool is_measured_well(const struct memory_run *run)
{
    return run->succeeded && run->is_measured;
}

/* The load that runs must have for their peaks to count, relative to that in question: 1, or the
 * largest there is. */
static double reference_load(const struct memory_history *history, int64_t executors)
{
    double most = 0.0;
    for (size_t i = 0; i < history->n; i++) {
        double load = relative_load(&history->items[i], executors, history->problem_size);
        if (is_measured_well(&history->items[i]))
            most = isnan(load) ? 1.0 : fmax(most, load);
    }
    return fmin(most, 1.0);
}

struct memory_evidence memory_evidence_of(const struct memory_history *history, int64_t executors)
{
    static const struct memory_mark none = {.bytes = RUN_UNKNOWN};
    const double nan = (double)NAN;
    struct memory_evidence evidence = {.cores_per_executor = RUN_UNKNOWN,
                                       .peaks = {nan, nan, nan, nan, nan, nan, nan},
                                       .spilled_share = nan,
                                       .spilled_bytes = nan,
                                       .gc_share = nan,
                                       .heap_failed = none,
                                       .heap_sufficed = none,
                                       .overhead_failed = none,
                                       .overhead_sufficed = none,
                                       .heap_of_load = RUN_UNKNOWN};
    if (executors < 1 && history->base < history->n)
        executors = history->items[history->base].executors;
    int64_t heap_short = RUN_UNKNOWN, overhead_short = RUN_UNKNOWN;
    double reference = reference_load(history, executors);
    bool any_like = false;
    evidence.is_as_large = memory_is_as_large(reference, 1.0);
    for (size_t i = 0; i < history->n; i++) {
        const struct memory_run *run = &history->items[i];
        double load = relative_load(run, executors, history->problem_size);
        int64_t errors = run->out_of_memory_errors, kills = run->memory_limit_kills;
        see_outcome(run, run->had.heap, errors, errors > 0 || shows_pressure(run), load,
                    &heap_short, &evidence.heap_failed, &evidence.heap_sufficed);
        see_outcome(run, run->had.overhead, kills, kills > 0, load, &overhead_short,
                    &evidence.overhead_failed, &evidence.overhead_sufficed);
        if (is_measured_well(run) && memory_is_as_large(load, reference))
            see_use(history, run, load, &evidence);
        if (!run->succeeded || any_like || load > LIKE_LOAD || load < 1.0 / LIKE_LOAD)
            continue;
        any_like = true;
        evidence.spilled_share = run->spilled_share;
        evidence.spilled_bytes =
            run->spilled_bytes / (run->executors > 0 ? (double)run->executors : 1.0);
        evidence.gc_share = run->gc_share;
        evidence.heap_of_load = run->had.heap;
    }
    return evidence;
}
