/* From what the log said to a run: the application, its warnings and its properties. */
#include "core/joblog/spark/profile.h"

#include <math.h>
#include <string.h>

enum { US_PER_MS = 1000 };

double profile_seconds(int64_t ms)
{
    return (double)ms / 1000.0;
}

static bool copy_text(struct arena *arena, const char *text, struct strview *to)
{
    if (text[0] == '\0') {
        *to = (struct strview){NULL, 0};
        return true;
    }
    *to = arena_copy(arena, strview_of(text));
    return to->at != NULL;
}

int64_t profile_end(const struct sparklog *log)
{
    return log->application.end_ms != NO_TIME ? log->application.end_ms : log->last_ms;
}

static void set_times(struct sparklog *log, struct run *run)
{
    int64_t start = log->application.start_ms;
    run->started_us = start == NO_TIME ? RUN_NO_INSTANT : start * US_PER_MS;
    run->duration_s = (double)NAN;
    run->initialization_s = (double)NAN;
    if (start == NO_TIME)
        return;
    run->duration_s = profile_seconds(sparklog_elapsed(log, start, profile_end(log)));
    if (log->first_stage_ms != NO_TIME)
        run->initialization_s = profile_seconds(sparklog_elapsed(log, start, log->first_stage_ms));
}

static void set_counts(const struct sparklog *log, struct run *run)
{
    run->jobs = log->jobs;
    run->stages_completed = log->stages_completed;
    run->stages_failed = log->stages_failed;
    run->tasks_succeeded = log->tasks_succeeded;
    run->tasks_failed = log->tasks_failed;
    run->task_time_s = profile_seconds(log->task_ms);
    run->failed_task_time_s = profile_seconds(log->failed_task_ms);
    run->executors_added = log->executors_added;
    run->exit_code = log->application.exit_code;
    run->tasks_killed = log->tasks_killed;
    run->tasks_resubmitted = log->tasks_resubmitted;
    run->tasks_speculative = log->tasks_speculative;
    run->executors_removed = log->executors_removed;
    run->executors_excluded = log->executors_excluded;
    run->nodes_excluded = (int64_t)log->nodes_excluded.n;
    run->peak_driver_heap_bytes = log->driver_heap;
    run->executors = log->executors_most > 0 ? log->executors_most : RUN_UNKNOWN;
    run->cores_per_executor = log->cores_most > 0 ? log->cores_most : RUN_UNKNOWN;
}

static bool set_texts(const struct sparklog *log, struct arena *arena, struct run *run)
{
    const struct application *application = &log->application;
    const char *version = application->log_version[0] != '\0' ? application->log_version
                                                              : application->metadata_version;
    memcpy(run->advice_id, log->properties.advice_id, sizeof run->advice_id);
    return copy_text(arena, application->name, &run->log_name) &&
           copy_text(arena, application->id, &run->spark_application_id) &&
           copy_text(arena, application->attempt_id, &run->spark_attempt_id) &&
           copy_text(arena, version, &run->spark_version);
}

static bool set_properties(const struct sparklog *log, struct arena *arena, struct run *run)
{
    run->spark_properties = arena_calloc(arena, properties_count(), sizeof *run->spark_properties);
    if (run->spark_properties == NULL)
        return false;
    for (size_t i = 0; i < properties_count(); i++) {
        const char *value = log->properties.values[i].text;
        if (value[0] == '\0')
            continue;
        struct run_label *property = &run->spark_properties[run->n_spark_properties++];
        property->key = strview_of(properties_key(i)); /* lives as long as the program */
        if (!copy_text(arena, value, &property->value))
            return false;
    }
    return true;
}

static bool set_warnings(const struct sparklog *log, struct arena *arena, struct run *run)
{
#define NOTICE_TEXT(notice, code, message) {code, message},
    static const struct {
        const char *code;
        const char *message;
    } texts[] = {SPARKLOG_NOTICES(NOTICE_TEXT)};
#undef NOTICE_TEXT
    run->warnings.arena = arena;
    for (size_t i = 0; i < NOTICE_COUNT; i++)
        if (log->notices[i] > 0)
            finding_number(finding_add(&run->warnings, texts[i].code, "%s", texts[i].message),
                           "count", (double)log->notices[i]);
    return !run->warnings.failed;
}

/* An exit code is the application's own word; without one, being stopped at work is failing. */
static bool succeeded(const struct application *application)
{
    if (application->exit_code != RUN_NO_EXIT_CODE)
        return application->ended && application->exit_code == 0;
    return application->ended && !application->interrupted;
}

enum pv_code
profile_build(struct sparklog *log, struct arena *arena, struct run *run, struct pv_error *err)
{
    if (!log->application.started) {
        (void)pv_fault(err, PV_PLACE_POINTER, "", "no_application_start",
                       "the body holds no SparkListenerApplicationStart: it is not a Spark event "
                       "log, or only a later part of one");
        return PV_E_INVALID;
    }
    const struct application *application = &log->application;
    struct run built = {.recorded_us = RUN_NO_INSTANT,
                        .from_log = true,
                        .ended = application->ended,
                        .succeeded = succeeded(application)};
    if (!application->ended)
        log->notices[NOTICE_NO_END] = 1;
    set_times(log, &built);
    set_counts(log, &built);
    enum pv_code code = profile_build_stages(log, arena, &built, err);
    if (code != PV_OK)
        return code;
    if (!profile_build_executors(log, arena, &built) || !profile_build_times(log, arena, &built))
        return pv_no_memory(err);
    /* Warnings last: what was built before may have added some. */
    if (!set_texts(log, arena, &built) || !set_properties(log, arena, &built) ||
        !set_warnings(log, arena, &built))
        return pv_no_memory(err);
    *run = built;
    return PV_OK;
}
