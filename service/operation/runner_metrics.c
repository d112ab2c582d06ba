#include "metrics/registry.h"
#include "operation/runner_internal.h"

static const double duration_bounds_s[] = {0.1, 1, 5, 15, 60, 300, 900, 3600, 14400};

METRIC_GAUGE(operations,
             "provisor_operations",
             "Operations of all replicas by status (queued, running), a few seconds old.",
             "status");
METRIC_GAUGE(waiting,
             "provisor_operation_waiting_seconds",
             "How long the oldest queued operation has waited.",
             "");
METRIC_GAUGE(
    held,
    "provisor_operations_held",
    "Operations that this process holds: those that have a worker (working) and those that "
    "wait while others have their turn (waiting).",
    "state");
METRIC_GAUGE(held_bytes,
             "provisor_operation_memory_bytes",
             "Memory that the operations of this process hold.",
             "");
METRIC_COUNTER(pauses,
               "provisor_operation_pauses_total",
               "How often an operation of this process gave way to another.",
               "");
METRIC_COUNTER(ended,
               "provisor_operations_ended_total",
               "Operations that this process ended, by kind and status.",
               "kind,status");
METRIC_COUNTER(returned,
               "provisor_operation_attempts_returned_total",
               "Attempts of this process after which the operation went back into the queue or was "
               "taken by another process.",
               "kind");
METRIC_HISTOGRAM(durations,
                 "provisor_operation_duration_seconds",
                 "How long the last attempt of an operation took.",
                 "kind",
                 duration_bounds_s);

void runner_count_attempt(const char *kind, const char *outcome, double seconds)
{
    enum operation_status status;
    if (operation_status_parse(outcome, &status) && operation_has_ended(status)) {
        metric_add(&ended, 1, METRIC_LABELS(kind, operation_status_word(status)));
        metric_observe(&durations, seconds, METRIC_LABELS(kind));
    } else {
        metric_add(&returned, 1, METRIC_LABELS(kind));
    }
}

void runner_set_backlog(const struct operation_counts *counts)
{
    metric_set(&operations, (double)counts->queued, METRIC_LABELS("queued"));
    metric_set(&operations, (double)counts->running, METRIC_LABELS("running"));
    metric_set(&waiting, counts->waited_s, NULL);
}

void runner_count_pause(void)
{
    metric_add(&pauses, 1, NULL);
}

void runner_set_held(size_t with_worker, size_t without, size_t bytes)
{
    metric_set(&held, (double)with_worker, METRIC_LABELS("working"));
    metric_set(&held, (double)without, METRIC_LABELS("waiting"));
    metric_set(&held_bytes, (double)bytes, NULL);
}
