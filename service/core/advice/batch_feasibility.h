#ifndef CORE_ADVICE_BATCH_FEASIBILITY_H
#define CORE_ADVICE_BATCH_FEASIBILITY_H

#include "base/arena.h"
#include "base/error.h"
#include "base/finding.h"
#include "core/deadline/launches.h"

/*
 * Can all jobs of a batch keep their deadlines together on one cluster, each with the cores that are
 * recommended for it alone? They are scheduled by Clairvoyance EDF (core/deadline/clairvoyant_edf.h).
 * A job is as many tasks as it has cores, each as long as the job is predicted to take: so a job that
 * has its executors for itself takes just that, and one that has to share them takes longer.
 * Where memory is counted, jobs wait for it (docs/design.md, "Memory"); one that needs more than there
 * is, is not scheduled.
 */
struct batch_job {
    double release_s;     /* >= 0, from now */
    double deadline_s;    /* from the release; NAN: none, it goes after those that have one */
    int64_t cores;        /* RUN_UNKNOWN: nothing is recommended, it is not scheduled */
    double duration_s;    /* predicted */
    int64_t memory_bytes; /* RUN_UNKNOWN: it holds none that is counted */
    double launched_s;    /* result, from now; NAN: not scheduled */
    double completion_s;  /* result, from now; NAN: not scheduled */
    bool met;             /* result; true without a deadline, false where not scheduled */
};

struct batch_outcome {
    bool feasible; /* all are scheduled and meet their deadlines */
    int64_t
        min_total_cores; /* with which they would; RUN_UNKNOWN: feasible as it is, or none found */
    struct launches launches;
};

/* Fills in the results of each job. cores: of the cluster, >= 1. memory: NULL, none is counted. scratch is back at its mark.
 * PV_E_MEMORY. */
enum pv_code batch_feasibility_check(struct batch_job jobs[],
                                     size_t n,
                                     size_t cores,
                                     const struct edf_memory *memory,
                                     uint64_t task_budget,
                                     struct arena *scratch,
                                     struct batch_outcome *outcome,
                                     struct pv_error *err) PV_MUSTCHECK;

/* Adds the assumption of the answer as the reason `jobs_hold_executors`: a check of stages may decide otherwise. */
void batch_feasibility_explain(const struct batch_outcome *outcome,
                               size_t n,
                               struct findings *reasons);

#endif
