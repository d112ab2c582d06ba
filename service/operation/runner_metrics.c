#include <inttypes.h>

#include "operation/operation_internal.h"

const double runner_buckets_s[SECONDS_BUCKETS] = {0.1, 1, 5, 15, 60, 300, 900, 3600, 14400};

static const char *
add_ended(const struct operation_runner *runner, struct arena *arena, const char *text)
{
    for (size_t k = 0; k < runner->n_kinds; k++)
        for (size_t s = 0; text != NULL && s < OUTCOME_STATUSES; s++)
            text = arena_printf(
                arena, "%sprovisor_operations_ended_total{kind=\"%s\",status=\"%s\"} %" PRIu64 "\n",
                text, runner->kind_names[k].at,
                operation_status_word((enum operation_status)(OPERATION_SUCCEEDED + s)),
                runner->counts[k].ended[s]);
    return text;
}

static const char *
add_returned(const struct operation_runner *runner, struct arena *arena, const char *text)
{
    for (size_t k = 0; text != NULL && k < runner->n_kinds; k++)
        text = arena_printf(
            arena, "%sprovisor_operation_attempts_returned_total{kind=\"%s\"} %" PRIu64 "\n", text,
            runner->kind_names[k].at, runner->counts[k].returned);
    return text;
}

static const char *
add_seconds(const struct operation_runner *runner, struct arena *arena, const char *text)
{
    for (size_t k = 0; text != NULL && k < runner->n_kinds; k++) {
        const struct runner_counts *counts = &runner->counts[k];
        const char *kind = runner->kind_names[k].at;
        uint64_t all = counts->ended[0] + counts->ended[1] + counts->ended[2];
        for (size_t i = 0; text != NULL && i < SECONDS_BUCKETS; i++)
            text = arena_printf(
                arena, "%sprovisor_operation_seconds_bucket{kind=\"%s\",le=\"%g\"} %" PRIu64 "\n",
                text, kind, runner_buckets_s[i], counts->bucket[i]);
        if (text != NULL)
            text = arena_printf(
                arena,
                "%sprovisor_operation_seconds_bucket{kind=\"%s\",le=\"+Inf\"} %" PRIu64 "\n"
                "provisor_operation_seconds_sum{kind=\"%s\"} %.6f\n"
                "provisor_operation_seconds_count{kind=\"%s\"} %" PRIu64 "\n",
                text, kind, all, kind, counts->seconds, kind, all);
    }
    return text;
}

static const char *write_locked(const struct operation_runner *runner, struct arena *arena)
{
    const char *text = arena_printf(
        arena,
        "# HELP provisor_operations Operations of all replicas by status, a few seconds old.\n"
        "# TYPE provisor_operations gauge\n"
        "provisor_operations{status=\"queued\"} %" PRId64 "\n"
        "provisor_operations{status=\"running\"} %" PRId64 "\n"
        "# HELP provisor_operation_waiting_seconds How long the oldest queued one has waited.\n"
        "# TYPE provisor_operation_waiting_seconds gauge\n"
        "provisor_operation_waiting_seconds %.3f\n"
        "# HELP provisor_operations_ended_total Operations that this process ended, by status.\n"
        "# TYPE provisor_operations_ended_total counter\n",
        runner->tally.queued, runner->tally.running, runner->tally.waited_s);
    text = add_ended(runner, arena, text);
    if (text != NULL)
        text = arena_printf(arena,
                            "%s# HELP provisor_operation_attempts_returned_total Attempts of this "
                            "process after which the operation went back into the queue or was "
                            "taken by another.\n"
                            "# TYPE provisor_operation_attempts_returned_total counter\n",
                            text);
    text = add_returned(runner, arena, text);
    if (text != NULL)
        text =
            arena_printf(arena,
                         "%s# HELP provisor_operation_seconds How long their last attempt took.\n"
                         "# TYPE provisor_operation_seconds histogram\n",
                         text);
    return add_seconds(runner, arena, text);
}

const char *operation_runner_metrics(struct operation_runner *runner, struct arena *arena)
{
    if (runner == NULL)
        return "";
    (void)pthread_mutex_lock(&runner->lock);
    const char *text = write_locked(runner, arena);
    (void)pthread_mutex_unlock(&runner->lock);
    return text;
}
