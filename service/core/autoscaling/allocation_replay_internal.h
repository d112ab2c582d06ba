#ifndef CORE_AUTOSCALING_ALLOCATION_REPLAY_INTERNAL_H
#define CORE_AUTOSCALING_ALLOCATION_REPLAY_INTERNAL_H

#include "base/heap.h"
#include "base/vector.h"
#include "core/autoscaling/allocation_replay.h"
#include "core/autoscaling/executor_pool.h"

/* State of a replay: its tasks (allocation_tasks.c) on executors that follow the policy
 * (allocation_manager.c) or a record (recorded_executors.c). */

/* Stages as the replay goes through them; lists of children are one after another. */
struct stage_state {
    size_t unstarted; /* tasks of a submitted stage, without lost tasks */
    uint32_t again;   /* slot of the first lost task; NO_SLOT */
    size_t unended;
    size_t parents_left;
    size_t first_child;  /* up to the next stage's */
    size_t readers_left; /* stages that read its shuffle output and have not ended */
};

/* A task that runs, or that was lost and will run again. */
struct task_slot {
    uint32_t executor;
    uint32_t stage;
    double lasts_s;
    uint32_t next; /* in the list of free slots, or of lost tasks of the stage */
};
#define NO_SLOT UINT32_MAX

struct allocation_run {
    const struct allocation_job *job;
    const struct allocation_policy *policy;
    const struct edf_stage *shuffles;
    struct arena *scratch;
    size_t n_stages;
    struct stage_state *stages; /* one more than n_stages: ends the last list of children */
    size_t *children;
    size_t stages_left;
    struct heap submissions; /* key: instant; value: stage */
    struct heap ready;       /* key and value: a submitted stage with tasks to start */
    struct heap ends;        /* key: instant; value: the slot of a task */
    struct task_slot *slots;
    uint32_t free_slot;
    struct executor_pool pool;
    uint64_t *held;    /* where shuffles time out: a bit for each stage, executor by executor */
    size_t held_words; /* of one executor; 0: shuffles do not time out */
    VECTOR(double) requests; /* instants, of executors that are to come; from `arrived` on */
    size_t arrived;
    size_t waiting; /* slots of tasks of submitted stages */
    size_t running;
    size_t *set_aside;  /* stages whose next task finds no executor with enough free slots */
    size_t least_units; /* of a task, of the stage whose tasks take fewest */
    int64_t target;
    int64_t most;      /* executors at once that tasks can use */
    int64_t step_up;   /* executors to add next */
    double add_at_s;   /* INFINITY: no task waits */
    bool is_held_back; /* one could be let go, were it not for the minimum or the target */
    double look_at_s;  /* when one that holds shuffle output may be let go */
    const struct allocation_record *record; /* NULL: the policy decides */
    size_t change;                          /* of the record: the next one */
    double came_s;                          /* executors, last */
    size_t came_later;                      /* of the record, than the first stage */
    double *submitted_s;                    /* by stage, where there is a record; NAN before that */
    double now_s;
    double end_s;                           /* INFINITY while stages are left */
    VECTOR(struct allocation_lease) leases; /* to_s: INFINITY until it ends */
    uint64_t tasks_started;
    uint64_t task_budget;
    size_t released;
    int64_t peak;
    VECTOR(struct allocation_step) steps;
    bool failed; /* memory ran out */
};

/* An executor that was requested at that instant comes, or one without tasks goes, at now_s. */
void allocation_replay_add(struct allocation_run *run, double requested_s);
void allocation_replay_release(struct allocation_run *run, uint32_t executor);

/* --- stages and their tasks --- */

/* n_slots: for tasks that run or wait to run again. False: out of memory. */
bool allocation_tasks_init(struct allocation_run *run, size_t n_slots);
void allocation_tasks_submit(struct allocation_run *run, size_t s);
void allocation_tasks_start(struct allocation_run *run);
void allocation_tasks_end(struct allocation_run *run, uint32_t slot);
void allocation_tasks_lose(struct allocation_run *run, uint32_t executor);

/* When an executor that holds shuffle output, and has just become idle, may be let go. */
double allocation_tasks_expiry(const struct allocation_run *run,
                               const struct pool_executor *executor);

/* --- what executors follow: the next instant, INFINITY if there is none, and what happens at now_s --- */

double allocation_manager_arrival_s(const struct allocation_run *run);
double allocation_manager_next_s(const struct allocation_run *run);
void allocation_manager_act(struct allocation_run *run);
double recorded_executors_next_s(const struct allocation_run *run);
void recorded_executors_act(struct allocation_run *run);

/* How many units of an executor's cores a task of stage s takes. */
static inline size_t allocation_units_of(const struct allocation_run *run, size_t s)
{
    return run->job->task_units == NULL ? 1 : (size_t)run->job->task_units[s];
}

#endif
