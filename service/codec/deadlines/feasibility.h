#ifndef CODEC_DEADLINES_FEASIBILITY_H
#define CODEC_DEADLINES_FEASIBILITY_H

#include "codec/deadlines/job_set.h"
#include "core/deadline/edf_changes.h"
#include "core/deadline/edf_delays.h"

extern const struct shape codec_feasibility_shape;

/* POST /v1/feasibility (docs/design.md, "Clairvoyance EDF"). */
struct codec_feasibility {
    struct codec_job_set set;
    unsigned include; /* bits of the words sent */
    bool with_schedule;
    bool with_all_remedies;
    bool with_delays;
    unsigned launch_order;     /* enum edf_launch_order */
    bool has_launch_order;     /* one was sent */
    struct edf_memory *memory; /* of the cluster, that jobs wait for; NULL: none has any */
};

/* What is known of the jobs. */
struct codec_feasibility_answer {
    const struct edf_outcome *outcomes; /* by job */
    const struct edf_metrics *metrics;
    const struct edf_remedies *remedies; /* NULL: every deadline is met */
    const struct edf_changes *changes;   /* NULL: not asked for; needs remedies */
    const struct edf_job_delays *delays; /* by job; NULL: not asked for */
};

/*
 * Faults: unknown members; types and ranges; a name or a stage id twice (at the second one), a
 * parent that is no stage, a circle of parents; a job with both `stages` and `application` or with
 * neither; a stage with both forms of its tasks or with neither; more than `limits` allow; a word
 * in `include` that is not known; a launch_order where no job has memory_bytes.
 *
 * The request lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_feasibility_decode(const struct codec_node *node,
                              const struct codec_job_set_limits *limits,
                              struct codec_feasibility *request);

/* Once the cluster is known: take its memory. Faults: jobs with memory_bytes and a cluster without,
 * or with less than one of them needs. */
enum pv_code codec_feasibility_take_memory(struct codec_feasibility *request, struct pv_error *err);

/* The members feasible, jobs, metrics and remedies (where there are any) of the open object. */
void codec_feasibility_encode(struct writer *w,
                              const struct codec_feasibility *request,
                              const struct codec_feasibility_answer *answer);

/* One item of the member schedule. */
void codec_feasibility_encode_placement(struct writer *w,
                                        const struct codec_feasibility *request,
                                        const struct edf_placement *placement);

#endif
