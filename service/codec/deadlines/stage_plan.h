#ifndef CODEC_DEADLINES_STAGE_PLAN_H
#define CODEC_DEADLINES_STAGE_PLAN_H

#include "base/json_writer.h"
#include "codec/clusters/given_cluster.h"
#include "codec/json/shape.h"
#include "core/deadline/stage_plan.h"

/* What a client may ask for; from struct config. */
struct codec_stage_plan_limits {
    size_t stages;
    int64_t tasks; /* of all stages */
    int64_t cores; /* executors x cores_per_executor */
};

struct codec_stage_plan_pin {
    int64_t id;
    double cores;      /* NAN: not pinned */
    double deadline_s; /* NAN: not pinned */
};

extern const struct shape codec_stage_plan_shape;
extern const struct shape codec_stage_plan_pin_shape;

/* POST /v1/stage-plans (docs/design.md, "Stage plans"). */
struct codec_stage_plan {
    struct stage_plan_terms terms;
    int64_t executors; /* as sent; RUN_UNKNOWN: NAN in the terms */
    int64_t cores_per_executor;
    /* gives the terms' executors and cores_per_executor where they are NAN */
    struct codec_given_cluster cluster;
    struct strview application;      /* at == NULL: the stages stand in the request itself */
    double problem_size;             /* NAN: that of the latest run */
    struct stage_plan_stage *stages; /* ascending by id; NULL until the caller gives them */
    size_t n_stages;
    struct codec_stage_plan_pin *pins; /* in the order sent */
    size_t n_pins;
};

/*
 * Faults: unknown members; types and ranges; more cores or stages than `limits` allow; both
 * `stages` and `application`, or neither; a stage id twice (at the second one), a parent that is no
 * stage, a circle of parents; a stage not skipped without a duration or times of its tasks, or with
 * both; no stage that takes time; pins as codec_stage_plan_pin says.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_stage_plan_decode(const struct codec_node *node,
                             const struct codec_stage_plan_limits *limits,
                             struct codec_stage_plan *request);

/*
 * Fix the pinned stages; for stages in the request codec_stage_plan_decode has done it. A pin of a
 * stage that is not there or is skipped is a fault at its id.
 */
enum pv_code codec_stage_plan_pin(struct codec_stage_plan *request,
                                  struct pv_error *err) PV_MUSTCHECK;

/* The members feasible and stages of the open object. */
void codec_stage_plan_encode(struct writer *w, const struct stage_plan *plan);

#endif
