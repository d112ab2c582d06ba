#ifndef TESTS_CORE_SAMPLE_RUNS_H
#define TESTS_CORE_SAMPLE_RUNS_H

#include "base/arena.h"
#include "core/history/run.h"
#include "sample/simulate.h"

/* A simulated run as the log reader would hand it on. Everything lives in `arena`. */
struct run sample_as_run(const struct sample_application *application,
                         int64_t problem_size,
                         int64_t executors,
                         uint64_t seed,
                         struct arena *arena);

/* One stage of n tasks on cores = executors x cores_per_executor, as a client may send it. */
struct run run_of_stages(struct run_stage *stages,
                         size_t n,
                         int64_t problem_size,
                         int64_t executors,
                         int64_t cores_per_executor,
                         double duration_s,
                         double initialization_s);

/* A stage whose tasks are known one by one. */
struct run_stage stage_of_tasks(int64_t id, const double *durations_s, size_t n);

#endif
