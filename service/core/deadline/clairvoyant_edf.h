#ifndef CORE_DEADLINE_CLAIRVOYANT_EDF_H
#define CORE_DEADLINE_CLAIRVOYANT_EDF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * Clairvoyance EDF: can a set of jobs with deadlines run together on K identical cores, when every
 * task and its duration is known beforehand? (S. Ripamonti, xSpark, thesis, Politecnico di Milano
 * 2017, section 5.2; docs/design.md, "Clairvoyance EDF", is the definition.)
 *
 * Times are seconds as doubles, counted from instant 0 of the request. Two instants are the same
 * when the doubles are equal.
 */
struct edf_stage {
    int64_t id;
    const size_t *parents; /* indices into the job's stages, each once, acyclic */
    size_t n_parents;
    size_t tasks;
    const double *task_durations_s; /* tasks long; NULL: every task lasts task_duration_s */
    double task_duration_s;
    /* From the end of its last parent, or the job's launch, until its tasks may start: the
     * application's start-up, or time in which only the driver works. It takes no core. */
    double delay_s; /* >= 0 */
};

/* Who of those that wait for memory is launched first. Equal ones: by the order in which cores are
 * given (EDF_EARLIEST_DEADLINE), or of the jobs. */
enum edf_launch_order { EDF_FIRST_COME, EDF_EARLIEST_DEADLINE };
extern const char *const edf_launch_order_words[]; /* ends with NULL */

/* The memory that jobs are launched in. */
struct edf_memory {
    int64_t bytes; /* >= 1 */
    enum edf_launch_order order;
};

struct edf_job {
    double release_s;           /* may be negative */
    double deadline_s;          /* > 0, relative to the release */
    double overhead_per_task_s; /* >= 0, added to every task */
    const struct edf_stage *stages;
    size_t n_stages; /* >= 1 */
    /* From its launch to its end it holds memory_bytes of `memory`, the same for all jobs of a set;
     * NULL: it is launched when it is released. */
    const struct edf_memory *memory;
    int64_t memory_bytes; /* 0 to memory->bytes */
    bool runs_already;    /* it is launched before those that only wait */
};

struct edf_outcome {
    double launched_s; /* when it had its memory; its release, where none is counted */
    double completion_s;
    double execution_s; /* completion - release */
    double deadline_error_percent;
    bool met; /* execution <= deadline */
};

struct edf_metrics {
    size_t advance; /* jobs that met their deadline */
    size_t delayed;
    double epsilon; /* mean of the deadline errors, percent */
    double epsilon_advance;
    double epsilon_delayed;
    double epsilon_absolute;
    double makespan_s;
    double utilization; /* NAN where the makespan is 0 */
};

/* What becomes of a job that ends at completion_s, however it was scheduled. */
void edf_judge(const struct edf_job *job, double completion_s, struct edf_outcome *out);

/* The metrics of such outcomes. work_s: the task time of all jobs, overhead included. */
void edf_measure(const struct edf_job jobs[],
                 size_t n_jobs,
                 size_t cores,
                 double work_s,
                 const struct edf_outcome outcomes[],
                 struct edf_metrics *metrics);

/* One executed task. Indices into the request: jobs[job].stages[stage]. */
struct edf_placement {
    size_t job;
    size_t stage;
    size_t task;
    size_t core;
    double start_s;
    double end_s;
};

/* Called once a task, in the order tasks start. Return false to stop: the call answers
 * PV_E_CANCELLED. */
struct edf_observer {
    bool (*placed)(void *context, const struct edf_placement *placement);
    void *context;
};

/*
 * Run the jobs on `cores` >= 1 identical cores by the rule of docs/design.md, "Clairvoyance EDF".
 *
 * outcomes  n_jobs entries, the caller's; outcomes[i] belongs to jobs[i].
 * metrics   may be NULL.
 * observer  may be NULL.
 * scratch   working memory; back at its mark when the call returns.
 *
 * A missed deadline is a result. One input has one schedule.
 * PV_E_MEMORY, PV_E_CANCELLED (the observer said so), PV_E_DOMAIN (a cycle, or a job that needs more
 * memory than there is).
 * O(T log K + S log S) for T tasks and S stages; memory O(K + S), not O(T).
 */
enum pv_code edf_schedule(const struct edf_job jobs[],
                          size_t n_jobs,
                          size_t cores,
                          struct arena *scratch,
                          struct edf_outcome outcomes[],
                          struct edf_metrics *metrics,
                          const struct edf_observer *observer,
                          struct pv_error *err) PV_MUSTCHECK;

/* What would make an infeasible set feasible. */
struct edf_remedies {
    /* A job that is late with a core for every task, or n_jobs if there is none. */
    size_t too_long;
    double critical_path_s; /* of that job; NAN if there is none */
    bool
        has_min_total_cores; /* false: critical paths or memory rule it out, or the budget ran out */
    size_t min_total_cores;  /* the least K for which every deadline is met */
    double *deadlines_s;     /* n_jobs entries in `arena`; NAN where the deadline may stay */
    bool exact;              /* false: the search was cut by its budget */
};

/*
 * Look for the remedies of docs/design.md, "Remedies". `task_budget` bounds the number of simulated
 * tasks over all replays of each of the two searches (never a clock: same request, same answer);
 * equal tasks of a stage that start together are simulated as one, and every stage counts as one
 * more a replay. Where the budget cuts the search of deadlines, those given are still met all
 * together, but more may be raised than need be.
 *
 * arena     holds remedies->deadlines_s; scratch is back at its mark.
 * PV_E_MEMORY, PV_E_DOMAIN as edf_schedule.
 */
enum pv_code edf_find_remedies(const struct edf_job jobs[],
                               size_t n_jobs,
                               size_t cores,
                               uint64_t task_budget,
                               struct arena *arena,
                               struct arena *scratch,
                               struct edf_remedies *remedies,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
