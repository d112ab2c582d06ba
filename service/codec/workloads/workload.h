#ifndef CODEC_WORKLOADS_WORKLOAD_H
#define CODEC_WORKLOADS_WORKLOAD_H

#include "codec/json/shape.h"
#include "core/workload/workload_import.h"
#include "core/workload/workload_record.h"

/* The JSON body of POST /v1/workloads: {from: runs, applications, since?, until?, name?}. */
struct codec_workload_from_runs {
    unsigned from;
    struct strview *applications; /* different names, 1 to CODEC_WORKLOAD_APPLICATIONS_MAX */
    size_t n_applications;
    int64_t since_us; /* RUN_NO_INSTANT: open, as until_us */
    int64_t until_us;
    struct strview name; /* at == NULL: none */
};
enum { CODEC_WORKLOAD_APPLICATIONS_MAX = 100 };
extern const struct shape codec_workload_from_runs_shape;

/* Faults: unknown members, types, names, an application twice, until that is not after since. */
void codec_workload_from_runs_decode(const struct codec_node *node,
                                     struct codec_workload_from_runs *request);

/* What a workload comes to, and how it was made. */
struct codec_workload_summary {
    struct workload_summary summary;
    const struct workload_rates *rates;         /* of a trace of SWIM; else NULL */
    const struct workload_durations *durations; /* of a workload of runs; else NULL */
};
extern const struct shape codec_workload_distribution_shape;
extern const struct shape codec_workload_summary_shape;
void codec_workload_summary_encode(struct writer *w, const struct codec_workload_summary *summary);

extern const struct shape codec_workload_shape;
void codec_workload_encode(struct writer *w, const struct workload_record *record);

#endif
