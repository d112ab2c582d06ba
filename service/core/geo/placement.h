#ifndef CORE_GEO_PLACEMENT_H
#define CORE_GEO_PLACEMENT_H

#include "core/geo/allocation.h"

/*
 * The ready tasks of a job placed by what they cost in each cluster, the greatest cost as small as
 * it can be (core/geo/assignment.h): what Flutter, Iridium and what builds on them have in common.
 * A cost is size_bytes (pace of the operation + that of the cluster).
 */
struct placement;

typedef void
placement_fill(const struct placement *placement, const struct geo_task *task, double paces[]);

struct placement {
    struct allocation *allocation;
    placement_fill *fill; /* of each cluster that is possible for the task: cost per byte */
    const double *pace;   /* of each operation; NULL: 0 */
    size_t *tasks;        /* of the job that have no copy */
    size_t n;
    const double **rows;
    double *base;
    double *weight;
    size_t *places;
    double *pool; /* rows, one for each sort of task of the job */
    size_t pool_capacity;
    double *row; /* of the sort that was looked at last */
    size_t task_class;
};

/* Of an open allocation. false: memory. */
bool placement_make(struct placement *placement,
                    struct allocation *allocation,
                    placement_fill *fill,
                    const double pace[]);

/* HUGE_VAL: impossible there. */
double placement_cost(struct placement *placement, size_t job, size_t index, size_t cluster);

/*
 * Round 1 of a job: every task that has no copy gets one where `capacity` (of each cluster, at most
 * the idle slots) allows it and the gates let it pass; a task whose place does not, where it is
 * cheapest of what is left. Those that get nothing wait with a reason. PV_E_MEMORY or PV_OK.
 */
enum pv_code
placement_run(struct placement *placement, size_t job, const int64_t capacity[]) PV_MUSTCHECK;

/* The cheapest cluster for another copy of the task in which it has none, with an idle slot and
 * room in the gates; its value is the cost. */
enum pv_code placement_find(struct placement *placement,
                            size_t job,
                            size_t index,
                            struct candidate *candidate) PV_MUSTCHECK;

#endif
