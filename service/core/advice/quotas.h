#ifndef CORE_ADVICE_QUOTAS_H
#define CORE_ADVICE_QUOTAS_H

#include "core/advice/advise.h"
#include "core/deadline/stage_plan.h"

/*
 * Quotas for the stages of advised executors: the stage plan (core/deadline/stage_plan.h, its
 * default terms) for the deadline asked and the configuration recommended, from a recorded run. The
 * work of its stages is taken to grow in proportion to the problem size; its start-up and its driver's
 * time are taken to stay.
 */

/* The run that the stages are taken from. */
struct quota_source {
    struct stage_plan_stage *stages;
    size_t n_stages;     /* 0: there are none to plan */
    const char *missing; /* why, where there are none: a clause without a full stop */
    char run_id[37];     /* "" for a run that is not stored */
    double problem_size;
    double ending_s; /* after its last stage only its driver ran */
};

/* Those of `run`; what is pointed at lives in `arena`. A run that cannot be planned is an answer
 * (source->missing), not an error. PV_E_MEMORY. */
enum pv_code quotas_take_run(const struct run *run,
                             struct arena *arena,
                             struct quota_source *source,
                             struct pv_error *err) PV_MUSTCHECK;

/*
 * Plan, and say from which run, or why there is no plan, among advice->reasons. *planned says
 * whether *plan was made: it takes a deadline and stages.
 *
 * problem_size  that is asked about, > 0
 * PV_E_MEMORY.
 */
enum pv_code quotas_plan(const struct quota_source *source,
                         const struct advise_goal *goal,
                         int64_t cores_per_executor,
                         double problem_size,
                         struct arena *arena,
                         struct advice *advice,
                         struct stage_plan *plan,
                         bool *planned,
                         struct pv_error *err) PV_MUSTCHECK;

#endif
