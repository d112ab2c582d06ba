#ifndef CORE_DEADLINE_EDF_TRIAL_H
#define CORE_DEADLINE_EDF_TRIAL_H

#include "core/deadline/clairvoyant_edf_internal.h"

/*
 * Sets of jobs that differ from the one asked about in some deadlines, some releases and in jobs
 * that are left out, each tried by a replay that ends at the first job that is certain to be late.
 */
struct edf_trial {
    const struct edf_job *jobs; /* as asked about */
    struct edf_plan plan;
    struct edf_replay replay;
    size_t cores;
    double *deadlines_s; /* by job, of the next run */
    double *lengths_s;   /* by job: its critical path */
    double *work_s;      /* by job */
    double *tails_s;     /* by stage: from its start to the end of its job */
    double *latest_starts_s;
    size_t *tasks;     /* by stage, as asked about */
    bool *left_out;    /* by job */
    double rounding_s; /* no sum of a replay is further from the truth than this */
    uint64_t budget;   /* of the search under way */
};

/* Everything as asked about. Memory is the arena's. */
enum pv_code edf_trial_init(struct edf_trial *trial,
                            const struct edf_job jobs[],
                            size_t n_jobs,
                            size_t cores,
                            struct arena *arena,
                            struct pv_error *err) PV_MUSTCHECK;

/* Another search: everything as asked about once more, nothing simulated yet. */
void edf_trial_begin(struct edf_trial *trial, uint64_t budget);

/* The job's deadline, relative to its release; INFINITY: it may end whenever it does. */
void edf_trial_set_deadline(struct edf_trial *trial, size_t j, double deadline_s);
void edf_trial_set_release(struct edf_trial *trial, size_t j, double release_s);

/* A job that is left out has no tasks, so that it ends when it is released. */
void edf_trial_leave_out(struct edf_trial *trial, size_t j, bool left_out);

/* Replay. EDF_REPLAY_DONE: every job meets its deadline. watch: may be NULL. */
enum edf_replay_end edf_trial_run(struct edf_trial *trial, struct edf_watch *watch);

/* The same to the end, whoever is late. */
enum edf_replay_end edf_trial_run_whole(struct edf_trial *trial, struct edf_watch *watch);

/* Until the next such call, spend no more than this share of what is left of the whole budget. */
void edf_trial_allot(struct edf_trial *trial, uint64_t whole, double share);

/* The same with an equal part for each of so many jobs, but enough for a few whole replays. */
void edf_trial_allot_part(struct edf_trial *trial, uint64_t whole, size_t parts);

/* Whether the budget of the search under way is spent. */
bool edf_trial_is_spent(const struct edf_trial *trial);

/* After a run that ended at a late job: this one was, as far as it got. */
bool edf_trial_is_late(const struct edf_trial *trial, size_t j);

/* How long the job of a run took; where that has not ended, has taken so far. */
double edf_trial_elapsed_s(const struct edf_trial *trial, size_t j);

/* The least deadline of job j, at least floor_s, with which it is served after job k, which is to
 * end by the instant at_s. */
double edf_trial_deadline_behind(
    const struct edf_trial *trial, size_t j, double floor_s, size_t k, double at_s);

/*
 * Jobs that no deadline, release or absence of their own alone can help: even without them some
 * span of time has more work to be done within it than the cores can do. hopeless: by job.
 */
void edf_trial_find_hopeless(struct edf_trial *trial, bool hopeless[]);

/* Whether the work within every span of time could be done within it, jobs having the deadlines
 * that are set. False: a run would end at a late job. Counts as a comparison of orders. */
bool edf_trial_fits(struct edf_trial *trial);

/* Which jobs waited with tasks to start while job `of` was given a core. */
struct edf_contention {
    struct edf_watch watch;
    uint32_t of;
    bool took;
    double first_start_s; /* of job `of`; INFINITY: it never started */
    bool *waited;         /* by job */
    size_t n_jobs;
};
void edf_contention_begin(struct edf_contention *contention, size_t of);

#endif
