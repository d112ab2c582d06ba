#include "run_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/history/run_metrics.h"

static void put_text(FILE *out, const char *name, struct strview text)
{
    if (text.at == NULL)
        fprintf(out, "%s null\n", name);
    else
        fprintf(out, "%s [%.*s]\n", name, (int)text.n, text.at);
}

static void put_labels(FILE *out, const char *name, const struct run_label labels[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s %.*s", name, (int)labels[i].key.n, labels[i].key.at);
        put_text(out, "", labels[i].value);
    }
}

static void put_stage(FILE *out, const struct run_stage *stage)
{
    fprintf(out,
            "stage %" PRId64 " skipped %d tasks %" PRId64 " mean %a time %a duration %a started %a "
            "records %a rate %a parents",
            stage->id, stage->skipped, stage->n_tasks, stage->task_duration_s, stage->task_time_s,
            stage->duration_s, stage->started_s, stage->input_records, stage->nominal_rate_per_s);
    for (size_t i = 0; i < stage->n_parents; i++)
        fprintf(out, " %" PRId64, stage->parents[i]);
    put_text(out, " name", stage->name);
    if (stage->task_durations_s == NULL)
        return;
    for (int64_t i = 0; i < stage->n_tasks; i++) {
        fprintf(out, " %a", stage->task_durations_s[i]);
        if (stage->task_nodes != NULL)
            fprintf(out, " on %" PRId64, stage->task_nodes[i]);
        if (stage->task_read_bytes != NULL)
            fprintf(out, " of %" PRId64, stage->task_read_bytes[i]);
    }
    fprintf(out, "\n");
}

static void put_metrics(FILE *out, const struct run_metrics *metrics)
{
#define PUT_COUNT(name) fprintf(out, " " #name " %" PRId64, metrics->name);
#define PUT_SECONDS(name) fprintf(out, " " #name " %a", metrics->name);
    RUN_METRICS(PUT_COUNT, PUT_SECONDS)
#undef PUT_COUNT
#undef PUT_SECONDS
    fprintf(out, "\n");
}

#define PUT_RUN_COUNT(name) fprintf(out, #name " %" PRId64 "\n", run->name);
#define PUT_RUN_SECONDS(name) fprintf(out, #name " %a\n", run->name);

/* What only a log tells. */
static void put_figures(FILE *out, const struct run *run)
{
    RUN_FIGURES(PUT_RUN_COUNT, PUT_RUN_SECONDS, PUT_RUN_COUNT)
    fprintf(out, "metrics run");
    put_metrics(out, &run->metrics);
    for (size_t i = 0; i < run->n_resources; i++) {
        put_text(out, "resource", run->resources[i].resource);
        fprintf(out,
                "resources %" PRId64 " executors %" PRId64 " cores %" PRId64 " memory %" PRId64
                " cpus %" PRId64 " amounts %" PRId64 " %a\n",
                run->resources[i].id, run->resources[i].executors,
                run->resources[i].cores_per_executor, run->resources[i].executor_memory_bytes,
                run->resources[i].cores_per_task, run->resources[i].resource_per_executor,
                run->resources[i].resource_per_task);
    }
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        fprintf(out,
                "metrics %" PRId64 " attempts %" PRId64 " failed %" PRId64 " profile %" PRId64
                " barrier %d cached by %" PRId64,
                stage->id, stage->attempts, stage->tasks_failed, stage->resource_profile_id,
                stage->barrier, stage->cache_source_id);
        put_metrics(out, &stage->metrics);
    }
}

static void put_log(FILE *out, const struct run *run)
{
    put_text(out, "application", run->spark_application_id);
    put_text(out, "attempt", run->spark_attempt_id);
    put_text(out, "version", run->spark_version);
    fprintf(out, "ended %d\n", run->ended);
    RUN_TOTALS(PUT_RUN_COUNT, PUT_RUN_SECONDS)
    put_figures(out, run);
    put_labels(out, "property", run->spark_properties, run->n_spark_properties);
    put_labels(out, "submitted", run->submitted_properties, run->n_submitted_properties);
    for (size_t i = 0; i < run->warnings.n; i++) {
        const struct finding *warning = &run->warnings.items[i];
        fprintf(out, "warning %s %.17g %s\n", warning->code, finding_value(warning, "count"),
                warning->message);
    }
}

char *run_text(const struct run *run)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (out == NULL)
        return NULL;
    fprintf(
        out,
        "id %s advice %s size %a executors %" PRId64 " cores %" PRId64
        " duration %a initialization %a started %" PRId64 " recorded %" PRId64 " succeeded %d\n",
        run->id, run->advice_id, run->problem_size, run->executors, run->cores_per_executor,
        run->duration_s, run->initialization_s, run->started_us, run->recorded_us, run->succeeded);
    put_labels(out, "label", run->labels, run->n_labels);
    for (size_t i = 0; i < run->n_nodes; i++) {
        fprintf(out, "node %zu cores %" PRId64, i, run->nodes[i].cores);
        put_text(out, " name", run->nodes[i].name);
    }
    for (size_t i = 0; i < run->n_stages; i++)
        put_stage(out, &run->stages[i]);
    if (run->from_log)
        put_log(out, run);
    return fclose(out) == 0 ? text : NULL;
}
