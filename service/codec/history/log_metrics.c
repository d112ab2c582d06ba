#include "codec/history/log_metrics.h"

#include <math.h>
#include <stdlib.h>

static const int64_t EXIT_CODE_MAX = INT32_MAX;
static const double SECONDS_MAX = 1e19; /* what a log's milliseconds can add up to, times cores */
enum { RESOURCES_MAX = 1000 };

void codec_metrics_encode(struct writer *w, const struct run_metrics *metrics)
{
#define ENCODE_COUNT(name) writer_member_count(w, #name, metrics->name);
#define ENCODE_SECONDS(name) writer_member_number(w, #name, metrics->name);
    RUN_METRICS(ENCODE_COUNT, ENCODE_SECONDS)
#undef ENCODE_COUNT
#undef ENCODE_SECONDS
}

static int64_t count(const struct codec_node *node, const char *key)
{
    return codec_integer(node, key, CODEC_NULLABLE, 0, INT64_MAX);
}

static double seconds(const struct codec_node *node, const char *key)
{
    return codec_number(node, key, CODEC_NULLABLE, 0, SECONDS_MAX);
}

void codec_metrics_decode(const struct codec_node *node, struct run_metrics *metrics)
{
#define DECODE_COUNT(name) metrics->name = count(node, #name);
#define DECODE_SECONDS(name) metrics->name = seconds(node, #name);
    RUN_METRICS(DECODE_COUNT, DECODE_SECONDS)
#undef DECODE_COUNT
#undef DECODE_SECONDS
}

static void encode_exit_code(struct writer *w, int64_t exit_code)
{
    writer_key(w, "exit_code");
    if (exit_code == RUN_NO_EXIT_CODE)
        writer_null(w);
    else
        writer_integer(w, exit_code);
}

static int64_t decode_exit_code(const struct codec_node *node)
{
    if (!codec_present(node, "exit_code"))
        return RUN_NO_EXIT_CODE;
    return codec_integer(node, "exit_code", CODEC_NULLABLE, -EXIT_CODE_MAX - 1, EXIT_CODE_MAX);
}

static void encode_resources(struct writer *w, const struct run *run)
{
    writer_key(w, "resource_profiles");
    writer_begin_array(w);
    for (size_t i = 0; i < run->n_resources; i++) {
        const struct run_resources *resources = &run->resources[i];
        writer_begin_object(w);
        writer_member_integer(w, "id", resources->id);
        writer_member_count(w, "executors", resources->executors);
        writer_member_count(w, "cores_per_executor", resources->cores_per_executor);
        writer_member_count(w, "executor_memory_bytes", resources->executor_memory_bytes);
        writer_member_count(w, "cores_per_task", resources->cores_per_task);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void decode_profile(const struct codec_node *node, struct run_resources *resources)
{
    static const char *const known[] = {
        "id", "executors", "cores_per_executor", "executor_memory_bytes", "cores_per_task", NULL};
    *resources = (struct run_resources){.id = RUN_UNKNOWN};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    resources->id = codec_integer(node, "id", CODEC_REQUIRED, 0, INT64_MAX);
    resources->executors = count(node, "executors");
    resources->cores_per_executor = count(node, "cores_per_executor");
    resources->executor_memory_bytes = count(node, "executor_memory_bytes");
    resources->cores_per_task = count(node, "cores_per_task");
}

static int compare_profiles(const void *a, const void *b)
{
    const struct run_resources *x = a;
    const struct run_resources *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void decode_resources(const struct codec_node *node, struct run *run)
{
    struct codec_node list =
        codec_array(node, "resource_profiles", CODEC_NULLABLE, 0, RESOURCES_MAX);
    size_t n = json_array_size(list.json);
    struct run_resources *resources = arena_array(node->reader->arena, n, sizeof *resources);
    if (resources == NULL) {
        (void)pv_no_memory(node->reader->err);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_profile(&item, &resources[i]);
    }
    if (n > 0)
        qsort(resources, n, sizeof *resources, compare_profiles);
    run->resources = resources;
    run->n_resources = n;
}

void codec_figures_encode(struct writer *w, const struct run *run)
{
    encode_exit_code(w, run->exit_code);
    writer_member_count(w, "tasks_killed", run->tasks_killed);
    writer_member_count(w, "tasks_resubmitted", run->tasks_resubmitted);
    writer_member_count(w, "tasks_speculative", run->tasks_speculative);
    writer_member_count(w, "executors_removed", run->executors_removed);
    writer_member_count(w, "executors_excluded", run->executors_excluded);
    writer_member_count(w, "nodes_excluded", run->nodes_excluded);
    writer_member_number(w, "core_s", run->core_s);
    writer_member_number(w, "job_time_s", run->job_time_s);
    writer_member_number(w, "stage_time_s", run->stage_time_s);
    writer_member_count(w, "peak_driver_heap_bytes", run->peak_driver_heap_bytes);
    codec_metrics_encode(w, &run->metrics);
    encode_resources(w, run);
}

void codec_figures_decode(const struct codec_node *node, struct run *run)
{
    run->exit_code = decode_exit_code(node);
    run->tasks_killed = count(node, "tasks_killed");
    run->tasks_resubmitted = count(node, "tasks_resubmitted");
    run->tasks_speculative = count(node, "tasks_speculative");
    run->executors_removed = count(node, "executors_removed");
    run->executors_excluded = count(node, "executors_excluded");
    run->nodes_excluded = count(node, "nodes_excluded");
    run->core_s = seconds(node, "core_s");
    run->job_time_s = seconds(node, "job_time_s");
    run->stage_time_s = seconds(node, "stage_time_s");
    run->peak_driver_heap_bytes = count(node, "peak_driver_heap_bytes");
    codec_metrics_decode(node, &run->metrics);
    decode_resources(node, run);
}
