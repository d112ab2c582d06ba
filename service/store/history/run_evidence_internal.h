#ifndef STORE_HISTORY_RUN_EVIDENCE_INTERNAL_H
#define STORE_HISTORY_RUN_EVIDENCE_INTERNAL_H

#include "core/scaling/history/run_observations.h"
#include "store/store_internal.h"

/* Columns of a run r, in the order in which they are read. */
#define RUN_EVIDENCE_COLUMNS                                                                       \
    "r.id, r.instant, r.replayable, r.cores_per_executor, r.core_s, r.task_time_s,"                \
    " r.failed_task_time_s,"                                                                       \
    " r.property_values[array_position(r.property_keys, 'spark.executor.instances')],"             \
    " r.property_values[array_position(r.property_keys, 'spark.dynamicAllocation.enabled')],"      \
    " coalesce(r.executors_lost, 0) > 0, r.warning_codes"

struct run_evidence run_evidence_read(struct row *row, int64_t executors, double duration_s);

#endif
