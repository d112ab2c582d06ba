#ifndef CODEC_SCHEDULING_SLOWDOWN_H
#define CODEC_SCHEDULING_SLOWDOWN_H

#include "base/json_writer.h"
#include "codec/json/finding.h"
#include "codec/json/shape.h"
#include "core/scheduling/comparison/slowdown.h"

/* What a client may ask for; from struct config. */
struct codec_slowdown_limits {
    size_t jobs;
};

struct codec_slowdown_job {
    struct strview name;
    struct slowdown_job job;
};

extern const struct shape codec_slowdown_shape;
extern const struct shape codec_slowdown_job_shape;

/* POST /v1/slowdowns (docs/design.md, "Slowdowns"). */
struct codec_slowdown {
    struct codec_slowdown_job *sent;
    struct slowdown_job *jobs; /* jobs[i] is that of sent[i] */
    size_t n;
    struct slowdown_percentile *percentiles; /* `percent` of each */
    size_t n_percentiles;
};

/*
 * Faults: unknown members; types and ranges; a name twice (at the second one); a job that ends
 * before it arrives (at finish_s); more jobs than `limits` allow.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_slowdown_decode(const struct codec_node *node,
                           const struct codec_slowdown_limits *limits,
                           struct codec_slowdown *request);

/* The whole reply, as one object. */
void codec_slowdown_encode(struct writer *w,
                           const struct codec_slowdown *request,
                           const struct slowdown_summary *summary,
                           const struct findings *warnings);

/* The member `classes`: jobs by size, ascending. */
void codec_slowdown_classes_encode(struct writer *w,
                                   const struct slowdown_class classes[],
                                   size_t n);

#endif
