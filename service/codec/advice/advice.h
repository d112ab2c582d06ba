#ifndef CODEC_ADVICE_ADVICE_H
#define CODEC_ADVICE_ADVICE_H

#include "base/json_writer.h"
#include "codec/geo/copy_plan.h"
#include "codec/history/run.h"
#include "codec/json/reader.h"
#include "codec/models/experiments.h"
#include "codec/models/fitted_model.h"
#include "core/advice/advise.h"
#include "core/advice/curve.h"
#include "core/advice/joint_feasibility.h"
#include "core/advice/pricing.h"
#include "core/deadline/stage_plan.h"

/* What a client may ask for; from struct config. */
struct codec_advice_limits {
    struct codec_run_limits run;
    int64_t executors;
    int64_t cores; /* executors x cores_per_executor */
    size_t running;
    size_t clusters; /* of a copy plan */
};

/* The optional members of a reply. */
enum codec_advice_include {
    CODEC_ADVICE_ALTERNATIVES = 1,
    CODEC_ADVICE_CONTENTION = 2,
    CODEC_ADVICE_SPARK = 4,
    CODEC_ADVICE_DATA_NEEDED = 8,
    CODEC_ADVICE_STAGES = 16,
    CODEC_ADVICE_NEXT_EXPERIMENTS = 32,
    CODEC_ADVICE_COPY_PLAN = 64
};

struct codec_advice_running {
    struct strview application;
    int64_t problem_size; /* RUN_UNKNOWN: that of the latest run */
    double release_s;
    double deadline_s;
    double progress; /* NAN: unknown */
};

/* POST /v1/advice (docs/design.md, "Advice"). */
struct codec_advice_request {
    struct strview application; /* at == NULL: the profile instead */
    struct run profile;
    struct run_label *labels; /* of the runs it is about, sorted by key */
    size_t n_labels;
    int64_t problem_size;       /* RUN_UNKNOWN: that of the profile or the latest run */
    int64_t cores_per_executor; /* RUN_UNKNOWN: that of the nearest run */
    struct strview cluster;     /* registered; at == NULL: none */
    bool has_max_executors;     /* one was sent */
    int64_t cluster_cores;      /* K beside running jobs; RUN_UNKNOWN: max_executors x cores */
    enum pricing_market pricing;
    bool has_price;                  /* one was sent */
    struct price price;              /* the one sent */
    struct advise_question question; /* max_executors: the service's limit where none was sent */
    struct strview *clusters;        /* registered; the first stage may be spread over them */
    size_t n_clusters;
    size_t *inputs;  /* those of them that hold the job's input */
    size_t n_inputs; /* 0: not told */
    struct codec_advice_running *running;
    size_t n_running;
    unsigned include; /* of enum codec_advice_include */
};

/*
 * Faults: unknown members; types and ranges; both of application and profile, or neither; labels
 * beside a profile; no problem size anywhere; min_executors above max_executors; max_cost with
 * neither a price nor a cluster, a spot price without one on demand, interruptions without one of
 * spot; running jobs with neither a cluster nor max_executors (its size) or twice under one name; a
 * cluster twice among copy_plan.clusters, inputs that are not among them, a copy plan without them;
 * a word in `include` that is not known.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_advice_decode(const struct codec_node *node,
                         const struct codec_advice_limits *limits,
                         struct codec_advice_request *request);

/* The member `copy_plan`: its clusters and inputs. Part of codec_advice_decode. */
void codec_advice_clusters_decode(const struct codec_node *node,
                                  const struct codec_advice_limits *limits,
                                  struct codec_advice_request *request);

/* Everything a reply is made of; borrowed. */
struct codec_advice_reply {
    const char *id;
    int64_t created_us;
    const struct codec_advice_request *request;
    const struct curve *curve;
    const struct codec_history_context *context; /* n_keys == 0: labels make no difference */
    const char *context_message;
    const struct advice *advice;
    const struct joint_outcome *beside;          /* NULL without running jobs */
    const struct stage_plan *quotas;             /* NULL: none could be made */
    const struct codec_experiments *experiments; /* NULL: not asked for */
    const struct pricing *pricing;
    const struct pricing_terms *terms;
    const struct codec_copy_plan *copies_asked; /* NULL: no copy plan could be made */
    const struct geo_plan *copies;
};

/* The representation of an advice. */
void codec_advice_encode(struct writer *w, const struct codec_advice_reply *reply);

/* What the event advice.created tells: ids and the headline. */
void codec_advice_encode_event(struct writer *w, const struct codec_advice_reply *reply);

/* The name under which the new job stands beside the running ones. */
struct strview codec_advice_job_name(const struct codec_advice_request *request);

#endif
