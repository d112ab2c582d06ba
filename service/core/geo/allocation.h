#ifndef CORE_GEO_ALLOCATION_H
#define CORE_GEO_ALLOCATION_H

#include <math.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/geo/plan.h"
#include "core/geo/problem.h"
#include "core/geo/rates.h"

/* The working state of a planner: the copies that each task has or has been granted, and the slots
 * and bandwidth that the clusters have left. */

/* Values this close, relatively, are equal: what rounding leaves of sums of some thousand doubles,
 * and far less than anything measured differs by. */
#define ALLOCATION_TIE 1e-12

/* A task and its copies. */
struct task_allocation {
    size_t task_class;
    size_t *clusters; /* of its copies */
    size_t n;
    size_t capacity;
    struct speeds rate; /* of the fastest of its copies; unknown where there is none */
    double lost;        /* chance that all its clusters are unreachable at once; 1 without any */
    bool waits;         /* nothing was found for it */
    enum geo_reason reason;
};

struct ranked_index {
    double key;
    size_t index;
};

struct allocation {
    const struct geo_problem *problem;
    const double *parameters; /* values, in the order of the planner's row */
    const struct geo_interrupt *interrupt;
    struct arena *arena;
    struct geo_rates *rates;
    struct task_allocation **tasks; /* [job][task] */
    struct ranked_index *jobs;      /* those limited to a share, in the order of the algorithm */
    size_t admitted;                /* how many */
    int64_t share;                  /* of each of them, in slots */
    int64_t *used;                  /* of each job */
    int64_t *idle;                  /* slots of each cluster */
    double *ingress;                /* left at each gate */
    double *egress;
    size_t *most_reliable;      /* clusters, least unreachable first */
    struct ranked_index *order; /* tasks of a job, working memory */
    struct geo_plan_copy *copies;
    size_t n_copies;
    size_t capacity;
    struct geo_plan_cancellation *cancellations;
    size_t n_cancellations;
    size_t cancellations_capacity;
};

/* What a copy in a cluster would come to. */
struct candidate {
    bool found;
    size_t cluster;
    double rate;  /* its own */
    double value; /* what was looked for: the task's new rate, or exemption */
};

static inline bool allocation_is_above(double a, double b)
{
    double size = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    return a > b + ALLOCATION_TIE * size;
}

/* Idle slots, gates and tasks of a allocation whose problem, terms, arena and perhaps rates are
 * set, with what runs already in its place. Errors are those of geo_plan_make. */
enum pv_code allocation_open(struct allocation *allocation, struct pv_error *err) PV_MUSTCHECK;

/* By key, then by index; for qsort. */
int allocation_ascending(const void *a, const void *b);

const struct geo_task *
allocation_task(const struct allocation *allocation, size_t job, size_t task);

/* Chance that a task of that rate outlives its clusters, which are all lost with chance `lost` in a
 * slot of time. */
double allocation_exemption(const struct allocation *allocation,
                            double lost,
                            double size_bytes,
                            double rate);

/* What the task would have with another copy in the cluster: chance that all its clusters are lost
 * at once, expected rate (< 0: memory). */
double allocation_lost_with(const struct allocation *allocation,
                            const struct task_allocation *state,
                            size_t cluster);
double allocation_rate_with(const struct allocation *allocation,
                            const struct task_allocation *state,
                            size_t cluster);

bool allocation_has_copy(const struct task_allocation *state, size_t cluster);

/* Does a copy of that rate fit what is left of the gates it passes? */
bool allocation_passes_gates(const struct allocation *allocation,
                             const struct geo_task *task,
                             size_t cluster,
                             double rate);

/* The only copy of a task, which runs already, is ended: its slot and its room in the gates are
 * free at once, and the task has none. false: memory. */
bool allocation_stop(struct allocation *allocation, size_t job, size_t index);

/* A copy is granted: it joins, takes a slot and part of the job's share. false: memory. */
bool allocation_grant(struct allocation *allocation,
                      size_t job,
                      size_t index,
                      int64_t round,
                      const struct candidate *candidate);

#endif
