#ifndef CODEC_HISTORY_LOG_METRICS_H
#define CODEC_HISTORY_LOG_METRICS_H

#include "codec/json/shape.h"
#include "core/history/run_metrics.h"

/* Rows for each of RUN_METRICS, RUN_TOTALS and RUN_FIGURES; T and LOG_FLAGS are the caller's. */
#define CODEC_METRIC_COUNT(name) {#name, SHAPE_COUNT(T, metrics.name), .flags = LOG_FLAGS},
#define CODEC_METRIC_SECONDS(name)                                                                 \
    {#name, SHAPE_NUMBER(T, metrics.name), .flags = LOG_FLAGS, .high = CODEC_SECONDS_SUM_MAX},
#define CODEC_FIGURE_COUNT(name) {#name, SHAPE_COUNT(T, name), .flags = LOG_FLAGS},
#define CODEC_FIGURE_SECONDS(name)                                                                 \
    {#name, SHAPE_NUMBER(T, name), .flags = LOG_FLAGS, .high = CODEC_SECONDS_SUM_MAX},
#define CODEC_FIGURE_CODE(name)                                                                    \
    {#name, SHAPE_INTEGER(T, name), .flags = LOG_FLAGS, .least = INT32_MIN, .most = INT32_MAX},

#endif
