#ifndef CORE_HISTORY_RUN_PROFILE_H
#define CORE_HISTORY_RUN_PROFILE_H

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"

/* A stage of the latest graph with what the runs of that graph show on average. */
struct run_profile_stage {
    const struct run_stage *latest; /* id, name, parents, skipped, tasks: of the latest run */
    double task_duration_s;         /* means over the runs where known; NAN where never known */
    double task_time_s;
    double duration_s;
    double input_records;
    double nominal_rate_per_s;
    double weight; /* core/history/stage_weight.h with the mean durations; NAN: unknown */
};

/* A run that a profile was drawn from. */
struct run_source {
    char id[37];
    double problem_size;
    int64_t executors; /* RUN_UNKNOWN */
};

struct run_profile {
    struct run_profile_stage *stages; /* ascending by id */
    size_t n_stages;
    double average_nominal_rate_per_s; /* sum(rate weight) / sum(weight); NAN: no stage has both */
    size_t *runs;                      /* indices into the runs given: those it was drawn from */
    size_t n_runs;
    bool graph_changed; /* some of the runs given have another graph than the latest */
};

/*
 * Draw a profile from runs, newest first (n >= 1), each with its stages. The first one gives the
 * graph; means are over the runs that share it. runs is borrowed by the result; arrays are in
 * `arena`. PV_E_MEMORY.
 */
enum pv_code run_profile_build(const struct run runs[],
                               size_t n,
                               struct arena *arena,
                               struct run_profile *profile,
                               struct pv_error *err) PV_MUSTCHECK;

/* The runs of the profile, which was drawn from `runs`; sources has room for profile->n_runs. */
void run_profile_sources(const struct run_profile *profile,
                         const struct run runs[],
                         struct run_source sources[]);

#endif
