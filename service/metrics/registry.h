#ifndef METRICS_REGISTRY_H
#define METRICS_REGISTRY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/strview.h"

/*
 * The registry of metrics: what the process counts, as Prometheus' text (exposition format 0.0.4)
 * and as the table of docs/metrics.md. A metric is defined where it is counted, by one of the
 * macros below at file scope, and is known to the registry from the start of the process:
 *
 *     METRIC_COUNTER(made, "provisor_advice_total", "Advice made, by outcome.", "outcome");
 *     metric_add(&made, 1, METRIC_LABELS("feasible"));
 *
 * Label values come from closed sets. A metric without labels is shown from the start, a
 * combination of labels from when it is first counted. Counting is safe from any thread and waits
 * for none.
 */
enum metric_type { METRIC_TYPE_COUNTER, METRIC_TYPE_GAUGE, METRIC_TYPE_HISTOGRAM };

enum { METRIC_LABELS_MAX = 4, METRIC_SERIES_MAX = 4096 };

struct metric_series; /* one combination of label values */

struct metric {
    const char *name;
    const char *help;
    const char *labels; /* names, separated by commas; "": none */
    enum metric_type type;
    const double *bounds; /* upper, rising, without +Inf; of a histogram */
    size_t n_bounds;
    struct metric *next;
    _Atomic(struct metric_series *) series;
    size_t n_series;
};

#define METRIC_DEFINE(variable, ...)                                                               \
    static struct metric variable = {__VA_ARGS__};                                                 \
    __attribute__((constructor)) static void define_##variable(void)                               \
    {                                                                                              \
        metric_define(&variable);                                                                  \
    }                                                                                              \
    struct metric /* so that a semicolon follows */

#define METRIC_COUNTER(variable, name_, help_, labels_)                                            \
    METRIC_DEFINE(variable, .name = (name_), .help = (help_), .labels = (labels_),                 \
                  .type = METRIC_TYPE_COUNTER)
#define METRIC_GAUGE(variable, name_, help_, labels_)                                              \
    METRIC_DEFINE(variable, .name = (name_), .help = (help_), .labels = (labels_),                 \
                  .type = METRIC_TYPE_GAUGE)
/* bounds_: an array of static doubles. */
#define METRIC_HISTOGRAM(variable, name_, help_, labels_, bounds_)                                 \
    METRIC_DEFINE(variable, .name = (name_), .help = (help_), .labels = (labels_),                 \
                  .type = METRIC_TYPE_HISTOGRAM, .bounds = (bounds_),                              \
                  .n_bounds = sizeof(bounds_) / sizeof *(bounds_))

/* Values in the order of the metric's label names; a metric without labels takes NULL. */
#define METRIC_LABELS(...) ((const char *const[METRIC_LABELS_MAX]){__VA_ARGS__})

/* For the macros. */
void metric_define(struct metric *metric);

/* Counters grow; gauges are set, or grow and shrink. A counter may be set from one kept elsewhere.
 */
void metric_add(struct metric *metric, double n, const char *const labels[]);
void metric_set(struct metric *metric, double value, const char *const labels[]);
/* Into a histogram. */
void metric_observe(struct metric *metric, double value, const char *const labels[]);

/*
 * The same by a handle, for what is counted with every request; it lives as long as the process.
 * NULL when memory is exhausted or there are METRIC_SERIES_MAX of them: then nothing is counted.
 */
struct metric_series *metric_series(struct metric *metric, const char *const labels[]);
void metric_series_add(struct metric_series *series, double n);
void metric_series_observe(struct metric_series *series, double value);

/* All metrics, by name. In the arena, every line ended by LF; at is NULL when memory is exhausted.
 */
struct strview metrics_write(struct arena *arena);

/* The table of docs/metrics.md. */
void metrics_print_markdown(FILE *out);

#endif
