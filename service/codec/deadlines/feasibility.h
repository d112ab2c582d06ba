#ifndef CODEC_DEADLINES_FEASIBILITY_H
#define CODEC_DEADLINES_FEASIBILITY_H

#include "base/json_writer.h"
#include "codec/json/shape.h"
#include "core/deadline/clairvoyant_edf.h"

/* What a client may ask for; from struct config. */
struct codec_feasibility_limits {
    size_t jobs;
    size_t stages; /* of one job */
    size_t tasks;  /* over all jobs */
    int64_t cores; /* executors x cores_per_executor */
};

struct codec_feasibility_cluster {
    int64_t executors;
    int64_t cores_per_executor;
};

/* A job as it was sent. */
struct codec_feasibility_source {
    struct strview name;
    double release_s;
    double deadline_s;
    struct strview application; /* at == NULL: the job stands in the request itself */
    double problem_size;        /* NAN: that of the latest run */
    double overhead_s;          /* NAN: none was sent */
    struct edf_job job;         /* as jobs[i] was before the caller gave it stages */
};

extern const struct shape codec_feasibility_shape;
extern const struct shape codec_feasibility_cluster_shape;
extern const struct shape codec_job_shape;

/* POST /v1/feasibility (docs/design.md, "Clairvoyance EDF"). */
struct codec_feasibility {
    struct strview cluster; /* a registered one; at == NULL: its size is in the request */
    size_t cores;           /* 0 until the caller gives those of the registered one */
    unsigned include;       /* bits of the words sent */
    bool with_schedule;
    struct edf_job *jobs; /* those from history have no stages until the caller gives them */
    struct codec_feasibility_source *sources; /* sources[i] belongs to jobs[i] */
    size_t n_jobs;
};

/*
 * Faults: unknown members; types and ranges; a name or a stage id twice (at the second one), a
 * parent that is no stage, a circle of parents; a job with both `stages` and `application` or with
 * neither; a stage with both forms of its tasks or with neither; more than `limits` allow; a word
 * in `include` that is not known.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_feasibility_decode(const struct codec_node *node,
                              const struct codec_feasibility_limits *limits,
                              struct codec_feasibility *request);

/* Tasks of all jobs together. */
size_t codec_feasibility_tasks(const struct codec_feasibility *request);

/* The members feasible, jobs, metrics and remedies (where not NULL) of the open object. */
void codec_feasibility_encode(struct writer *w,
                              const struct codec_feasibility *request,
                              const struct edf_outcome outcomes[],
                              const struct edf_metrics *metrics,
                              const struct edf_remedies *remedies);

/* One item of the member schedule. */
void codec_feasibility_encode_placement(struct writer *w,
                                        const struct codec_feasibility *request,
                                        const struct edf_placement *placement);

#endif
