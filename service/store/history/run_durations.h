#ifndef STORE_HISTORY_RUN_DURATIONS_H
#define STORE_HISTORY_RUN_DURATIONS_H

#include "core/scaling/selection/contexts.h"
#include "store/history/application.h"
#include "store/history/run_evidence.h"
#include "store/store.h"

/* What a scaling model wants to know of a run. */
struct run_duration {
    bool replayable; /* executors, cores and stages are known, too */
    struct context_labels labels;
    int64_t problem_size;
    int64_t executors;
    int64_t cores_per_executor; /* RUN_UNKNOWN */
    double duration_s;
    double initialization_s; /* NAN: unknown */
    struct run_evidence evidence;
    double weight; /* 1; others may judge the run and change it */
};

struct run_duration_list {
    struct run_duration *items; /* newest first */
    size_t n;
};

/* The latest runs, at most `limit`, that succeeded and whose size, executors and duration are
 * known. PV_E_MEMORY and what a transaction can fail with. */
enum pv_code store_run_durations(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct application *application,
                                 size_t limit,
                                 struct run_duration_list *list,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif
