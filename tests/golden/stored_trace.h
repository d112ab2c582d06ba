#ifndef TESTS_GOLDEN_STORED_TRACE_H
#define TESTS_GOLDEN_STORED_TRACE_H

#include "base/vector.h"
#include "core/workload/workload_import.h"
#include "core/workload/workload_load.h"

/* A published trace as the service keeps it: read and summarized, in chunks, and loaded from them
 * (core/workload). What cannot be had of memory, and chunks that cannot be read, abort. */
struct stored_trace {
    struct arena arena;
    VECTOR(struct strview) chunks;
    struct workload_summary summary;
};

/* Read a file. false: there is no such file. A fault of the trace ends the program with a line that
 * names it. */
bool stored_trace_read(struct stored_trace *trace,
                       const char *path,
                       const struct workload_terms *terms);

/* All jobs, in the arena of the trace. */
struct workload_jobs stored_trace_load(struct stored_trace *trace, enum workload_target target);

/* The bytes that each job reads; summary.jobs of them, in the order of the trace. */
void stored_trace_input(const struct stored_trace *trace, double input_bytes[]);

void stored_trace_end(struct stored_trace *trace);

#endif
