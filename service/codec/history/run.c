#include "codec/history/run.h"

#include <math.h>

#include "codec/history/log_metrics.h"
#include "codec/json/finding.h"
#include "core/history/run_metrics.h"

/* Bounds that keep sums and products far from overflow; no real run comes near them. */
static const int64_t COUNT_MAX = 1000000000;
static const double SECONDS_MAX = 1e12;

static void decode_amounts(const struct codec_node *node, struct run *run)
{
    run->problem_size =
        codec_integer(node, "problem_size", CODEC_REQUIRED, 1, CODEC_PROBLEM_SIZE_MAX);
    run->executors = codec_integer(node, "executors", CODEC_REQUIRED, 1, COUNT_MAX);
    run->cores_per_executor =
        codec_integer(node, "cores_per_executor", CODEC_REQUIRED, 1, COUNT_MAX);
    run->duration_s =
        codec_number(node, "duration_s", CODEC_REQUIRED | CODEC_ABOVE, 0, SECONDS_MAX);
    run->initialization_s = codec_number(node, "initialization_s", CODEC_NULLABLE, 0, SECONDS_MAX);
    if (run->initialization_s > run->duration_s)
        codec_fault_member(node, "initialization_s", "out_of_range",
                           "must not exceed duration_s, which is %.15g", run->duration_s);
}

void codec_run_decode(const struct codec_node *node,
                      const struct codec_run_limits *limits,
                      struct run *run)
{
    static const char *const known[] = {"problem_size",
                                        "executors",
                                        "cores_per_executor",
                                        "duration_s",
                                        "initialization_s",
                                        "started_at",
                                        "succeeded",
                                        "advice_id",
                                        "labels",
                                        "stages",
                                        NULL};
    *run = (struct run){.recorded_us = RUN_NO_INSTANT, .ended = true};
    run_clear_log(run);
    codec_refuse_unknown(node, known);
    decode_amounts(node, run);
    run->started_us = codec_instant(node, "started_at", CODEC_NULLABLE);
    run->succeeded = codec_boolean(node, "succeeded", CODEC_NULLABLE, true);
    codec_uuid(node, "advice_id", CODEC_NULLABLE, run->advice_id);
    codec_labels(node, "labels", CODEC_NULLABLE, limits->labels, &run->labels, &run->n_labels);
    struct codec_node stages = codec_array(node, "stages", CODEC_NULLABLE, 0, limits->stages);
    if (stages.json != NULL)
        codec_stages_decode(&stages, limits, run);
}

/* --- writing --- */

static void encode_map(struct writer *w, const char *key, const struct run_label pairs[], size_t n)
{
    writer_key(w, key);
    writer_begin_object(w);
    for (size_t i = 0; i < n; i++) {
        writer_key_view(w, pairs[i].key);
        writer_text(w, pairs[i].value);
    }
    writer_end_object(w);
}

static double mean_task_s(const struct run_stage *stage)
{
    if (!isnan(stage->task_duration_s))
        return stage->task_duration_s;
    return stage->n_tasks > 0 ? stage->task_time_s / (double)stage->n_tasks : (double)NAN;
}

static void encode_sketch(struct writer *w, const struct run_stage *stage)
{
    writer_key(w, "task_time_summary");
    writer_begin_array(w);
    for (size_t g = 0; g < stage->n_task_sketch; g++) {
        writer_begin_object(w);
        writer_member_integer(w, "tasks", stage->task_sketch[g].tasks);
        writer_member_number(w, "mean_s", stage->task_sketch[g].mean_s);
        writer_end_object(w);
    }
    writer_end_array(w);
}

/* The number and mean always, each duration only where asked for and known one by one. */
static void encode_tasks(struct writer *w, const struct run_stage *stage, bool with_tasks)
{
    writer_member_count(w, "tasks", stage->n_tasks);
    writer_member_number(w, "task_duration_s", mean_task_s(stage));
    if (with_tasks && stage->n_task_sketch > 0) {
        encode_sketch(w, stage);
        return;
    }
    if (!with_tasks || stage->task_durations_s == NULL)
        return;
    writer_key(w, "task_durations_s");
    writer_begin_array(w);
    for (int64_t i = 0; i < stage->n_tasks; i++)
        writer_number(w, stage->task_durations_s[i]);
    writer_end_array(w);
}

static void encode_stage(struct writer *w, const struct run_stage *stage, bool with_tasks)
{
    writer_begin_object(w);
    writer_member_integer(w, "id", stage->id);
    writer_member_text(w, "name", stage->name);
    writer_key(w, "parents");
    writer_begin_array(w);
    for (size_t i = 0; i < stage->n_parents; i++)
        writer_integer(w, stage->parents[i]);
    writer_end_array(w);
    encode_tasks(w, stage, with_tasks);
    writer_member_number(w, "task_time_s", stage->task_time_s);
    writer_member_number(w, "duration_s", stage->duration_s);
    writer_member_number(w, "started_s", stage->started_s);
    writer_member_number(w, "input_records", stage->input_records);
    writer_member_number(w, "nominal_rate_per_s", stage->nominal_rate_per_s);
    writer_member_boolean(w, "skipped", stage->skipped);
    writer_member_count(w, "attempts", stage->attempts);
    writer_member_count(w, "tasks_failed", stage->tasks_failed);
    writer_member_count(w, "resource_profile_id", stage->resource_profile_id);
    codec_metrics_encode(w, &stage->metrics);
    writer_end_object(w);
}

static void encode_stages(struct writer *w, const struct run *run, bool with_tasks)
{
    writer_key(w, "stages");
    if (!run->has_stages) {
        writer_null(w);
        return;
    }
    writer_begin_array(w);
    for (size_t i = 0; i < run->n_stages; i++)
        encode_stage(w, &run->stages[i], with_tasks);
    writer_end_array(w);
}

/* What identifies the log, so that it is known again where the run is imported. */
static void encode_log_identity(struct writer *w, const struct run *run)
{
    static const char digits[] = "0123456789abcdef";
    char hex[2 * RUN_DIGEST_BYTES + 1] = "";
    for (size_t i = 0; i < run->log_digest.n && i < RUN_DIGEST_BYTES; i++) {
        unsigned byte = (unsigned char)run->log_digest.at[i];
        hex[2 * i] = digits[byte >> 4];
        hex[2 * i + 1] = digits[byte & 15];
    }
    writer_member_string(w, "log_digest", hex[0] == '\0' ? NULL : hex);
    writer_member_boolean(w, "log_complete", run->ended);
}

static void encode_log_figures(struct writer *w, const struct run *run)
{
    writer_member_text(w, "spark_application_id", run->spark_application_id);
    writer_member_text(w, "spark_attempt_id", run->spark_attempt_id);
    writer_member_text(w, "spark_version", run->spark_version);
    writer_member_count(w, "jobs", run->jobs);
    writer_member_count(w, "stages_completed", run->stages_completed);
    writer_member_count(w, "stages_failed", run->stages_failed);
    writer_member_count(w, "tasks_succeeded", run->tasks_succeeded);
    writer_member_count(w, "tasks_failed", run->tasks_failed);
    writer_member_number(w, "task_time_s", run->task_time_s);
    writer_member_number(w, "failed_task_time_s", run->failed_task_time_s);
    writer_member_count(w, "executors_added", run->executors_added);
    codec_figures_encode(w, run);
    encode_map(w, "spark_properties", run->spark_properties, run->n_spark_properties);
    codec_findings_encode(w, "warnings", &run->warnings);
}

void codec_run_encode(struct writer *w,
                      const struct run *run,
                      struct strview application,
                      unsigned include)
{
    writer_begin_object(w);
    writer_member_string(w, "id", run->id);
    if ((include & CODEC_RUN_RECORD) == 0)
        writer_member_text(w, "application", application);
    writer_member_instant(w, "recorded_at", run->recorded_us);
    writer_member_count(w, "problem_size", run->problem_size);
    writer_member_count(w, "executors", run->executors);
    writer_member_count(w, "cores_per_executor", run->cores_per_executor);
    writer_member_number(w, "duration_s", run->duration_s);
    writer_member_number(w, "initialization_s", run->initialization_s);
    writer_member_instant(w, "started_at", run->started_us);
    writer_member_boolean(w, "succeeded", run->succeeded);
    writer_member_string(w, "advice_id", run->advice_id[0] == '\0' ? NULL : run->advice_id);
    encode_map(w, "labels", run->labels, run->n_labels);
    if (run->tasks_thinned)
        writer_member_boolean(w, "task_times_summarized", true);
    if (run->from_log && (include & CODEC_RUN_RECORD) != 0)
        encode_log_identity(w, run);
    if (run->from_log)
        encode_log_figures(w, run);
    if ((include & (CODEC_RUN_STAGES | CODEC_RUN_TASKS)) != 0)
        encode_stages(w, run, (include & CODEC_RUN_TASKS) != 0);
    writer_end_object(w);
}
