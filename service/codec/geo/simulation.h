#ifndef CODEC_GEO_SIMULATION_H
#define CODEC_GEO_SIMULATION_H

#include "base/json_writer.h"
#include "codec/geo/wfformat.h"
#include "codec/json/shape.h"
#include "core/geosim/comparison.h"
#include "core/geosim/engine.h"
#include "core/geosim/topology.h"
#include "core/geosim/workload.h"

/* POST /v1/simulations of kind `geo`: what is asked, and what came of it. */

/* What a client may ask for; from struct config. */
struct codec_simulation_limits {
    size_t workflows;
    size_t tasks;          /* of all workflows, as many as are expected */
    size_t workflow_tasks; /* of one */
    size_t clusters;
    size_t runs;      /* policies x arrival rates x repetitions */
    size_t task_runs; /* these x tasks of all workflows, as many as are expected */
    size_t templates;
    size_t operations; /* of all templates */
};

enum { SIMULATION_POLICIES_MAX = 32, SIMULATION_RATES_MAX = 32 };

struct codec_simulation_policy {
    struct strview name;
    struct geosim_parameters terms; /* but for its horizon */
};

struct codec_simulation {
    struct geosim_world_parameters world;
    struct geosim_workload_parameters workload;
    bool by_template_figures;  /* Montage as the templates were measured */
    unsigned montage_surveys;  /* bits of the built-in figures, where those are used */
    struct strview *templates; /* JSON texts, without what is not simulated */
    size_t n_templates;
    struct codec_operations operations;
    struct codec_simulation_policy policies[SIMULATION_POLICIES_MAX];
    size_t n_policies;
    size_t baseline; /* of the policies */
    double arrival_rates_per_s[SIMULATION_RATES_MAX];
    size_t n_rates;
    size_t repetitions;
    int64_t seed;
    double drain_timeout_s; /* after the last arrival */
};

extern const struct shape codec_simulation_shape;
extern const struct shape codec_simulation_topology_shape;
extern const struct shape codec_simulation_workload_shape;

/*
 * Faults: unknown members; types and ranges; the low end of a range above its high end; shares that
 * do not add up to 1; more than the limits allow; members that do not go together; two policies of
 * one name; a baseline that is none of them; what codec_wfformat_decode says of templates, and
 * templates without all of Montage's steps where its shape is asked for.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 * `node` is the whole body; its member `kind` has been read.
 */
void codec_simulation_decode(const struct codec_node *node,
                             const struct codec_simulation_limits *limits,
                             struct codec_simulation *asked);

/* The same with all defaults filled in, as a complete value; it decodes to the same. */
void codec_simulation_encode(struct writer *w, const struct codec_simulation *asked);

/* What came of a policy at an arrival rate: means over the repetitions but for the spreads. */
struct codec_simulation_outcome {
    struct comparison_spread flow_s;
    struct comparison_spread reduction; /* of each workflow's flow time against the baseline */
    struct geosim_counts counts;        /* of all repetitions */
    double utilization;
    double useful;
};

struct codec_simulation_result {
    const struct codec_simulation *asked;
    const struct geosim_world *world;
    int64_t tasks; /* of the workload */
    double work_s;
    double bytes;
    const struct codec_simulation_outcome *outcomes; /* [rate * n_policies + policy] */
    const struct comparison_best *best;              /* of each arrival rate */
};

void codec_simulation_result_encode(struct writer *w, const struct codec_simulation_result *result);

#endif
