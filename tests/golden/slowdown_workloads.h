#ifndef TESTS_GOLDEN_SLOWDOWN_WORKLOADS_H
#define TESTS_GOLDEN_SLOWDOWN_WORKLOADS_H

#include "core/scheduling/slots/slots_workload.h"
#include "core/sim/statistics.h"
#include "stored_trace.h"

/* Jobs of the trace FB-2009 of SWIM (data/swim of the shared data), which B. Ghit and D. Epema took
 * their workload from. It has no times; the rates are such that tasks last as long as those of their
 * table II. */

/* 100 nodes with 6 map and 2 reduce slots each. */
extern const struct slots_cluster slowdown_cluster;

/* Jobs of the trace whose input lies between these bounds. */
struct slowdown_bounds {
    const char *name;
    double least_bytes;
    double most_bytes;
};

enum {
    SLOWDOWN_ALL_BUT_ONE,
    SLOWDOWN_ALL,
    SLOWDOWN_LIKE_THEIRS, /* about as even as the paper's */
    SLOWDOWN_WORKLOADS
};

extern const struct slowdown_bounds slowdown_workloads[SLOWDOWN_WORKLOADS];

struct slowdown_workload {
    struct slots_job *jobs;
    double *runtime_s; /* of each alone */
    size_t n;
    double work_s; /* of all */
    struct running_moments sizes_s;
};

/* false: there is no trace, whose name is path then. */
bool slowdown_trace_read(struct stored_trace *trace, char path[], size_t path_bytes);

/* The jobs of a trace within the bounds of each workload, in its arena. Aborts where there is no
 * memory. */
void slowdown_select(struct stored_trace *trace,
                     struct slowdown_workload selected[SLOWDOWN_WORKLOADS]);

/* How uneven each workload is: a table of evidence. */
void slowdown_print_workloads(const struct slowdown_workload selected[SLOWDOWN_WORKLOADS],
                              struct arena *scratch);

#endif
