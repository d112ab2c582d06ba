#ifndef CORE_DEADLINE_CLAIRVOYANT_EDF_INTERNAL_H
#define CORE_DEADLINE_CLAIRVOYANT_EDF_INTERNAL_H

#include "base/heap.h"
#include "core/deadline/clairvoyant_edf.h"

/*
 * What Clairvoyance EDF and its remedies share: the jobs flattened once into a plan, and the replay
 * of a plan on some number of cores under some deadlines.
 *
 * Stages have one number over all jobs, job by job in the order of the request.
 */
struct edf_plan_stage {
    const double *durations; /* NULL: uniform */
    double uniform_s;        /* duration + overhead, where uniform */
    double overhead_s;
    double delay_s; /* from its last parent's end to when its tasks may start */
    size_t tasks;
    double work_s;     /* sum of durations, overhead included */
    double shortest_s; /* of the tasks, overhead included; 0 without tasks */
    double longest_s;
    uint32_t job;
    uint32_t order_in_job; /* position by stage id */
    uint32_t n_parents;
    size_t first_child; /* into plan.children, up to the next stage's */
};

struct edf_plan_job {
    double release_s;
    int64_t memory_bytes; /* 0: it waits for none */
    bool runs_already;
    uint32_t first_stage;
    uint32_t n_stages;
};

struct edf_plan {
    struct edf_plan_stage *stages; /* one more than n_stages: ends the last list of children */
    size_t n_stages;
    struct edf_plan_job *jobs;
    size_t n_jobs;
    uint32_t *children;
    uint32_t *topological;           /* stages, parents before children */
    uint32_t *by_release;            /* jobs */
    const struct edf_memory *memory; /* NULL: no job waits for any */
    size_t n_delayed;                /* stages with a delay */
    size_t tasks;
    double work_s;
};

/* Flatten. The plan lives in `arena` and borrows the jobs' task durations.
 * PV_E_MEMORY, PV_E_DOMAIN (a cycle), PV_E_LIMIT (more than 2^32 - 1 stages). */
enum pv_code edf_plan_make(const struct edf_job jobs[],
                           size_t n_jobs,
                           struct arena *arena,
                           struct edf_plan *plan,
                           struct pv_error *err) PV_MUSTCHECK;

/* When each stage can start at the earliest (by stage number), after its delay, and each job end (by
 * job), were there a core for every task. Computed with the very additions of a replay, hence never later than any
 * replay has it. */
void edf_plan_ideal(const struct edf_plan *plan, double starts_s[], double completions_s[]);

struct edf_replay;

/* Is called as a replay goes on, by those who need to know more of it than when jobs end.
 * Each member may be NULL. */
struct edf_watch {
    /* A stage has tasks to start from now on: its delay has passed. */
    void (*opened)(struct edf_watch *watch, const struct edf_replay *replay, uint32_t s);
    /* `tasks` tasks of a stage start, or have ended, at replay->now. The
     * replay has not counted the former as started yet. */
    void (*started)(struct edf_watch *watch, const struct edf_replay *replay, uint32_t s, size_t n);
    void (*ended)(struct edf_watch *watch, const struct edf_replay *replay, uint32_t s, size_t n);
    /* Free cores have taken what they could: what is in replay->ready waits. */
    void (*settled)(struct edf_watch *watch, const struct edf_replay *replay);
};

/* The working memory of replays of one plan, for at most `cores` cores. */
struct edf_replay {
    const struct edf_plan *plan;
    struct edf_watch *watch; /* or NULL */
    struct heap events;  /* key: instant a batch of tasks ends; value: stage and core or count */
    struct heap delayed; /* key: instant a stage's delay has passed; value: the stage */
    struct heap ready;   /* key: rank of a stage that has tasks to start */
    struct heap waiting; /* key: rank of a released job that waits for memory */
    struct heap idle;    /* cores that ran a task before; only when placements are observed */
    size_t fresh;        /* cores that never ran a task: fresh, fresh + 1, ... */
    size_t free;
    size_t *started;        /* tasks, by stage */
    size_t *left;           /* tasks that have not ended, by stage */
    uint32_t *parents_left; /* by stage */
    uint32_t *ended;        /* stack of stages whose end is not yet passed on */
    uint32_t *stages_left;  /* by job */
    uint32_t *by_deadline;  /* jobs in the order they are served */
    double *deadlines_at_s; /* by job: release + deadline */
    double *rank_base;      /* by job: stages of jobs served before */
    double *launch_rank;    /* by job: who waits is launched in this order */
    double *launched_s;     /* by job: a result */
    double *completions_s;  /* by job: the result */
    double now;
    size_t jobs_left;
    int64_t free_bytes;
    const double *latest_starts_s; /* by stage, or NULL: opened later, its job is late */
    bool too_late;                 /* some stage was */
    uint64_t steps; /* over all replays: batches started, and every stage once a replay */
};

bool edf_replay_init(struct edf_replay *replay,
                     const struct edf_plan *plan,
                     size_t cores,
                     bool observed,
                     struct arena *arena);

/* Jobs wait for memory in the order of their deadlines. */
static inline bool edf_launches_by_deadline(const struct edf_plan *plan)
{
    return plan->memory != NULL && plan->memory->order == EDF_EARLIEST_DEADLINE;
}

/* Job a, to end by instant at_a, is served before job b, to end by at_b. */
static inline bool
edf_is_served_before(const struct edf_plan *plan, uint32_t a, double at_a, uint32_t b, double at_b)
{
    if (at_a != at_b)
        return at_a < at_b;
    if (plan->jobs[a].release_s != plan->jobs[b].release_s)
        return plan->jobs[a].release_s < plan->jobs[b].release_s;
    return a < b;
}

/* Under these deadlines (by job, relative to its release), who is served first: by_deadline, and
 * from that the rank of every stage and job. The same order makes the same schedule. */
void edf_replay_order(struct edf_replay *replay, const double deadlines_s[]);

enum edf_replay_end {
    EDF_REPLAY_DONE,    /* completions_s is filled in */
    EDF_REPLAY_MISSED,  /* stop_at_miss: some job cannot meet its deadline */
    EDF_REPLAY_CUT,     /* steps reached steps_max */
    EDF_REPLAY_REFUSED, /* the observer said so */
};

/*
 * One run of the plan. deadlines_s: by job, relative to its release. Tasks of equal duration that
 * start at one instant in one stage are one batch, unless they are observed.
 */
enum edf_replay_end edf_replay_run(struct edf_replay *replay,
                                   const double deadlines_s[],
                                   size_t cores,
                                   bool stop_at_miss,
                                   uint64_t steps_max,
                                   const struct edf_observer *observer);

/* met: execution <= deadline, the one comparison that decides. */
static inline bool edf_is_met(double completion_s, double release_s, double deadline_s)
{
    return completion_s - release_s <= deadline_s;
}

#endif
