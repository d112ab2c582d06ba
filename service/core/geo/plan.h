#ifndef CORE_GEO_PLAN_H
#define CORE_GEO_PLAN_H

#include <stddef.h>
#include <stdint.h>

/* What a planner decides about a problem (core/geo/problem.h): the same figures whatever the
 * planner, so that plans can be compared. */

struct geo_plan_copy {
    size_t job;
    size_t task;
    size_t cluster;
    int64_t round;
    double rate_bytes_per_s; /* expected, of this copy alone */
    double duration_s;       /* expected, of this copy alone */
    double saved_s;        /* of the task's expected duration by this copy; NAN: it is the first */
    double exemption_gain; /* likewise; NAN: it is the first */
};

/* Of a task that has a copy at the end. */
struct geo_plan_task {
    size_t job;
    size_t task;
    size_t *clusters; /* one entry a copy: those running, then those granted, in order */
    size_t n_clusters;
    double rate_bytes_per_s; /* E[max of its copies] */
    double duration_s;
    double exemption_probability;
};

/* Why a task has no copy: the first that applies. */
enum geo_reason {
    GEO_NOT_ADMITTED,
    GEO_SHARE_USED,
    GEO_NO_SLOT,
    GEO_BANDWIDTH,
    GEO_RATE_BELOW_FLOOR,
    GEO_LOCALITY, /* it may still wait for a slot where its input is */
    GEO_REASONS
};

/* Name on the wire. */
const char *geo_reason_name(enum geo_reason reason);

struct geo_plan_waiting {
    size_t job;
    size_t task;
    enum geo_reason reason;
};

struct geo_plan_share {
    size_t job;
    int64_t slots;
};

/* What the granted copies take of a cluster. */
struct geo_plan_use {
    int64_t slots;
    double ingress_bytes_per_s;
    double egress_bytes_per_s;
};

/* A running copy to cancel before the copies are started. */
struct geo_plan_cancellation {
    size_t job;
    size_t task;
    size_t cluster;
};

struct geo_plan {
    struct geo_plan_copy *copies; /* in the order granted */
    size_t n_copies;
    struct geo_plan_task *tasks; /* in the order of the request, as is `waiting` */
    size_t n_tasks;
    struct geo_plan_waiting *waiting;
    size_t n_waiting;
    struct geo_plan_share *shares; /* of the jobs that are limited to one, in their order */
    size_t n_shares;
    struct geo_plan_cancellation *cancellations;
    size_t n_cancellations;
    struct geo_plan_use *use; /* of each cluster */
    int64_t rounds;           /* that granted a copy: the last one's number; 0: none did */
};

#endif
