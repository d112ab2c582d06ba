#ifndef CODEC_HISTORY_RUN_H
#define CODEC_HISTORY_RUN_H

#include "codec/json/shape.h"
#include "core/history/run_change.h"

/* How much of a run a client may send; from struct config. */
struct codec_run_limits {
    int64_t stages;
    int64_t tasks; /* over all stages, however they are given */
    int64_t labels;
    /* A run as it was exported: a member that is there is kept as it stands, null included; only
     * what is missing is worked out. Set by codec_run_decode_record. */
    bool as_recorded;
};

/*
 * A run as a client sends it (docs/design.md, "A run"): the body of a POST or an object inside
 * another request (the `profile` of advice). Required: problem_size, executors,
 * cores_per_executor, duration_s. null stands for "unknown" wherever a member is optional.
 *
 * Faults: unknown members; types and ranges; a stage id twice (at the second one), a parent that is
 * no stage, a cycle of parents; tasks without task_duration_s or the reverse; either of them
 * beside task_durations_s when it says something else; more stages, tasks or labels than `limits`.
 *
 * What follows from the rest is filled in where the client left it out: the number, sum and mean of
 * task times, and nominal_rate_per_s = input_records / task_time_s. Stages are put in ascending
 * order of id, repeated parents count once. Nothing else is made up.
 *
 * run lives in the reader's arena and is complete only when codec_result says PV_OK.
 */
void codec_run_decode(const struct codec_node *node,
                      const struct codec_run_limits *limits,
                      struct run *run);

/*
 * A run as a line of NDJSON: what codec_run_encode writes with CODEC_RUN_RECORD, or what another
 * engine's exporter makes. Takes every member of a stored run; `application` is taken too, so that
 * replies can be sent back, and goes unread. Required: duration_s, which may be null. What is
 * missing is unknown. id is "" where none is given and a UUIDv7 otherwise.
 *
 * Encoding what was decoded gives the same bytes. Ranges are those of what logs may say, so 0 is
 * allowed where codec_run_decode wants more.
 */
void codec_run_decode_record(const struct codec_node *node,
                             const struct codec_run_limits *limits,
                             struct run *run);

/* The body of a PATCH: problem_size null means "measure it from the log again". */
void codec_run_decode_change(const struct codec_node *node,
                             const struct codec_run_limits *limits,
                             struct run_change *change);

/* The stages of a run alone: `stages` is an array node of a run's shape. */
void codec_stages_decode(const struct codec_node *stages,
                         const struct codec_run_limits *limits,
                         struct run *run);

extern const struct shape codec_run_create_shape;
extern const struct shape codec_run_change_shape;
extern const struct shape codec_run_shape; /* a record, and the reply */
extern const struct shape codec_stage_shape;
extern const struct shape codec_resource_profile_shape;

/* What a reply of a run is made of besides the run: the context of codec_run_shape. */
struct codec_run_context {
    struct strview application;
    bool with_tasks;
};

/* Member `nodes` of a run, which stands before `stages` in tables of members. */
extern const struct shape codec_run_node_shape;
void codec_run_nodes_check(const struct codec_node *node, const struct run *run);
enum { CODEC_RUN_NODES_MAX = 10000, CODEC_NODE_NAME_BYTES = 255 };

/* Member `executor_lifetimes` of a run. */
extern const struct shape codec_executor_lifetime_shape;
void codec_executor_lifetimes_check(const struct codec_node *node, const struct run *run);

/* Members `stages` of a run, for tables of members: null leaves the run without. */
void codec_stages_decode_member(const struct codec_node *node, const void *limits, void *run);
void codec_stages_encode_member(struct writer *w, const void *run, const void *context);

enum codec_run_include {
    CODEC_RUN_STAGES = 1, /* per stage: tasks and their mean duration */
    CODEC_RUN_TASKS = 2,  /* implies stages; every task's duration where known one by one */
    CODEC_RUN_RECORD = 4  /* a line of an export: what codec_run_decode_record takes back */
};

/*
 * The representation of a stored run. application: its name. What a log alone can tell is written
 * only for runs that come from one. Unknown values are null.
 */
void codec_run_encode(struct writer *w,
                      const struct run *run,
                      struct strview application,
                      unsigned include);

#endif
