#include "run_text.h"

#include <inttypes.h>
#include <stdio.h>

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
    for (int64_t i = 0; i < stage->n_tasks; i++)
        fprintf(out, " %a", stage->task_durations_s[i]);
    fprintf(out, "\n");
}

static void put_log(FILE *out, const struct run *run)
{
    put_text(out, "application", run->spark_application_id);
    put_text(out, "attempt", run->spark_attempt_id);
    put_text(out, "version", run->spark_version);
    fprintf(out,
            "ended %d jobs %" PRId64 " stages %" PRId64 "/%" PRId64 " tasks %" PRId64 "/%" PRId64
            " time %a/%a added %" PRId64 "\n",
            run->ended, run->jobs, run->stages_completed, run->stages_failed, run->tasks_succeeded,
            run->tasks_failed, run->task_time_s, run->failed_task_time_s, run->executors_added);
    put_labels(out, "property", run->spark_properties, run->n_spark_properties);
    for (size_t i = 0; i < run->n_warnings; i++) {
        const struct run_warning *warning = &run->warnings[i];
        fprintf(out, "warning %.*s %" PRId64 " %.*s\n", (int)warning->code.n, warning->code.at,
                warning->count, (int)warning->detail.n, warning->detail.at);
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
        "id %s advice %s size %" PRId64 " executors %" PRId64 " cores %" PRId64
        " duration %a initialization %a started %" PRId64 " recorded %" PRId64 " succeeded %d\n",
        run->id, run->advice_id, run->problem_size, run->executors, run->cores_per_executor,
        run->duration_s, run->initialization_s, run->started_us, run->recorded_us, run->succeeded);
    put_labels(out, "label", run->labels, run->n_labels);
    for (size_t i = 0; i < run->n_stages; i++)
        put_stage(out, &run->stages[i]);
    if (run->from_log)
        put_log(out, run);
    return fclose(out) == 0 ? text : NULL;
}
