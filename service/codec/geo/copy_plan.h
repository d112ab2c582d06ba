#ifndef CODEC_GEO_COPY_PLAN_H
#define CODEC_GEO_COPY_PLAN_H

#include "base/json_writer.h"
#include "codec/json/shape.h"
#include "core/geo/performance_book.h"
#include "core/geo/plan.h"
#include "core/geo/planner.h"
#include "core/geo/system_load.h"

/* What a client may ask for; from struct config. */
struct codec_copy_plan_limits {
    size_t clusters;
    size_t jobs;
    size_t tasks;  /* of all jobs */
    size_t points; /* of a distribution */
};

/* How the request refers to a cluster. */
struct codec_copy_plan_place {
    bool registered;      /* what the request does not override is looked up */
    bool only_named;      /* a name alone: faults point at the item itself */
    bool has_unreachable; /* the request specifies unreachable_probability */
};

/* A job as it was sent, without its tasks. */
struct codec_copy_plan_job {
    struct strview name;
    struct geo_job job;
};

/* Where what the request left to registered clusters was found. */
struct codec_copy_plan_origin {
    const struct performance_book *book; /* NULL: no cluster is registered */
    const size_t *place;                 /* of each cluster in the book; SIZE_MAX: not registered */
    size_t n_links_given; /* links before are of the request, the others of the book, ascending */
    int64_t now_us;
    size_t processing[PERFORMANCE_SOURCES]; /* how many distributions are from where */
    size_t transfers[PERFORMANCE_SOURCES];
    size_t unreachable[UNREACHABLE_SOURCES];
};

extern const struct shape codec_copy_plan_cluster_shape;
extern const struct shape codec_copy_plan_job_shape;
extern const struct shape codec_copy_plan_task_shape;
extern const struct shape codec_running_copy_shape;

/* POST /v1/copy-plans (docs/design.md, "Copy plans"). */
struct codec_copy_plan {
    struct geo_problem problem;
    struct geo_parameters parameters;
    bool epsilon_is_auto;                 /* it was chosen by the load */
    struct geo_system_load load;          /* by which it was */
    struct strview *clusters;             /* names, as problem.clusters */
    struct codec_copy_plan_place *places; /* likewise */
    const char *clusters_at;              /* pointer of the list that they are from */
    size_t n_registered;
    struct strview *operations; /* names, as the problem numbers them */
    bool all_sources;           /* the reply is to list every one */
    struct codec_copy_plan_origin origin;
    struct strview *jobs;   /* names, as problem.jobs */
    struct strview **tasks; /* ids: tasks[job][task] */
};

/*
 * Faults: unknown members; types and ranges; a name or id twice (at the second one); clusters named
 * by inputs, copies or links that are not listed; an operation that no cluster knows; a
 * distribution whose probabilities do not add up to 1; a copy that has processed more than its
 * task; more tasks done than the stage has; more than `limits` allow.
 *
 * A registered cluster is a name, or an object with `registered` true whose other members override
 * what is registered. What it does not override is not known yet (RUN_UNKNOWN, NAN, NULL), and an
 * operation without speeds is no fault while one of the clusters is registered. Every other object
 * describes a cluster: it needs slots and processing. slot_s is NAN where it is not given.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_copy_plan_decode(const struct codec_node *node,
                            const struct codec_copy_plan_limits *limits,
                            struct codec_copy_plan *request);

/* The whole reply, as one object. */
void codec_copy_plan_encode(struct writer *w,
                            const struct codec_copy_plan *request,
                            const struct geo_plan *plan);

/* Members `sources` and `warnings`: where what was looked up is from, what fell back on what, and
 * what the plan may be misread for. */
void codec_copy_plan_encode_sources(struct writer *w,
                                    const struct codec_copy_plan *request,
                                    const struct geo_plan *plan);

#endif
