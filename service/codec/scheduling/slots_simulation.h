#ifndef CODEC_SCHEDULING_SLOTS_SIMULATION_H
#define CODEC_SCHEDULING_SLOTS_SIMULATION_H

#include "codec/scheduling/policy_comparison.h"
#include "core/scheduling/comparison/policy_search.h"
#include "core/scheduling/slots/slots_comparison.h"
#include "core/scheduling/slots/slots_search.h"

/* POST /v1/simulations of kind `slots` (docs/design.md, "Jobs on slots"): what is asked, and what
 * came of it. */

/* What the container of a task takes. */
struct codec_slots_container {
    int64_t vcores; /* RUN_UNKNOWN: not given */
    int64_t memory_bytes;
};

struct codec_slots_job {
    struct strview name;
    struct slots_job job;
    size_t queue;        /* from 1 */
    int64_t input_bytes; /* RUN_UNKNOWN: not given */
    /* Tasks that last equally long, by number and duration; RUN_UNKNOWN: they are listed. */
    int64_t count[SLOTS_KINDS];
    double task_s[SLOTS_KINDS];
    struct codec_slots_container containers[SLOTS_KINDS];
};

/* With slots, or with room for containers. */
struct codec_slots_node {
    struct strview name;
    size_t slots[SLOTS_KINDS]; /* SIZE_MAX: not given */
    int64_t vcores;            /* RUN_UNKNOWN: not given */
    int64_t memory_bytes;      /* likewise */
    double speed;
    size_t level;                 /* SIZE_MAX: not given */
    double bandwidth_bytes_per_s; /* NAN: not given */
};

/* Slots that are alike, or those of nodes. */
struct codec_slots_cluster {
    size_t slots[SLOTS_KINDS]; /* SIZE_MAX: not given */
    struct codec_slots_node *nodes;
    size_t n_nodes;
    double bandwidth_bytes_per_s; /* of nodes that have none of their own; NAN: not given */
};

struct codec_slots_incident {
    struct strview node;
    double at_s;
    double until_s;
    double speed_factor; /* NAN: not given */
    bool down;
};

/* What a job's size is predicted from where it has no prediction of its own. */
enum codec_slots_prediction { PREDICTED_EXACT, PREDICTED_FROM_INPUT };

struct codec_slots_simulation {
    struct codec_comparison common;
    struct codec_slots_cluster sent_cluster;
    struct codec_slots_incident *sent_incidents;
    size_t n_sent_incidents;
    struct slots_cluster cluster; /* that of `sent_cluster`, with incidents */
    struct slots_node *nodes;     /* its own */
    struct codec_slots_container containers[SLOTS_KINDS]; /* of jobs that say nothing else */
    double ramp_up;                                       /* NAN: not given */
    struct slots_resources requests[SLOTS_KINDS];         /* those of `containers` */
    unsigned predicted_sizes;                             /* enum codec_slots_prediction */
    double seconds_per_byte;                              /* NAN: what the workload has taught */
    struct codec_slots_job *sent;
    size_t n_sent;
    struct slots_job *jobs; /* jobs[i] is that of sent[i], or the i-th of the workload */
    size_t n_jobs;
    const char **names; /* of jobs of the workload, "": it has none; NULL: not loaded */
    struct slots_terms policies[COMPARISON_POLICIES_MAX];
    struct slots_family families[SEARCH_FAMILIES_MAX];
    struct slots_tried tried; /* the candidates of a search */
};

extern const struct shape codec_slots_simulation_shape;
extern const struct shape codec_slots_cluster_shape;
extern const struct shape codec_slots_node_shape;
extern const struct shape codec_slots_incident_shape;
extern const struct shape codec_slots_job_shape;
extern const struct shape codec_slots_container_shape;

/*
 * Faults: unknown members, those of other policies among them; slots beside nodes, or neither; nodes with
 * slots beside nodes with room for containers; containers that fit on no node, or beside slots; policies and
 * searches that are for slots beside containers; levels
 * of some nodes only; incidents of nodes that are not there, or of none; speculation without nodes;
 * bytes to shuffle without nodes or bandwidths; types and ranges; tasks listed and
 * counted at once; a job without tasks, or with reduces where there are no reduce slots; shares that
 * do not add up to 1, and partitions without slots; limits that do not rise (sita); a queue that a
 * policy `capacity` does not have; jobs and a workload at once, or neither; sizes to be predicted from
 * input where nothing says how; names twice; a baseline that is no policy; what
 * codec_comparison_check and codec_search_check say.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK. `node`
 * is the whole body; its member `kind` has been read.
 */
void codec_slots_simulation_decode(const struct codec_node *node,
                                   const struct codec_comparison_limits *limits,
                                   struct codec_slots_simulation *asked);

/* The same with all defaults filled in, as a complete value; it decodes to the same. */
void codec_slots_simulation_encode(struct writer *w, const struct codec_slots_simulation *asked);

/* How the workload is to be loaded. */
struct workload_load_terms
codec_slots_simulation_load_terms(const struct codec_slots_simulation *asked);

/* The jobs of the workload, borrowed. PV_E_INVALID: one of them does not suit the policies, or has
 * tasks that are too short; a search has too many candidates for them, or none. Candidates live in
 * the arena. */
enum pv_code codec_slots_simulation_load(struct codec_slots_simulation *asked,
                                         const struct workload_jobs *jobs,
                                         struct arena *arena,
                                         struct pv_error *err) PV_MUSTCHECK;

/* The comparison that is asked for, of a request with its jobs, but for runtimes; complete, in the
 * arena. PV_E_MEMORY. */
enum pv_code codec_slots_simulation_take(const struct codec_slots_simulation *asked,
                                         struct arena *arena,
                                         struct slots_comparison *comparison,
                                         struct pv_error *err) PV_MUSTCHECK;

struct codec_slots_result {
    const struct codec_slots_simulation *asked;
    const struct slots_comparison *comparison;
    const struct policy_load *loads;         /* of the comparison */
    const struct policy_search_found *found; /* of each load; NULL: no search was asked for */
};

void codec_slots_result_encode(struct writer *w, const struct codec_slots_result *result);

#endif
