#ifndef CORE_SCHEDULING_TASKS_TASKS_POLICY_H
#define CORE_SCHEDULING_TASKS_TASKS_POLICY_H

#include <math.h>

#include "core/scheduling/tasks/tasks_observer.h"
#include "core/scheduling/tasks/tasks_progress.h"
#include "core/scheduling/tasks/tasks_terms.h"
#include "core/sim/event_heap.h"

/*
 * Between the engine and a policy. The engine notifies a policy of jobs, in order of arrival, and of
 * the events that the policy scheduled; at one instant first of events, by kind and then in the
 * order in which they were scheduled, then of jobs. The policy says to the engine which task begins
 * when.
 */
struct tasks_run {
    const struct tasks_model *model;
    const struct tasks_terms *terms;
    struct trial trial;
    struct event_heap events;
    double now_s;
    struct tasks_result *result;
    const struct tasks_observer *observer; /* NULL: none */
    const struct tasks_progress *progress; /* NULL: nobody is informed */
    uint64_t unreported;                   /* steps since the last report */
    bool cancelled;
    uint64_t begun;      /* tasks */
    void *state;         /* the policy's */
    struct arena *arena; /* working memory */
};

struct tasks_policy {
    const char *name;
    unsigned hops; /* messages between a job's arrival and when the policy hears of it */
    /* Events to come at a time, and bytes that the policy works with, at most; `places` beside
     * `memory` those in pieces of a pool (tasks_line.h) or in one array. NULL: there are none. */
    size_t (*events)(const struct tasks_model *model);
    double (*memory)(const struct tasks_model *model, const struct tasks_terms *terms);
    double (*places)(const struct tasks_model *model, const struct tasks_terms *terms);
    /* What all jobs cost, in tasks, where that may be more than one a task; NULL: it is not. */
    double (*work)(const struct tasks_model *model, const struct tasks_terms *terms);
    /* All false: out of memory, or cancelled. */
    bool (*begin)(struct tasks_run *run);
    bool (*take_job)(struct tasks_run *run, uint32_t job);
    bool (*happen)(struct tasks_run *run, const struct event *event);
    /* What it means that tasks are left when nothing is to happen any more. NULL: a mistake of the
     * policy. */
    const char *standstill;
    /* The row that carries out these terms; NULL: this one, always. */
    const struct tasks_policy *(*carried_out_by)(const struct tasks_terms *terms);
    struct tasks_terms usual;
};

extern const struct tasks_policy pigeon_policy;
extern const struct tasks_policy pigeon_layout_policy; /* pigeon, where there is a layout */
extern const struct tasks_policy centralised_policy;
extern const struct tasks_policy sparrow_policy;
extern const struct tasks_policy eagle_policy;

/* Steps, each about as long as a task takes, between two reports: less than a millisecond. */
enum { TASKS_REPORT_EVERY = 4096 };

/* So many steps more were made. false: stop, the run is cancelled. Where an event or a job may take
 * any number of steps, they are counted one by one. */
static inline bool tasks_run_goes_on(struct tasks_run *run, uint64_t steps)
{
    run->unreported += steps;
    if (run->unreported < TASKS_REPORT_EVERY)
        return true;
    run->unreported = 0;
    run->cancelled =
        run->progress != NULL && !run->progress->report(run->progress->context, run->begun);
    return !run->cancelled;
}

/* A task of a job is sent now to a place (tasks_start), where it begins at an instant that is not in
 * the past and takes a time; returns when it ends. A task begins once. */
static inline double tasks_run_begin_for(struct tasks_run *run,
                                         uint32_t place,
                                         uint32_t job,
                                         uint32_t task,
                                         double start_s,
                                         double takes_s)
{
    double end_s = start_s + takes_s;
    double told_s = end_s + run->model->communication_s;
    if (start_s < run->result->start_s[job])
        run->result->start_s[job] = start_s;
    if (told_s > run->result->finish_s[job])
        run->result->finish_s[job] = told_s;
    run->begun++;
    if (run->observer != NULL) {
        const struct tasks_start start = {run->now_s, start_s, end_s, job, task, place};
        tasks_observe_start(run->observer, &run->model->jobs[job], &start);
    }
    return end_s;
}

/* At the speed that durations are of. */
static inline double
tasks_run_begin(struct tasks_run *run, uint32_t place, uint32_t job, uint32_t task, double start_s)
{
    return tasks_run_begin_for(run, place, job, task, start_s,
                               run->model->jobs[job].durations_s[task]);
}

/* A master receives or sends n messages now. */
static inline void tasks_run_messages(const struct tasks_run *run, uint32_t master, uint32_t n)
{
    if (run->observer != NULL && run->observer->masters != NULL)
        tasks_master_count(&run->observer->masters[master], run->now_s, n);
}

/* A master has so many reserved workers. */
static inline void tasks_run_reserved(const struct tasks_run *run, uint32_t master, uint32_t n)
{
    if (run->observer != NULL && run->observer->masters != NULL)
        run->observer->masters[master].reserved = n;
}

/* One of them works for so long. */
static inline void
tasks_run_reserved_works(const struct tasks_run *run, uint32_t master, double takes_s)
{
    if (run->observer != NULL && run->observer->masters != NULL)
        run->observer->masters[master].reserved_s += takes_s;
}

#endif
