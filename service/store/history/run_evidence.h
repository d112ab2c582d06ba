#ifndef STORE_HISTORY_RUN_EVIDENCE_H
#define STORE_HISTORY_RUN_EVIDENCE_H

#include <stdint.h>

/* What besides its duration speaks about a run: when it was, and whether it ran as its executors
 * would have. NAN: unknown. */
struct run_evidence {
    char run_id[37];
    int64_t instant_us;
    int64_t cores_per_executor; /* RUN_UNKNOWN */
    double executors_asked;     /* spark.executor.instances, where executors do not come and go */
    double executors_share;     /* there on the mean, of `executors`; likewise */
    double failed_share;        /* of the task time */
};

#endif
