#ifndef CODEC_SCHEDULING_TASKS_SIMULATION_H
#define CODEC_SCHEDULING_TASKS_SIMULATION_H

#include "codec/scheduling/policy_comparison.h"
#include "core/scheduling/tasks_comparison.h"

/* POST /v1/simulations of kind `tasks` (docs/design.md, "Bags of tasks"): what is asked, and what
 * came of it. */

struct codec_tasks_job {
    struct strview name;
    struct tasks_job job; /* its class by short_cutoff_s where none is given */
    bool classed;         /* one is */
};

struct codec_tasks_cluster {
    size_t workers;
};

struct codec_tasks_simulation {
    struct codec_comparison common;
    struct codec_tasks_cluster cluster;
    double communication_s;
    double short_cutoff_s; /* NAN: none */
    struct codec_tasks_job *sent;
    struct tasks_job *jobs; /* jobs[i] is that of sent[i] */
    size_t n_jobs;
    struct tasks_terms policies[COMPARISON_POLICIES_MAX];
    bool draws[COMPARISON_POLICIES_MAX];
    struct tasks_model model; /* complete */
};

extern const struct shape codec_tasks_simulation_shape;
extern const struct shape codec_tasks_cluster_shape;
extern const struct shape codec_tasks_job_shape;

/*
 * Faults: unknown members, those of other policies among them; types and ranges; a placement that
 * is not of every task, or names a group that some policy does not have; more groups than workers;
 * names twice; a baseline that is no policy; what codec_comparison_check says.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK. `node`
 * is the whole body; its member `kind` has been read.
 */
void codec_tasks_simulation_decode(const struct codec_node *node,
                                   const struct codec_comparison_limits *limits,
                                   struct codec_tasks_simulation *asked);

/* The same with all defaults filled in, as a complete value; it decodes to the same. */
void codec_tasks_simulation_encode(struct writer *w, const struct codec_tasks_simulation *asked);

/* The comparison that is asked for; it borrows from the request. */
struct tasks_comparison codec_tasks_simulation_take(const struct codec_tasks_simulation *asked);

struct codec_tasks_result {
    const struct codec_tasks_simulation *asked;
    const struct tasks_load *loads; /* of the comparison */
};

void codec_tasks_result_encode(struct writer *w, const struct codec_tasks_result *result);

#endif
