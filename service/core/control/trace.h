#ifndef CORE_CONTROL_TRACE_H
#define CORE_CONTROL_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/*
 * What a simulation records on request: the cores that each job requests and has, as means over
 * intervals of one length, which doubles whenever the simulation outgrows the room there is; and
 * when each stage began and ended. So a trace is bounded however long it becomes, and areas under
 * its curves are exact.
 */
struct control_trace_stage {
    double started_s;  /* NAN: it took no time, so no executor worked on it */
    double deadline_s; /* from its start, as planned then */
    double ended_s;
};

struct control_trace_job {
    double *requested; /* in each interval: core seconds while recording, then mean cores */
    double *granted;
    double requested_now;
    double granted_now;
    double since_s; /* up to which the intervals are filled in */
};

struct control_trace {
    double start_s;
    double interval_s;
    size_t intervals; /* in use, at the end */
    size_t most;      /* room, an even number */
    struct control_trace_job *jobs;
    size_t n_jobs;
    struct control_trace_stage *stages; /* by number over all jobs */
};

/* Room for at most `intervals` >= 2 (rounded down to an even number), each of interval_s > 0 to
 * begin with. false: out of memory. */
bool control_trace_init(struct control_trace *trace,
                        size_t n_jobs,
                        size_t n_stages,
                        size_t intervals,
                        double start_s,
                        double interval_s,
                        struct arena *arena);

/* From now on a job requests and has so many cores. Times do not fall. */
void control_trace_set(
    struct control_trace *trace, size_t job, double now_s, double requested, double granted);

/* Nothing comes after now_s: turn what was recorded into means. */
void control_trace_end(struct control_trace *trace, double now_s);

#endif
