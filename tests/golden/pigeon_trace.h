#ifndef TESTS_GOLDEN_PIGEON_TRACE_H
#define TESTS_GOLDEN_PIGEON_TRACE_H

#include "base/vector.h"
#include "core/scheduling/tasks/tasks_model.h"

/* The traces that came with Pigeon's simulator (data/pigeon-traces of the shared data): a line a
 * job, its arrival, number of tasks, their mean duration, and their durations, in seconds. */
struct pigeon_trace {
    VECTOR(struct tasks_job) jobs;
};

/* Add the jobs of a trace; they are long where the mean duration of their tasks is above the
 * cut-off. shared: NULL is "../shared". false: there is no such trace, or no memory. */
bool pigeon_trace_read(struct pigeon_trace *trace,
                       const char *shared,
                       const char *name,
                       double short_cutoff_s,
                       struct arena *arena);

#endif
