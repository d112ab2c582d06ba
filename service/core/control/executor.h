#ifndef CORE_CONTROL_EXECUTOR_H
#define CORE_CONTROL_EXECUTOR_H

#include "base/heap.h"
#include "core/deadline/clairvoyant_edf_internal.h"
#include "core/sim/event_queue.h"

/*
 * An executor: the tasks of one stage on one worker, in a container with a quota of cores. As many
 * tasks run at a time as it has cores, a part of one counting as one, and share them equally; no
 * task uses more than one core. Tasks that run go on when the quota falls, only slower.
 *
 * Running tasks progress alike, so one number, what each of them would have got since the executor
 * began, says how far all of them are: a task that starts at v and lasts d ends when it is v + d.
 */
struct control_executor {
    struct heap running; /* key: `attained_s` at which the task ends */
    size_t first;        /* its tasks are first, first + stride, ... of the stage */
    size_t tasks;        /* 0: there is none on this worker */
    size_t started;
    size_t completed;
    double attained_s; /* of a task, at updated_s */
    double updated_s;
    double cores;          /* its quota */
    double decided;        /* granted at the last sample; its quota once that has effect */
    double requested;      /* then */
    double integral_cores; /* of its controller */
    double sampled_s;      /* the last sample, or the begin of its stage */
    bool sampled;          /* decided is of a sample */
    bool wants;            /* it has work and requests cores */
    bool has;              /* it has work and cores */
    event_id ending;       /* when the next task ends; HUGE_VAL: none does as it is */
};

/* What all executors of a stage have in common. */
struct control_work {
    const struct edf_plan_stage *stage;
    size_t stride; /* workers */
};

/* Let time pass: up to now, nothing changed. Gives back the core seconds of its quota. */
double control_executor_advance(struct control_executor *executor, double now_s);

/* Another quota, from the time it was advanced to. Starts tasks that have a core now. */
void control_executor_resize(struct control_executor *executor,
                             const struct control_work *work,
                             double cores);

/* The task that ends first, and those that end with it, are over. Starts others. */
void control_executor_complete(struct control_executor *executor, const struct control_work *work);

/* When the next task ends, if nothing changes; HUGE_VAL: none runs, or none progresses. */
double control_executor_next_s(const struct control_executor *executor);

#endif
