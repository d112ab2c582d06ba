#ifndef CODEC_SCHEDULING_SLOT_PLAN_H
#define CODEC_SCHEDULING_SLOT_PLAN_H

#include "base/json_writer.h"
#include "codec/json/finding.h"
#include "codec/json/shape.h"
#include "core/history/map_reduce.h"
#include "core/scheduling/slots/fresh_plan.h"

/* What a client may ask for; from struct config. */
struct codec_slot_plan_limits {
    size_t jobs;
    size_t splits; /* slots x jobs, once more for each concurrency of the sweep */
};

/* What the recent runs of an application make of a job. */
struct codec_slot_profile {
    struct map_reduce tasks;
    const struct run_source *runs; /* newest first */
    size_t n_runs;
    bool graph_changed; /* other recent runs had another stage graph, and were left out */
};

struct codec_slot_plan_job {
    struct strview name;
    int64_t maps;
    double map_task_s;
    int64_t reduces;
    double reduce_task_s;                     /* of no meaning without reduces */
    struct strview application;               /* at == NULL: the four members above were sent */
    const struct codec_slot_profile *profile; /* of the application, once it is loaded */
};

extern const struct shape codec_slot_plan_job_shape;
extern const struct shape codec_slot_plan_shape;

/* POST /v1/slot-plans (docs/design.md, "Slot plans"). */
struct codec_slot_plan {
    size_t slots;
    size_t nodes; /* SIZE_MAX: none were sent */
    size_t concurrency;
    unsigned order;
    size_t *sweep;
    size_t n_sweep;
    double profile_error_percent; /* NAN: none was sent */
    struct codec_slot_plan_job *jobs;
    size_t n_jobs;
};

/*
 * Faults: unknown members; types and ranges; a name or a concurrency of the sweep twice; maps and
 * their duration missing, or given beside an application; reduces without a duration; a single slot
 * for jobs with reduces; nodes that slots cannot be divided among; more splits than limits allow.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_slot_plan_decode(const struct codec_node *node,
                            const struct codec_slot_plan_limits *limits,
                            struct codec_slot_plan *asked);

/* What the core works with, once every application has its profile; it borrows from `asked`. PV_E_INVALID:
 * a single slot, and a profile with reduces; PV_E_MEMORY. */
enum pv_code codec_slot_plan_take(const struct codec_slot_plan *asked,
                                  struct arena *arena,
                                  struct fresh_plan_terms *terms,
                                  struct pv_error *err) PV_MUSTCHECK;

/* The whole reply, as one object. */
void codec_slot_plan_encode(struct writer *w,
                            const struct codec_slot_plan *asked,
                            const struct fresh_plan *plan,
                            const struct findings *warnings);

/* Warnings: profiles from runs that changed; no split that all nodes can share. */
void codec_slot_plan_warn(const struct codec_slot_plan *asked,
                          const struct fresh_plan *plan,
                          struct findings *warnings);

#endif
