#ifndef CODEC_SCHEDULING_TASKS_SIMULATION_H
#define CODEC_SCHEDULING_TASKS_SIMULATION_H

#include "codec/scheduling/policy_comparison.h"
#include "core/scheduling/comparison/policy_search.h"
#include "core/scheduling/tasks/pigeon_layout.h"
#include "core/scheduling/tasks/tasks_comparison.h"
#include "core/scheduling/tasks/tasks_search.h"

/* POST /v1/simulations of kind `tasks` (docs/design.md, "Bags of tasks"): what is asked, and what
 * came of it. */

struct codec_tasks_job {
    struct strview name;
    struct tasks_job job;
    struct strview class; /* at NULL: none is given, until the whole is read */
};

struct codec_tasks_group {
    size_t workers;
    double power; /* of each of them; NAN: 1 */
};

struct codec_tasks_cluster {
    size_t workers; /* SIZE_MAX: they are in groups */
    struct codec_tasks_group *groups;
    size_t n_groups; /* 0: groups are the policies' */
};

struct codec_tasks_simulation {
    struct codec_comparison common;
    struct codec_tasks_cluster cluster;
    double communication_s;
    double short_cutoff_s;   /* NAN: none */
    struct strview *classes; /* that jobs may have, the highest first */
    size_t n_classes;        /* 0: short and long */
    struct codec_tasks_job *sent;
    size_t n_sent;
    struct tasks_job *jobs; /* jobs[i] is that of sent[i], or the i-th of the workload */
    size_t n_jobs;
    struct pigeon_group *groups; /* of the cluster; NULL: it lists none */
    uint32_t n_groups;
    const char **names; /* of jobs of the workload, "": it has none; NULL: not loaded */
    struct tasks_terms policies[COMPARISON_POLICIES_MAX];
    bool draws[COMPARISON_POLICIES_MAX + 1]; /* behind the policies: of what is found */
    struct tasks_model model;                /* complete, once there are jobs */
    struct tasks_family families[SEARCH_FAMILIES_MAX];
    size_t candidate_bytes_max; /* that simulating one may take */
    struct tasks_tried
        tried; /* the candidates of a search; of a workload chosen anew for its jobs */
};

extern const struct shape codec_tasks_simulation_shape;
extern const struct shape codec_tasks_cluster_shape;
extern const struct shape codec_tasks_group_shape;
extern const struct shape codec_tasks_job_shape;

/*
 * Faults: unknown members, those of other policies among them; types and ranges; a placement that
 * is not of every task, or names a group that some policy does not have; more groups than workers;
 * jobs and a workload at once, or neither, and classes beside a workload; names twice; a baseline that
 * is no policy; classes that are not declared; layouts that cannot be (tasks_simulation_internal.h);
 * what codec_comparison_check and codec_search_check say.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK. `node`
 * is the whole body; its member `kind` has been read.
 */
void codec_tasks_simulation_decode(const struct codec_node *node,
                                   const struct codec_comparison_limits *limits,
                                   struct codec_tasks_simulation *asked);

/* The same with all defaults filled in, as a complete value; it decodes to the same. */
void codec_tasks_simulation_encode(struct writer *w, const struct codec_tasks_simulation *asked);

/* How the workload is to be loaded. */
struct workload_load_terms
codec_tasks_simulation_load_terms(const struct codec_tasks_simulation *asked);

/* The jobs of the workload, borrowed; what is derived of them lives in the arena. PV_E_INVALID: they
 * have tasks that are too short; a search has no candidate for them. PV_E_MEMORY. */
enum pv_code codec_tasks_simulation_load(struct codec_tasks_simulation *asked,
                                         const struct workload_jobs *jobs,
                                         struct arena *arena,
                                         struct pv_error *err) PV_MUSTCHECK;

/* The comparison that is asked for, of a request with its jobs; it borrows from the request. */
struct tasks_comparison codec_tasks_simulation_take(const struct codec_tasks_simulation *asked);

struct codec_tasks_result {
    const struct codec_tasks_simulation *asked;
    const struct tasks_comparison *comparison;
    const struct policy_load *loads;         /* of the comparison */
    const struct policy_search_found *found; /* of each load; NULL: no search was asked for */
};

void codec_tasks_result_encode(struct writer *w, const struct codec_tasks_result *result);

#endif
