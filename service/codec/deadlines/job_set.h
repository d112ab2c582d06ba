#ifndef CODEC_DEADLINES_JOB_SET_H
#define CODEC_DEADLINES_JOB_SET_H

#include "base/json_writer.h"
#include "codec/clusters/given_cluster.h"
#include "codec/json/shape.h"
#include "core/advice/recorded_job.h"

/* Jobs with deadlines on one cluster: what the requests of feasibility and of control simulations
 * have in common, and the members of their replies about each job. */

/* What a client may ask for; from struct config. */
struct codec_job_set_limits {
    size_t jobs;
    size_t stages; /* of one job */
    size_t tasks;  /* over all jobs */
    int64_t cores; /* executors x cores_per_executor */
};

/* A job as it was sent. */
struct codec_job_sent {
    struct strview name;
    double release_s;
    double deadline_s;
    struct strview application; /* at == NULL: the job stands in the request itself */
    double problem_size;        /* NAN: that of the latest run */
    double overhead_s;          /* NAN: none was sent */
    unsigned overhead;          /* of a job from history: of codec_job_overhead_words */
    int64_t memory_bytes;       /* of all its executors; RUN_UNKNOWN: none was sent */
    struct edf_job job;         /* as jobs[i] was before the caller gave it stages */
};

/* Of enum job_overhead, those that a request may ask for; ends with NULL. */
extern const char *const codec_job_overhead_words[];

extern const struct shape codec_job_shape;

struct codec_job_set {
    struct strview cluster;         /* a registered one; at == NULL: its size is in the request */
    struct codec_cluster_size size; /* zeros until the caller gives those of the registered one */
    size_t cores;                   /* likewise, all of them */
    struct edf_job *jobs; /* those from history have no stages until the caller gives them */
    struct codec_job_sent *sources; /* sources[i] belongs to jobs[i] */
    /* For jobs from history; NULL until the caller sets them. */
    struct job_set_loaded *loaded; /* their runs (api/deadlines/job_set_load.h) */
    struct recorded_job *recorded; /* by job; zeros for a job with stages of its own */
    double *nominal_rates;         /* by their runs; NAN: not known */
    size_t n_jobs;
};

/* The rows of a job in a struct T; `at` is the way to its struct codec_job_sent, empty or ended by
 * a dot. Its shape is checked by codec_job_check, which is given that struct, and whose limits
 * begin with a struct codec_job_set_limits. */
#define CODEC_JOB_MEMBERS(T, at)                                                                   \
    {"name", SHAPE_NAME(T, at name), .flags = CODEC_REQUIRED},                                     \
        {"release_s", SHAPE_NUMBER(T, at release_s), .flags = SHAPE_KEEP,                          \
         .low = -CODEC_SECONDS_MAX, .high = CODEC_SECONDS_MAX},                                    \
        {"deadline_s", SHAPE_NUMBER(T, at deadline_s), .flags = CODEC_REQUIRED,                    \
         .low = CODEC_SECONDS_MIN, .high = CODEC_SECONDS_MAX},                                     \
        {"overhead_per_task_s", SHAPE_NUMBER(T, at overhead_s), .high = CODEC_SECONDS_MAX},        \
        {"overhead", SHAPE_WORD(T, at overhead, codec_job_overhead_words)},                        \
        {"stages", SHAPE_CODE}, {"application", SHAPE_CODE},                                       \
    {                                                                                              \
        "problem_size", SHAPE_CODE                                                                 \
    }

void codec_job_check(const struct codec_node *node, const void *limits, void *object);

/* The member `cluster`: a name, or a size of at most cores_max cores. */
void codec_job_set_decode_cluster(const struct codec_node *top,
                                  int64_t cores_max,
                                  struct codec_job_set *set);

/* The jobs side by side, as they are scheduled, once sources and n_jobs are set. */
void codec_job_set_take(const struct codec_node *top,
                        const struct codec_job_set_limits *limits,
                        struct codec_job_set *set);

/* Tasks of all jobs together. */
size_t codec_job_set_tasks(const struct codec_job_set *set);

/* What became of job i: members of the open object. */
void codec_job_outcome_encode(struct writer *w,
                              const struct codec_job_set *set,
                              size_t i,
                              const struct edf_outcome *outcome);

/* Where the tasks of job i come from, if it comes from history: members of the open object. */
void codec_job_recorded_encode(struct writer *w, const struct codec_job_set *set, size_t i);

/* The member `metrics`. */
void codec_edf_metrics_encode(struct writer *w, const struct edf_metrics *metrics);

#endif
