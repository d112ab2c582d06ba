#ifndef CODEC_COPY_PLAN_H
#define CODEC_COPY_PLAN_H

#include "codec/reader.h"
#include "codec/writer.h"
#include "core/geo/load.h"
#include "core/geo/planner.h"

/* What a client may ask for; from struct config. */
struct codec_copy_plan_limits {
    size_t clusters;
    size_t jobs;
    size_t tasks;  /* of all jobs */
    size_t points; /* of a distribution */
};

/* POST /v1/copy-plans (design.md sections 3 and 4 "Copy plans"). */
struct codec_copy_plan {
    struct geo_problem problem;
    struct geo_terms terms;
    bool epsilon_is_auto; /* terms.insurance.epsilon is to be drawn from the load (core/geo/load.h)
                           */
    struct geo_load load; /* that it was drawn from */
    struct strview *clusters; /* names, as problem.clusters */
    struct strview *jobs;     /* names, as problem.jobs */
    struct strview **tasks;   /* ids: tasks[job][task] */
};

/*
 * Faults: unknown members; types and ranges; a name or id twice (at the second one); clusters named
 * by inputs, copies or links that are not listed; an operation that no cluster knows; a
 * distribution whose probabilities do not add up to 1; a copy that has processed more than its
 * task; more tasks done than the stage has; more than `limits` allow.
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

#endif
