#include <math.h>
#include <stdlib.h>

#include "codec/history/log_metrics.h"
#include "codec/history/run.h"

/* Bounds that keep sums and products far from overflow; no real run comes near them. */
static const int64_t COUNT_MAX = 1000000000;
static const int64_t ID_MAX = 1000000000000;
static const double SECONDS_MAX = 1e12;
enum {
    ID_TEXT_MAX = 1024,
    PROPERTIES_MAX = 10000,
    PROPERTY_BYTES_MAX = 65536,
    WARNINGS_MAX = 1000,
    WARNING_BYTES_MAX = 4096
};

/* --- what only an event log tells --- */

struct log_count {
    const char *name;
    size_t offset;
};

static const struct log_count log_counts[] = {
    {"jobs", offsetof(struct run, jobs)},
    {"stages_completed", offsetof(struct run, stages_completed)},
    {"stages_failed", offsetof(struct run, stages_failed)},
    {"tasks_succeeded", offsetof(struct run, tasks_succeeded)},
    {"tasks_failed", offsetof(struct run, tasks_failed)},
    {"executors_added", offsetof(struct run, executors_added)},
};
enum { LOG_COUNTS = sizeof log_counts / sizeof *log_counts };

static void decode_counts(const struct codec_node *node, struct run *run)
{
    for (size_t i = 0; i < LOG_COUNTS; i++) {
        int64_t *member = (int64_t *)(void *)((char *)run + log_counts[i].offset);
        *member = codec_integer(node, log_counts[i].name, CODEC_NULLABLE, 0, ID_MAX);
    }
}

static int compare_keys(const void *a, const void *b)
{
    const struct run_label *x = a;
    const struct run_label *y = b;
    return strcmp(x->key.at, y->key.at);
}

static void decode_properties(const struct codec_node *node, struct run *run)
{
    struct codec_node map = codec_object(node, "spark_properties", CODEC_NULLABLE);
    if (map.json == NULL)
        return;
    size_t n = json_object_size(map.json);
    struct run_label *all = arena_calloc(map.reader->arena, n, sizeof *all);
    if (all == NULL) {
        (void)pv_no_memory(map.reader->err);
        return;
    }
    if (n > PROPERTIES_MAX) {
        codec_fault(&map, "too_many_items", "may hold at most %d properties", PROPERTIES_MAX);
        return;
    }
    size_t i = 0;
    const char *name;
    json_t *value;
    json_object_foreach(map.json, name, value)
    {
        all[i].key = arena_copy(map.reader->arena, strview_of(name));
        all[i].value = codec_text(&map, name, CODEC_REQUIRED, 0, PROPERTY_BYTES_MAX);
        if (all[i].key.at == NULL || all[i].value.at == NULL)
            return;
        i++;
    }
    qsort(all, n, sizeof *all, compare_keys);
    run->spark_properties = all;
    run->n_spark_properties = n;
}

static void decode_warning(const struct codec_node *node, struct findings *warnings)
{
    static const char *const known[] = {"code", "message", "evidence", NULL};
    static const char *const known_evidence[] = {"count", NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    struct strview code = codec_text(node, "code", CODEC_REQUIRED, 1, WARNING_BYTES_MAX);
    struct strview message = codec_text(node, "message", CODEC_REQUIRED, 0, WARNING_BYTES_MAX);
    struct codec_node evidence = codec_object(node, "evidence", CODEC_OPTIONAL);
    if (code.at == NULL || message.at == NULL)
        return;
    struct finding *warning = finding_add(warnings, code.at, "%s", message.at);
    if (evidence.json == NULL)
        return;
    codec_refuse_unknown(&evidence, known_evidence);
    int64_t count = codec_integer(&evidence, "count", CODEC_REQUIRED, 0, ID_MAX);
    finding_number(warning, "count", (double)count);
}

static void decode_warnings(const struct codec_node *node, struct run *run)
{
    struct codec_node list = codec_array(node, "warnings", CODEC_NULLABLE, 0, WARNINGS_MAX);
    size_t n = json_array_size(list.json);
    run->warnings.arena = node->reader->arena;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_warning(&item, &run->warnings);
    }
    if (run->warnings.failed)
        (void)pv_no_memory(node->reader->err);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void decode_digest(const struct codec_node *node, struct run *run)
{
    struct strview text = codec_text(node, "log_digest", CODEC_NULLABLE, 0, SIZE_MAX);
    if (text.at == NULL)
        return;
    bool good = text.n == (size_t)2 * RUN_DIGEST_BYTES;
    for (size_t i = 0; good && i < text.n; i++)
        good = hex_value(text.at[i]) >= 0;
    char *bytes = arena_alloc(node->reader->arena, RUN_DIGEST_BYTES);
    if (!good || bytes == NULL) {
        codec_fault_member(node, "log_digest", "invalid_digest",
                           "must be 64 lower-case hexadecimal digits");
        return;
    }
    for (size_t i = 0; i < RUN_DIGEST_BYTES; i++)
        bytes[i] = (char)(hex_value(text.at[2 * i]) << 4 | hex_value(text.at[2 * i + 1]));
    run->log_digest = (struct strview){bytes, RUN_DIGEST_BYTES};
}

static void decode_log(const struct codec_node *node, struct run *run)
{
    decode_digest(node, run);
    run->ended = codec_boolean(node, "log_complete", CODEC_NULLABLE, true);
    run->spark_application_id =
        codec_text(node, "spark_application_id", CODEC_NULLABLE, 1, ID_TEXT_MAX);
    run->spark_attempt_id = codec_text(node, "spark_attempt_id", CODEC_NULLABLE, 0, ID_TEXT_MAX);
    run->spark_version = codec_text(node, "spark_version", CODEC_NULLABLE, 0, ID_TEXT_MAX);
    decode_counts(node, run);
    run->task_time_s = codec_number(node, "task_time_s", CODEC_NULLABLE, 0, SECONDS_MAX);
    run->failed_task_time_s =
        codec_number(node, "failed_task_time_s", CODEC_NULLABLE, 0, SECONDS_MAX);
    codec_figures_decode(node, run);
    decode_properties(node, run);
    decode_warnings(node, run);
    if (run->log_digest.at != NULL && run->spark_application_id.at == NULL)
        codec_fault_member(node, "spark_application_id", "required",
                           "is required beside log_digest");
}

/* --- the record --- */

/* Members of every record, then those that make it one of a log. */
static const char *const members[] = {
    "id", "application", "recorded_at", "problem_size", "executors", "cores_per_executor",
    "duration_s", "initialization_s", "started_at", "succeeded", "advice_id", "labels", "stages",
    "task_times_summarized",
    /* of a log */
    "log_digest", "log_complete", "spark_application_id", "spark_attempt_id", "spark_version",
    "jobs", "stages_completed", "stages_failed", "tasks_succeeded", "tasks_failed", "task_time_s",
    "failed_task_time_s", "executors_added", "spark_properties", "warnings",
    CODEC_FIGURE_NAMES NULL};
enum { FIRST_OF_LOG = 14 };

static bool is_of_log(const struct codec_node *node)
{
    for (size_t i = FIRST_OF_LOG; members[i] != NULL; i++)
        if (json_object_get(node->json, members[i]) != NULL)
            return true;
    return false;
}

static void decode_id(const struct codec_node *node, struct run *run)
{
    codec_uuid(node, "id", CODEC_NULLABLE, run->id);
    if (run->id[0] == '\0' || run->id[14] == '7')
        return;
    run->id[0] = '\0';
    codec_fault_member(node, "id", "invalid_id", "must be a UUID of version 7");
}

static void decode_amounts(const struct codec_node *node, struct run *run)
{
    run->problem_size = codec_integer(node, "problem_size", CODEC_NULLABLE, 0, ID_MAX);
    run->executors = codec_integer(node, "executors", CODEC_NULLABLE, 0, COUNT_MAX);
    run->cores_per_executor =
        codec_integer(node, "cores_per_executor", CODEC_NULLABLE, 0, COUNT_MAX);
    run->duration_s =
        codec_number(node, "duration_s", CODEC_REQUIRED | CODEC_NULLABLE, 0, SECONDS_MAX);
    run->initialization_s = codec_number(node, "initialization_s", CODEC_NULLABLE, 0, SECONDS_MAX);
}

void codec_run_decode_record(const struct codec_node *node,
                             const struct codec_run_limits *limits,
                             struct run *run)
{
    struct codec_run_limits recorded = *limits;
    recorded.as_recorded = true;
    codec_refuse_unknown(node, members);
    *run = (struct run){.from_log = is_of_log(node)};
    run_clear_log(run);
    decode_id(node, run);
    (void)codec_name(node, "application", CODEC_NULLABLE);
    run->recorded_us = codec_instant(node, "recorded_at", CODEC_NULLABLE);
    decode_amounts(node, run);
    run->started_us = codec_instant(node, "started_at", CODEC_NULLABLE);
    run->succeeded = codec_boolean(node, "succeeded", CODEC_NULLABLE, true);
    codec_uuid(node, "advice_id", CODEC_NULLABLE, run->advice_id);
    codec_labels(node, "labels", CODEC_NULLABLE, limits->labels, &run->labels, &run->n_labels);
    decode_log(node, run);
    run->tasks_thinned = codec_boolean(node, "task_times_summarized", CODEC_NULLABLE, false);
    struct codec_node stages = codec_array(node, "stages", CODEC_NULLABLE, 0, limits->stages);
    if (stages.json != NULL)
        codec_stages_decode(&stages, &recorded, run);
}
