#include "core/control/trace.h"

#include <math.h>

/* Where instants lie further apart than the interval (a start of 1e12 s, an interval of 1e-6 s), it
 * is doubled until each interval begins after the one before. */
static double distinct_interval_s(double start_s, double interval_s)
{
    double spacing_s = nextafter(fabs(start_s), HUGE_VAL) - fabs(start_s);
    while (interval_s < 4 * spacing_s)
        interval_s *= 2;
    return interval_s;
}

bool control_trace_init(struct control_trace *trace,
                        size_t n_jobs,
                        size_t n_stages,
                        size_t intervals,
                        double start_s,
                        double interval_s,
                        struct arena *arena)
{
    *trace = (struct control_trace){.start_s = start_s,
                                    .interval_s = distinct_interval_s(start_s, interval_s),
                                    .most = intervals - intervals % 2,
                                    .n_jobs = n_jobs};
    trace->jobs = arena_calloc(arena, n_jobs, sizeof *trace->jobs);
    trace->stages = arena_array(arena, n_stages, sizeof *trace->stages);
    if (trace->jobs == NULL || trace->stages == NULL)
        return false;
    for (size_t s = 0; s < n_stages; s++)
        trace->stages[s] = (struct control_trace_stage){(double)NAN, (double)NAN, (double)NAN};
    for (size_t j = 0; j < n_jobs; j++) {
        struct control_trace_job *job = &trace->jobs[j];
        job->since_s = start_s;
        job->requested = arena_calloc(arena, trace->most, sizeof *job->requested);
        job->granted = arena_calloc(arena, trace->most, sizeof *job->granted);
        if (job->requested == NULL || job->granted == NULL)
            return false;
    }
    return true;
}

static void merge_pairs(double values[], size_t n)
{
    for (size_t i = 0; i < n / 2; i++)
        values[i] = values[2 * i] + values[2 * i + 1];
    for (size_t i = n / 2; i < n; i++)
        values[i] = 0;
}

static void make_room(struct control_trace *trace, double now_s)
{
    while ((now_s - trace->start_s) / trace->interval_s > (double)trace->most) {
        for (size_t j = 0; j < trace->n_jobs; j++) {
            merge_pairs(trace->jobs[j].requested, trace->most);
            merge_pairs(trace->jobs[j].granted, trace->most);
        }
        trace->interval_s *= 2;
    }
}

static double begin_of(const struct control_trace *trace, size_t interval)
{
    return trace->start_s + (double)interval * trace->interval_s;
}

/* The interval that an instant is in, or begins. */
static size_t interval_at(const struct control_trace *trace, double at_s)
{
    double at = floor((at_s - trace->start_s) / trace->interval_s);
    size_t interval = at < (double)trace->most ? (size_t)at : trace->most - 1;
    /* What division rounded down to the end of the one before. */
    return interval + 1 < trace->most && begin_of(trace, interval + 1) <= at_s ? interval + 1
                                                                               : interval;
}

/* The core seconds up to now. */
static void fill_in(struct control_trace *trace, struct control_trace_job *job, double now_s)
{
    make_room(trace, now_s);
    while (job->since_s < now_s) {
        size_t i = interval_at(trace, job->since_s);
        double until_s = i + 1 < trace->most ? fmin(now_s, begin_of(trace, i + 1)) : now_s;
        job->requested[i] += job->requested_now * (until_s - job->since_s);
        job->granted[i] += job->granted_now * (until_s - job->since_s);
        job->since_s = until_s;
    }
}

void control_trace_set(
    struct control_trace *trace, size_t job, double now_s, double requested, double granted)
{
    fill_in(trace, &trace->jobs[job], now_s);
    trace->jobs[job].requested_now = requested;
    trace->jobs[job].granted_now = granted;
}

void control_trace_end(struct control_trace *trace, double now_s)
{
    for (size_t j = 0; j < trace->n_jobs; j++)
        fill_in(trace, &trace->jobs[j], now_s);
    double used = ceil((now_s - trace->start_s) / trace->interval_s);
    trace->intervals = used < (double)trace->most ? (size_t)used : trace->most;
    for (size_t i = 0; i < trace->intervals; i++) {
        double lasts_s = i + 1 == trace->intervals ? now_s - begin_of(trace, i) : trace->interval_s;
        for (size_t j = 0; j < trace->n_jobs && lasts_s > 0; j++) {
            trace->jobs[j].requested[i] /= lasts_s;
            trace->jobs[j].granted[i] /= lasts_s;
        }
    }
}
