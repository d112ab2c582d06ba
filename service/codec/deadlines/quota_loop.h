#ifndef CODEC_DEADLINES_QUOTA_LOOP_H
#define CODEC_DEADLINES_QUOTA_LOOP_H

#include "base/json_writer.h"
#include "codec/json/finding.h"
#include "codec/json/shape.h"
#include "core/control/quota_loop.h"

/* What a client may ask for; from struct config. */
struct codec_quota_limits {
    size_t workers;
    size_t applications;
    size_t executors; /* in a sample */
};

struct codec_quota_cgroup {
    int64_t period_us;
};

extern const struct shape codec_quota_worker_shape;
extern const struct shape codec_quota_application_shape;
extern const struct shape codec_quota_cgroup_shape;
extern const struct shape codec_quota_loop_shape;
extern const struct shape codec_quota_reading_shape;
extern const struct shape codec_quota_sample_shape;

/* --- settings: PUT /v1/quota-loops/{name} (docs/design.md, "Quota loops") --- */

struct codec_quota_loop {
    struct quota_settings settings;
    struct codec_quota_cgroup cgroup;
    bool has_cgroup;
};

/*
 * Faults: unknown members; types and ranges; a name twice; an application without a nominal rate where
 * the strategy is speed; more than `limits` allow.
 *
 * The settings live in the reader's arena and are complete only when codec_result says PV_OK.
 */
void codec_quota_loop_decode(const struct codec_node *node,
                             const struct codec_quota_limits *limits,
                             struct codec_quota_loop *sent);

/* What cgroup v2 takes for so many cores, "780000 100000". period_us: known. */
enum { CODEC_CPU_MAX_TEXT = 64 };
void codec_cpu_max_format(double cores, int64_t period_us, char text[CODEC_CPU_MAX_TEXT]);

/* A loop as replies have it, as one object. */
void codec_quota_loop_encode(struct writer *w,
                             struct strview name,
                             const struct quota_loop *loop,
                             const struct findings *warnings);

/* --- samples: POST /v1/quota-loops/{name}/samples (codec/deadlines/quota_sample.c) --- */

struct codec_quota_sample {
    struct quota_sample sample;
    bool has_ended; /* `ended` was sent, empty or not */
};

/*
 * Faults that need nothing of the loop: unknown members; types and ranges; an id or a name of `ended`
 * twice; more completed tasks than the tasks given with them; a stage that starts after the sample;
 * more than `limits` allow. Nothing may be null, so equal values of the struct are equal JSON values.
 */
void codec_quota_sample_decode(const struct codec_node *node,
                               const struct codec_quota_limits *limits,
                               struct codec_quota_sample *sent);

/* What the core found wrong, at the members that are to blame. PV_E_INVALID. */
enum pv_code codec_quota_refuse(const struct quota_faults *faults, struct pv_error *err);

/* The reply to a sample, as one object. loop: as the sample left it. */
void codec_quota_outcome_encode(struct writer *w,
                                const struct quota_loop *loop,
                                const struct quota_outcome *outcome,
                                const struct findings *warnings);

#endif
