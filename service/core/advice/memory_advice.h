#ifndef CORE_ADVICE_MEMORY_ADVICE_H
#define CORE_ADVICE_MEMORY_ADVICE_H

#include "core/advice/history_prediction.h"
#include "core/spark/memory_plan.h"

/* The memory of the executors that advice recommends, and what it changes. */
struct memory_advice {
    struct memory_plan plan;
    int64_t cores_per_executor; /* RUN_UNKNOWN */
    int64_t change_bytes;       /* of all executors together; < 0: saved. MEMORY_NO_CHANGE */
    double change_cost;         /* of a run, < 0: saved; NAN without a price of memory */
};

#define MEMORY_NO_CHANGE INT64_MIN

/*
 * Bytes of an executor in all before it is known how many are recommended: *bytes as the properties
 * set it for `executors`, without proposals, or as configured where the history shows nothing of
 * memory. RUN_UNKNOWN. PV_E_MEMORY.
 */
enum pv_code memory_container(const struct history_prediction *prediction,
                              const struct advice_question *question,
                              int64_t executors,
                              int64_t cores_per_executor,
                              int64_t most_per_executor,
                              struct arena *arena,
                              int64_t *bytes,
                              struct pv_error *err) PV_MUSTCHECK;

/*
 * What an executor holds of a cluster's memory: memory_container, else all that the cluster has for
 * one. RUN_UNKNOWN: neither is known. PV_E_MEMORY.
 */
enum pv_code memory_held(const struct history_prediction *prediction,
                         const struct advice_question *question,
                         int64_t executors,
                         int64_t cores_per_executor,
                         int64_t most_per_executor,
                         struct arena *arena,
                         int64_t *bytes,
                         struct pv_error *err) PV_MUSTCHECK;

/*
 * executors, cores_per_executor: recommended; RUN_UNKNOWN where nothing is, and those of the last
 * run count. duration_s: that a run takes; NAN. most_per_executor: bytes that the cluster has for
 * one; RUN_UNKNOWN. Reasons (memory) and warnings (memory_exceeds_cluster, and memory_unknown where
 * the question includes memory) are added to *advice.
 * PV_E_MEMORY.
 */
enum pv_code memory_advise(const struct history_prediction *prediction,
                           const struct advice_question *question,
                           int64_t executors,
                           int64_t cores_per_executor,
                           double duration_s,
                           int64_t most_per_executor,
                           struct arena *arena,
                           struct advice *advice,
                           struct memory_advice *memory,
                           struct pv_error *err) PV_MUSTCHECK;

#endif
