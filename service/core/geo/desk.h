#ifndef CORE_GEO_DESK_H
#define CORE_GEO_DESK_H

#include <math.h>

#include "core/geo/planner.h"

/* What stands while the copies of one plan are dealt: the tasks with what they have, the clusters
 * with what is left of them. */

/* Values this close, relatively, are equal. */
#define DESK_TIE 1e-12

/* A task while copies are dealt. */
struct state {
    size_t sort;
    size_t *clusters; /* of its copies */
    size_t n;
    size_t room;
    struct speeds rate; /* of the fastest of its copies; unknown where there is none */
    double lost;        /* chance that all its clusters are unreachable at once; 1 without any */
    bool waits;         /* nothing was found for it */
    enum geo_reason reason;
};

struct ranked {
    double key;
    size_t index;
};

struct desk {
    const struct geo_problem *problem;
    const struct geo_terms *terms;
    struct arena *arena;
    struct geo_rates *rates;
    struct state **states; /* [job][task] */
    struct ranked *jobs;   /* those limited to a share, in the order of the algorithm */
    size_t admitted;       /* how many */
    int64_t share;         /* of each of them, in slots */
    int64_t *used;         /* of each job */
    int64_t *idle;         /* slots of each cluster */
    double *ingress;       /* left at each gate */
    double *egress;
    size_t *safest;       /* clusters, least unreachable first */
    struct ranked *order; /* tasks of a job, working memory */
    struct geo_plan_copy *copies;
    size_t n_copies;
    size_t room;
    struct geo_plan_stop *stops;
    size_t n_stops;
    size_t stops_room;
};

/* What a copy in a cluster would come to. */
struct offer {
    bool found;
    size_t cluster;
    double rate;  /* its own */
    double value; /* what was looked for: the task's new rate, or exemption */
};

static inline bool desk_is_above(double a, double b)
{
    double size = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    return a > b + DESK_TIE * size;
}

/* Idle slots, gates and tasks of a desk whose problem, terms, arena and perhaps rates are set, with
 * what runs already in its place. Errors are those of geo_plan_make. */
enum pv_code desk_open(struct desk *desk, struct pv_error *err) PV_MUSTCHECK;

/* By key, then by index; for qsort. */
int desk_ascending(const void *a, const void *b);

const struct geo_task *desk_task(const struct desk *desk, size_t job, size_t task);

/* Chance that a task of that rate outlives its clusters, which are all lost with chance `lost` in a
 * slot of time. */
double desk_exemption(const struct desk *desk, double lost, double size_bytes, double rate);

/* What the task would have with another copy in the cluster: chance that all its clusters are lost
 * at once, expected rate (< 0: memory). */
double desk_lost_with(const struct desk *desk, const struct state *state, size_t cluster);
double desk_rate_with(const struct desk *desk, const struct state *state, size_t cluster);

bool desk_has_copy(const struct state *state, size_t cluster);

/* Does a copy of that rate fit what is left of the gates it passes? */
bool desk_passes_gates(const struct desk *desk,
                       const struct geo_task *task,
                       size_t cluster,
                       double rate);

/* The task has another copy, wherever it comes from: its figures and the gates follow. false:
 * memory. */
bool desk_join(struct desk *desk, const struct geo_task *task, struct state *state, size_t cluster);

/* The only copy of a task, which runs already, is ended: its slot and its room in the gates are
 * free at once, and the task has none. false: memory. */
bool desk_stop(struct desk *desk, size_t job, size_t index);

/* A copy is granted: it joins, takes a slot and part of the job's share. false: memory. */
bool desk_grant(
    struct desk *desk, size_t job, size_t index, int64_t round, const struct offer *offer);

#endif
