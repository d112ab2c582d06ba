#ifndef CODEC_SCHEDULING_PIGEON_PLAN_H
#define CODEC_SCHEDULING_PIGEON_PLAN_H

#include "base/json_writer.h"
#include "codec/json/finding.h"
#include "codec/json/shape.h"
#include "core/scheduling/tasks/pigeon_plan.h"

extern const struct shape codec_pigeon_plan_shape;

/* POST /v1/pigeon-plans (docs/design.md, "Pigeon plans"). */
struct codec_pigeon_plan {
    struct pigeon_terms terms; /* with the load that jobs_per_s makes */
    double jobs_per_s;         /* NAN: the load was sent */
    unsigned durations;
    int64_t *group_sizes; /* none larger than there are workers */
    size_t n;             /* >= 1 */
};

/*
 * Faults: unknown members; types and ranges; neither load nor jobs_per_s, or both; more arrivals
 * than the workers can serve; a group size twice; only group sizes above the number of workers.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_pigeon_plan_decode(const struct codec_node *node, struct codec_pigeon_plan *request);

/* The whole reply, as one object. candidates[i] belongs to group_sizes[i]. */
void codec_pigeon_plan_encode(struct writer *w,
                              const struct codec_pigeon_plan *request,
                              const struct pigeon_candidate candidates[],
                              size_t recommended,
                              bool meets,
                              const struct findings *warnings);

#endif
