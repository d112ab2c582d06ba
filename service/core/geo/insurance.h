#ifndef CORE_GEO_INSURANCE_H
#define CORE_GEO_INSURANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/geo/problem.h"

/*
 * PingAn: which copies of which ready tasks to start in which clusters, so that jobs finish sooner
 * and survive the loss of a cluster (design.md section 4 "Copy plans"; PingAn, section 4).
 *
 * Of n jobs in ascending unprocessed bytes the first max(1, ceil(epsilon n)) are admitted, each
 * with an equal share of all slots. Then rounds: in the first every task is to get the copy that is
 * fastest, in the second a copy that makes it likeliest to outlive its clusters, in further ones
 * copies that save slots as well as time. A copy takes an idle slot and room in the gates it
 * passes, and is never slower than 1/(1 + epsilon) of the best rate the task could have anywhere.
 *
 * Copies that run already count for a job's share, for a task's rate and exemption, and take their
 * room in the gates before all others; their slots are among the busy ones.
 */
enum insurance_aim { INSURANCE_EFFICIENCY, INSURANCE_RELIABILITY };

struct insurance_terms {
    double epsilon;            /* inside (0, 1] */
    int64_t max_rounds;        /* >= 1 */
    enum insurance_aim first;  /* what round 1 looks for; the paper: efficiency */
    enum insurance_aim second; /* what round 2 looks for; the paper: reliability */
    bool job_by_job;           /* all rounds of a job before the next job (JGA); else EFA */
};

struct insurance_copy {
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
struct insurance_task {
    size_t job;
    size_t task;
    size_t *clusters; /* one entry a copy: those running, then those granted, in order */
    size_t n_clusters;
    double rate_bytes_per_s; /* E[max of its copies] */
    double duration_s;
    double exemption_probability;
};

/* Why a task has no copy: the first that applies, judged in round 1. */
enum insurance_reason {
    INSURANCE_NOT_ADMITTED,
    INSURANCE_SHARE_USED,
    INSURANCE_NO_SLOT,
    INSURANCE_BANDWIDTH,
    INSURANCE_RATE_BELOW_FLOOR,
    INSURANCE_REASONS
};

/* Name on the wire. */
const char *insurance_reason_name(enum insurance_reason reason);

struct insurance_waiting {
    size_t job;
    size_t task;
    enum insurance_reason reason;
};

struct insurance_share {
    size_t job;
    int64_t slots;
};

/* What the granted copies take of a cluster. */
struct insurance_use {
    int64_t slots;
    double ingress_bytes_per_s;
    double egress_bytes_per_s;
};

struct insurance_plan {
    struct insurance_copy *copies; /* in the order granted */
    size_t n_copies;
    struct insurance_task *tasks; /* in the order of the request, as is `waiting` */
    size_t n_tasks;
    struct insurance_waiting *waiting;
    size_t n_waiting;
    struct insurance_share *shares; /* of the jobs admitted, in their order */
    size_t n_shares;
    struct insurance_use *use; /* of each cluster */
    int64_t rounds;            /* that granted a copy: the last one's number; 0: none did */
};

/*
 * Plan. What the plan points at lives in `arena`, as does working memory.
 *
 * PV_E_INVALID: a task has no cluster in which it could run (the operation or a link is missing
 * everywhere), with a fault at its /jobs/J/tasks/T/inputs. PV_E_MEMORY. *plan is written only on
 * PV_OK.
 *
 * Time: means that bound the rates rule out most (task, cluster) pairs, so a round costs a few
 * operations for each of them, and as many expectations of minima or maxima as there are clusters
 * that could be the best.
 */
enum pv_code insurance_plan(const struct geo_problem *problem,
                            const struct insurance_terms *terms,
                            struct arena *arena,
                            struct insurance_plan *plan,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
