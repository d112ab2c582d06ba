#ifndef CORE_CONTROL_SIMULATION_H
#define CORE_CONTROL_SIMULATION_H

#include "core/control/model.h"
#include "core/control/trace.h"

/*
 * xSpark's control loop simulated (S. Ripamonti, thesis, Politecnico di Milano 2017, chapter 3;
 * docs/design.md, "Control simulations"): jobs with deadlines on workers; on each worker an
 * executor for each stage that runs, with a controller, and a supervisor that shares the cores.
 * It stands on core/sim.
 */
struct control_run {
    const struct contention_strategy *strategy;
    double gamma;
    double steps_max; /* samples of executors and tasks, after which it is given up */
};

/* Called now and then with the tasks that have ended. false: stop. */
struct control_progress {
    bool (*report)(void *context, size_t tasks);
    void *context;
};

struct control_result {
    struct edf_outcome *outcomes; /* of each job */
    double *core_s;               /* of the quotas that each job had, used or not */
    double *longest_wait_s;  /* of each job: the longest time that it requested cores and had none;
                               NULL: not known */
    double *share_deviation; /* of each job, 0 to 1: how far, over its samples, what it was granted
                               of its requests was from what all jobs of the worker were of
                               theirs; NULL: not known */
    struct edf_metrics metrics;
    double steps;
};

/*
 * Simulate one strategy with one gamma. The result lives in `arena`, what is worked with in
 * scratch, which is back at its mark. progress and trace may be NULL; a trace has room for the
 * model's jobs and stages, and is complete when the call returns.
 *
 * One model and one run have one result. PV_E_MEMORY, PV_E_CANCELLED (progress said so), PV_E_LIMIT
 * (steps_max). O(events log(executors) + samples x executors log(executors)).
 */
enum pv_code control_simulate(const struct control_model *model,
                              const struct control_run *run,
                              const struct control_progress *progress,
                              struct control_trace *trace,
                              struct arena *arena,
                              struct arena *scratch,
                              struct control_result *result,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
