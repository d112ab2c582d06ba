#ifndef TESTS_GOLDEN_SWIM_TRACE_H
#define TESTS_GOLDEN_SWIM_TRACE_H

#include "base/vector.h"
#include "core/scheduling/slots_workload.h"

/*
 * Traces in the format of SWIM (data/swim of the shared data): a line a job, its name, when it was
 * submitted, the gap to the one before, and bytes of input, of shuffled data and of output. Such a
 * trace has no times. These rates make tasks of its bytes: a map reads a block, the last one what is
 * left of the input; reduces share the shuffled bytes and the output evenly; and every task takes
 * task_s besides. A job without shuffled bytes has no reduces.
 */
struct swim_rates {
    double block_bytes;
    double reduce_bytes; /* shuffled bytes of one reduce, at most */
    double map_bytes_per_s;
    double shuffle_bytes_per_s;
    double output_bytes_per_s;
    double task_s;
};

struct swim_trace {
    VECTOR(struct slots_job) jobs;
    VECTOR(double) input_bytes; /* of each job */
    double tasks;
};

/* Add the jobs of a file, in its order. false: there is no such file, or no memory. */
bool swim_trace_read(struct swim_trace *trace,
                     const char *path,
                     const struct swim_rates *rates,
                     struct arena *arena);

/* Give a job `count` >= 1 tasks, all but the last of duration_s. false: no memory. */
bool swim_add_tasks(struct slots_job *job,
                    enum slots_kind kind,
                    double count,
                    double duration_s,
                    double last_s,
                    struct arena *arena);

#endif
