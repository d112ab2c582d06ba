#ifndef CORE_SCHEDULING_TASKS_POLICY_H
#define CORE_SCHEDULING_TASKS_POLICY_H

#include <math.h>

#include "core/scheduling/tasks_terms.h"
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
    uint64_t begun;      /* tasks */
    void *state;         /* the policy's */
    struct arena *arena; /* working memory */
};

struct tasks_policy {
    const char *name;
    unsigned hops; /* messages between a job's arrival and when the policy hears of it */
    /* Events to come at a time, and bytes that the policy works with, at most. */
    size_t (*events)(const struct tasks_model *model);
    double (*memory)(const struct tasks_model *model, const struct tasks_terms *terms);
    /* All false: out of memory. */
    bool (*begin)(struct tasks_run *run);
    bool (*take_job)(struct tasks_run *run, uint32_t job);
    bool (*happen)(struct tasks_run *run, const struct event *event);
    struct tasks_terms usual;
};

extern const struct tasks_policy pigeon_policy;
extern const struct tasks_policy centralised_policy;
extern const struct tasks_policy sparrow_policy;
extern const struct tasks_policy eagle_policy;

/* A task of a job begins at an instant that is not in the past; returns when it ends. A task begins
 * once. */
static inline double
tasks_run_begin(struct tasks_run *run, uint32_t job, uint32_t task, double start_s)
{
    double end_s = start_s + run->model->jobs[job].durations_s[task];
    double told_s = end_s + run->model->communication_s;
    if (start_s < run->result->start_s[job])
        run->result->start_s[job] = start_s;
    if (told_s > run->result->finish_s[job])
        run->result->finish_s[job] = told_s;
    run->begun++;
    return end_s;
}

#endif
