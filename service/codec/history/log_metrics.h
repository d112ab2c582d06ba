#ifndef CODEC_HISTORY_LOG_METRICS_H
#define CODEC_HISTORY_LOG_METRICS_H

#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "core/history/run_metrics.h"

/*
 * What logs tell of a run and its stages beyond counts and times. Written and read are the same
 * members; in reading each may be absent or null, which is unknown.
 */
#define CODEC_METRIC_NAME(name) #name,
/* For lists of known members: names, each with a comma behind it. */
#define CODEC_METRIC_NAMES RUN_METRICS(CODEC_METRIC_NAME, CODEC_METRIC_NAME)
#define CODEC_FIGURE_NAMES                                                                         \
    "exit_code", "tasks_killed", "tasks_resubmitted", "tasks_speculative", "executors_removed",    \
        "executors_excluded", "nodes_excluded", "core_s", "job_time_s", "stage_time_s",            \
        "peak_driver_heap_bytes", CODEC_METRIC_NAMES "resource_profiles",

/* The members of a run_metrics, within the object that is open. */
void codec_metrics_encode(struct writer *w, const struct run_metrics *metrics);
void codec_metrics_decode(const struct codec_node *node, struct run_metrics *metrics);

/* The figures of a run: from exit_code to resources (core/history/run.h). */
void codec_figures_encode(struct writer *w, const struct run *run);
void codec_figures_decode(const struct codec_node *node, struct run *run);

#endif
