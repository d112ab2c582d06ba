#ifndef CORE_HISTORY_RUN_CORES_H
#define CORE_HISTORY_RUN_CORES_H

#include "core/history/run.h"

/*
 * Cores of a run as a person states them, in a correction or together with a log: executors x
 * cores_per_executor. The run has at most as many as a cluster may have. An unknown count is taken as
 * 1.
 */
struct run_cores_fault {
    const char *member; /* the count that is too large */
    char text[160];     /* follows the name of the member */
};

/*
 * Has the run more cores than `most`? on_executors: the executors were stated and
 * cores_per_executor was not, so that they are at fault. *fault is written only then.
 */
bool run_cores_exceed(const struct run *run,
                      bool on_executors,
                      int64_t most,
                      struct run_cores_fault *fault);

#endif
