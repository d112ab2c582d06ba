#ifndef CORE_SCALING_HISTORY_RUN_OBSERVATIONS_H
#define CORE_SCALING_HISTORY_RUN_OBSERVATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/scaling/history/explaining_labels.h"
#include "core/scaling/model/observation.h"

/* What besides its duration speaks about a run: when it was, and whether it ran as its executors
 * would have. NAN: unknown. */
struct run_evidence {
    char run_id[37];
    int64_t instant_us;
    bool replayable;            /* executors, cores and stages are known */
    int64_t cores_per_executor; /* RUN_UNKNOWN */
    double executors_asked;     /* spark.executor.instances, where executors do not come and go */
    double executors_share;     /* that existed on average, of `executors` */
    double failed_share;        /* of the task time */
    bool dynamic_allocation;    /* executors came and went */
    bool executors_lost;        /* the platform took executors away: nothing that recurs */
    uint32_t warnings;          /* core/history/warned_runs.h */
    bool far_off;               /* its duration alone has lowered the weight of its row */
};

/* What fits of other applications of the team showed of a machine that does no work, of those that
 * count alike: ln of likelihood ratios (core/scaling/laws/idle_share.h). */
struct idle_ratios {
    double *at; /* newest first */
    size_t n;
};

/* Errors of laws on executor counts that did not run, in other applications of the team: means of
 * squares (core/scaling/history/law_errors.h). */
struct law_errors {
    double *at; /* newest first */
    size_t n;
};

/* The newest runs of an application as observations, and which were left out. */
struct run_observations {
    int64_t history_version;       /* of the snapshot they come from */
    int64_t runs;                  /* of the application */
    size_t looked_at;              /* the newest of them */
    struct observation *rows;      /* newest first */
    struct run_label_list *labels; /* of each row */
    struct run_evidence *evidence; /* one a row */
    size_t n;
    struct run_evidence *failures;     /* `failed` of them, newest first */
    struct idle_ratios idle[2];        /* of others: [false] machines, [true] executors counted */
    struct law_errors law_errors;      /* of others */
    const struct process_theta *theta; /* kept of them; NULL: nothing */
    /* Those left out; one may lack several things. */
    size_t failed;
    size_t without_problem_size;
    size_t without_executors;
    size_t without_duration;
};

#endif
