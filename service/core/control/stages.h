#ifndef CORE_CONTROL_STAGES_H
#define CORE_CONTROL_STAGES_H

#include "core/control/executor.h"
#include "core/control/model.h"
#include "core/control/trace.h"
#include "core/sim/clock.h"
#include "core/sim/event_queue.h"

/*
 * The state of a simulation: which stages run, and the executors that work on them. The operations
 * here begin and end stages and keep executors, events and the trace consistent; engine.c decides
 * when they happen. Operations return false when memory is exhausted.
 */

/* What happens, in the order in which it does at one instant. */
enum control_event {
    CONTROL_TASK_ENDS, /* about: the executor */
    CONTROL_RELEASE,   /* about: the job */
    CONTROL_DELAYED,   /* about: the stage; its delay has passed */
    CONTROL_GRANTS,    /* what the last sample granted has effect now */
    CONTROL_SAMPLE
};

struct control_stage_state {
    uint32_t parents_left;
    uint32_t executors_left; /* that have not completed their tasks */
    double started_s;
    double deadline_s; /* from its start, as the heuristic has it */
};

struct control_job_state {
    uint32_t stages_left;
    double to_plan;   /* stages that take time and have not begun, and their task time: what the */
    double to_plan_s; /* heuristic shares what is left of the deadline among */
    double completed_s;
    double core_s;    /* of the quotas it had */
    uint32_t wanting; /* executors that have work and request cores */
    uint32_t served;  /* and those that have work and cores */
    bool waits;       /* some want and none is served */
    double waits_since_s;
    double longest_wait_s;
    double requested;       /* cores, over all samples */
    double share_deviation; /* how far the grants were from even shares, likewise */
};

struct control_state {
    const struct control_model *model;
    struct event_queue queue;
    struct sim_clock clock;
    struct control_executor *executors; /* stage x workers + worker */
    struct control_stage_state *stages;
    struct control_job_state *jobs;
    uint32_t *live; /* stages that have executors, ascending */
    size_t n_live;
    size_t jobs_left;
    double first_s;              /* the earliest release; samples are taken from it on */
    double slot;                 /* number of the next sample */
    bool sampling;               /* it is scheduled */
    struct heap opening;         /* stages of one job that may begin, by their order in it */
    struct control_trace *trace; /* NULL: not wanted */
};

/* Nothing has begun yet; the releases are events to come. */
bool control_state_init(struct control_state *state,
                        const struct control_model *model,
                        struct control_trace *trace,
                        struct arena *arena);

/* A job's stages without parents may begin, once their delays have passed. */
bool control_state_release(struct control_state *state, size_t job);

/* The delay of stage s has passed. */
bool control_state_delayed(struct control_state *state, uint32_t s);

/* The task that an executor was to end now. Ends its stage with the last one. */
bool control_state_task_ends(struct control_state *state, size_t executor);

/* An executor of a live stage has another quota from now on. */
void control_state_resize(struct control_state *state, size_t executor, double cores);

/* What an executor requests or has is another: does its job wait now, or no longer? */
void control_state_follow_wait(struct control_state *state, size_t executor);

/* Tell the trace what each live job requests and has. */
void control_state_record(struct control_state *state);

#endif
