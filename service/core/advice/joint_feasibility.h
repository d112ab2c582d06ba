#ifndef CORE_ADVICE_JOINT_FEASIBILITY_H
#define CORE_ADVICE_JOINT_FEASIBILITY_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/advice/advise.h"
#include "core/advice/replay.h"
#include "core/deadline/launches.h"
#include "core/history/run.h"

/*
 * Can the deadline be met while other jobs are running? All of them, the new one included, are
 * scheduled by Clairvoyance EDF on the cores of the cluster, and in its memory where that is counted.
 *
 * A running job is the recorded run nearest to it in size and cores (core/advice/recorded_job.h). Its release may be negative: it is then
 * scheduled from that instant on, first with the other running jobs only, so that at instant 0,
 * when the new job joins, as much of it is done as the cores allowed. Where its progress is known,
 * only the rest of its task time is scheduled, from instant 0 on. The new job is the nearest run
 * rescaled to the recommended configuration and to its predicted duration. The part of a job that
 * needs no core (start-up, driver) delays its stages.
 *
 * A job of which only advice is known has as many tasks as it has cores, each as long as the job is
 * predicted to take; so has the new one where it is capped.
 */
struct joint_running {
    const struct run *runs; /* nearest to it first */
    size_t n_runs;          /* 0: as advised, by cores and duration_s */
    double problem_size;    /* NAN: that of the nearest run */
    int64_t cores;
    double duration_s;    /* predicted */
    int64_t memory_bytes; /* 0: it holds none that is counted */
    double release_s;     /* relative to now; negative: already running */
    double deadline_s;    /* > 0, from the release */
    double progress;      /* share of its task time that is done, 0..1; NAN: unknown */
};

struct joint_question {
    const struct run *runs; /* of the new application, nearest in size first */
    size_t n_runs;
    struct replay_target target;
    double predicted_duration_s;
    double deadline_s; /* NAN: none, the new job goes last */
    const struct joint_running *running;
    size_t n_running;
    size_t cores;                    /* of the cluster */
    bool capped;                     /* the new job has the target's executors and no more */
    const struct edf_memory *memory; /* of the cluster; NULL: none is counted */
    int64_t memory_bytes;            /* that the new job holds, at most memory->bytes */
    uint64_t task_budget;
};

struct joint_standing {
    bool met_alone; /* without the new job */
    bool met;       /* with it */
    double execution_s;
    double launched_s; /* with it */
};

struct joint_outcome {
    struct joint_standing *running; /* n_running */
    bool met;                       /* the new job; true without a deadline */
    double execution_s;             /* the new job, from now to its end */
    double launched_s;              /* the new job: when it has its memory */
    struct launches launches;       /* of all, the new job last */
    double alone_s;                 /* the same without the running jobs */
    bool has_remedies;              /* looked for when the new job misses */
    int64_t min_total_cores;        /* RUN_UNKNOWN: none found */
    bool exact;                     /* false: the search was cut by its budget */
    double deadline_s; /* that the new job would meet on these cores; NAN: none found */
};

/* Results live in `arena`; scratch is back at its mark. PV_E_TOO_FEW, PV_E_MEMORY. */
enum pv_code joint_feasibility_check(const struct joint_question *question,
                                     struct arena *arena,
                                     struct arena *scratch,
                                     struct joint_outcome *outcome,
                                     struct pv_error *err) PV_MUSTCHECK;

/*
 * Beside these jobs, with how many executors would nobody be late? fits[i] says so of curve->points[i]:
 * capped at them, the new job meets its deadline, and so does each running job that does without it.
 * Points that the goal does not allow do not fit. False in *whole: the budget of simulated tasks was
 * spent before all were tried, and fits is of no use. each_bytes[i]: memory of an executor of point i,
 * looked at where memory counts. The rest is
 * as in joint_feasibility_check, of which the target's executors and the predicted duration are not
 * looked at. PV_E_MEMORY.
 */
enum pv_code joint_feasibility_counts(const struct joint_question *question,
                                      const struct curve *curve,
                                      const struct advise_goal *goal,
                                      const int64_t each_bytes[],
                                      struct arena *scratch,
                                      bool fits[],
                                      bool *whole,
                                      struct pv_error *err) PV_MUSTCHECK;

/*
 * What the running jobs mean for the advice: a reason, a warning for running jobs that are late
 * or that the new job makes late, and feasible = false where the new job itself misses its
 * deadline; what was found for the new job alone is then marked as such (codes deadline_met_alone
 * and objective_alone) and stands behind missed_beside_running. names: of the question's running
 * jobs, NUL-terminated, living as long as the advice. PV_E_MEMORY.
 */
enum pv_code joint_feasibility_explain(const struct joint_question *question,
                                       const struct joint_outcome *outcome,
                                       const char *const names[],
                                       struct arena *arena,
                                       struct advice *advice,
                                       struct pv_error *err) PV_MUSTCHECK;

#endif
