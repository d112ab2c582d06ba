#ifndef CODEC_DEADLINES_CONTENTION_H
#define CODEC_DEADLINES_CONTENTION_H

#include "base/json_writer.h"
#include "codec/clusters/given_cluster.h"
#include "codec/json/finding.h"
#include "codec/json/shape.h"
#include "core/deadline/contention.h"

/* What a client may ask for; from struct config. */
struct codec_contention_limits {
    size_t applications;
    int64_t cores;
};

/* An application as it was sent. */
struct codec_contention_application {
    struct strview name;
    struct contention_application numbers; /* but for remaining_tasks */
    int64_t remaining_tasks;
};

extern const struct shape codec_contention_shape;
extern const struct shape codec_contention_application_shape;

/* POST /v1/contention (docs/design.md, "Core allocations"). */
struct codec_contention {
    unsigned strategy_index;
    struct codec_contention_application *sent;
    const struct contention_strategy *strategy;
    struct contention_terms terms;
    struct codec_given_cluster cluster; /* gives max_cores where that is NAN */
    struct contention_application *applications;
    struct strview *names; /* names[i] belongs to applications[i] */
    size_t n;
};

/*
 * Faults: unknown members; types and ranges; a name twice (at the second one); an application
 * without what the strategy needs; more than `limits` allow. What the strategy does not need may be
 * left out or null, and is checked where it is there.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_contention_decode(const struct codec_node *node,
                             const struct codec_contention_limits *limits,
                             struct codec_contention *request);

/* The whole reply, as one object. */
void codec_contention_encode(struct writer *w,
                             const struct codec_contention *request,
                             const struct contention_share shares[],
                             const struct contention_outcome *outcome,
                             const struct findings *reasons);

#endif
