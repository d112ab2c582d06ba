#ifndef CORE_ADVICE_STAGE_SLOTS_H
#define CORE_ADVICE_STAGE_SLOTS_H

#include "base/arena.h"
#include "base/error.h"
#include "core/autoscaling/allocation_replay.h"
#include "core/deadline/makespan.h"
#include "core/history/task_slots.h"
#include "core/spark/configuration.h"

/*
 * The task slots (core/history/task_slots.h) of the stages of a replayed job, on executors of any
 * number and size. Most jobs have one resource profile and no barrier stage: `alike` is then true,
 * and each executor is so many identical cores for all stages.
 */
struct stage_slots {
    const struct run *run;
    struct task_slots *of; /* by stage of the job */
    bool *is_barrier;      /* by stage */
    size_t n;
    bool alike;
};

/* Requests of a task by the properties that a request sends. Enforced properties count before current
 * ones. */
struct run_asked stage_slots_asked(const struct spark_constraints *constraints);

/* asked: with what each task takes in the run that is asked about. *made lives in `arena`. PV_E_MEMORY. */
enum pv_code stage_slots_take(const struct run *run,
                              const struct edf_job *job,
                              bool asked,
                              struct arena *arena,
                              struct stage_slots *made,
                              struct pv_error *err) PV_MUSTCHECK;

/* Tasks of stage s that an executor of so many cores runs at once, at least 1. */
int64_t stage_slots_per_executor(const struct stage_slots *slots, size_t s, int64_t cores);

/* Tasks of stage s that run at once on so many executors of so many cores, at least 1. */
double
stage_slots_count(const struct stage_slots *slots, size_t s, int64_t executors, int64_t cores);

/* The makespan of the job, or one with the same stages, on executors that are there all the time.
 * plan, longest_s: as makespan_find. PV_E_MEMORY. */
enum pv_code stage_slots_makespan(const struct stage_slots *slots,
                                  const struct edf_plan *plan,
                                  const struct edf_job *job,
                                  const double longest_s[],
                                  int64_t executors,
                                  int64_t cores,
                                  struct arena *scratch,
                                  double *seconds,
                                  struct pv_error *err) PV_MUSTCHECK;

/*
 * For executors that come and go: sets task_units (NULL if the slots are alike) and
 * cores_per_executor. Executors of one pool then serve the stages of all pools. Members live in
 * `arena`. PV_E_MEMORY.
 */
enum pv_code stage_slots_allocate(const struct stage_slots *slots,
                                  int64_t cores,
                                  struct arena *arena,
                                  struct allocation_job *job,
                                  struct pv_error *err) PV_MUSTCHECK;

/* PV_E_TOO_FEW, and which property says so: an executor of so many cores has too few for a task. */
enum pv_code stage_slots_check(const struct stage_slots *slots,
                               int64_t cores,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
