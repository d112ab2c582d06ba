#include "codec/advice/advice_autoscaling.h"

#include <math.h>

static void write_policy(struct writer *w, const struct allocation_policy *policy)
{
    writer_member_object(w, "settings");
    writer_member_integer(w, "min_executors", policy->min_executors);
    writer_member_integer(w, "initial_executors", policy->initial_executors);
    writer_member_integer(w, "max_executors", policy->max_executors);
    writer_member_number(w, "executor_allocation_ratio", policy->allocation_ratio);
    writer_member_number(w, "executor_idle_timeout_s", policy->idle_timeout_s);
    writer_member_number(w, "scheduler_backlog_timeout_s", policy->backlog_timeout_s);
    writer_member_number(w, "sustained_scheduler_backlog_timeout_s",
                         policy->sustained_backlog_timeout_s);
    writer_member_boolean(w, "shuffle_tracking", policy->shuffle_tracking);
    writer_member_number(w, "shuffle_tracking_timeout_s",
                         policy->shuffle_tracking ? policy->shuffle_timeout_s : (double)NAN);
    writer_end_object(w);
}

static void write_steps(struct writer *w, const struct autoscaling_case *at)
{
    writer_member_array(w, "timeline");
    for (size_t i = 0; i < at->n_steps; i++) {
        writer_begin_object(w);
        writer_member_number(w, "at_s", at->steps[i].at_s);
        writer_member_integer(w, "executors", at->steps[i].executors);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void write_case(struct writer *w, const struct autoscaling_case *at)
{
    writer_begin_object(w);
    writer_member_string(w, "allocation", autoscaling_allocation_name(at->allocation));
    if (at->is_dynamic)
        write_policy(w, &at->policy);
    else
        writer_member_null(w, "settings");
    writer_member_number(w, "predicted_duration_s", at->predicted_duration_s);
    writer_member_number(w, "deadline_probability", at->deadline_probability);
    writer_member_number(w, "executor_s", at->executor_s);
    writer_member_number(w, "cost", at->cost);
    writer_member_number(w, "mean_executors", at->mean_executors);
    writer_member_integer(w, "peak_executors", at->peak_executors);
    writer_member_integer(w, "executors_started", (int64_t)at->started);
    writer_member_integer(w, "executors_released", (int64_t)at->released);
    write_steps(w, at);
    writer_end_object(w);
}

void codec_advice_autoscaling_encode(struct writer *w, const struct autoscaling *autoscaling)
{
    if (!writer_member_object_or_null(w, "autoscaling", autoscaling != NULL))
        return;
    writer_member_string(w, "run_id", autoscaling->run_id[0] == '\0' ? NULL : autoscaling->run_id);
    writer_member_number(w, "executor_startup_s", autoscaling->startup_s);
    writer_member_boolean(w, "executor_startup_measured", autoscaling->startup_measured);
    writer_member_array(w, "cases");
    for (size_t i = 0; i < autoscaling->n_cases; i++)
        write_case(w, &autoscaling->cases[i]);
    writer_end_array(w);
    writer_end_object(w);
}
