/* From what the log said to a run: the application, its warnings and its properties. */
#include "core/joblog/spark/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/plural.h"
#include "core/history/problem_size.h"
#include "core/history/task_slots.h"
#include "core/joblog/common/privacy.h"
#include "core/joblog/spark/state.h"
#include "core/spark/property_value.h"

enum { US_PER_MS = 1000 };

/* Without an end event nobody says how long the application idled after its last task: events of the
 * cluster a day or more later are another life of it, or of a clock that was set wrong. */
static const int64_t FAR_MS = INT64_C(24) * 3600 * 1000;

bool profile_is_far(int64_t from_ms, int64_t to_ms)
{
    return from_ms != NO_TIME && to_ms != NO_TIME && to_ms - from_ms > FAR_MS;
}

/* Without any work: when the application began. */
static int64_t last_work_of(const struct sparklog *log)
{
    return log->last_work_ms != NO_TIME ? log->last_work_ms : log->application.start_ms;
}

static bool ends_far_from_work(const struct sparklog *log)
{
    return log->application.end_ms == NO_TIME &&
           profile_is_far(last_work_of(log), log->reader.last_ms);
}

int64_t profile_end_of(const struct sparklog *log)
{
    if (log->application.end_ms != NO_TIME)
        return log->application.end_ms;
    return ends_far_from_work(log) ? last_work_of(log) : log->reader.last_ms;
}

/* Times that count, for an application may well be idle for days, and are worth a look, for its
 * clock may have been set wrong. */
static void notice_far_times(struct sparklog *log)
{
    const struct application *application = &log->application;
    int64_t *notices = log->reader.notices;
    notices[NOTICE_FAR_EVENT] = ends_far_from_work(log);
    notices[NOTICE_FAR_START] = profile_is_far(application->start_ms, log->first_stage_ms);
    notices[NOTICE_FAR_END] = profile_is_far(log->last_work_ms, application->end_ms);
}

static void set_times(struct sparklog *log, struct run *run)
{
    int64_t start = log->application.start_ms;
    run->started_us = start == NO_TIME ? RUN_NO_INSTANT : start * US_PER_MS;
    run->duration_s = (double)NAN;
    run->initialization_s = (double)NAN;
    if (start == NO_TIME || profile_clock_set_back(log))
        return;
    /* Where nothing was done, far events leave no end at all. */
    int64_t ms = 0;
    if (log->last_work_ms != NO_TIME || !ends_far_from_work(log))
        ms = log_reader_elapsed(&log->reader, start, profile_end_of(log));
    /* A duration of 0 measures nothing. */
    if (ms > 0)
        run->duration_s = log_seconds(ms);
    if (log->first_stage_ms != NO_TIME)
        run->initialization_s =
            log_seconds(log_reader_elapsed(&log->reader, start, log->first_stage_ms));
}

static void set_counts(const struct sparklog *log, struct run *run)
{
    run->jobs = log->jobs;
    run->stages_completed = log->stages_completed;
    run->stages_failed = log->stages_failed;
    run->tasks_succeeded = log->tasks_succeeded;
    run->tasks_failed = log->tasks_failed;
    run->task_time_s = log_seconds(log->task_ms);
    run->failed_task_time_s = log_seconds(log->failed_task_ms);
    bool doubled = log->reader.notices[NOTICE_DOUBLED] > 0;
    run->executors_added = log->executors_added - (doubled ? log->executors_added_again : 0);
    run->exit_code = log->application.exit_code;
    run->tasks_killed = log->tasks_killed;
    run->tasks_resubmitted = log->tasks_resubmitted;
    run->tasks_speculative = log->tasks_speculative;
    run->executors_removed = log->executors_removed - (doubled ? log->executors_removed_again : 0);
    run->executors_lost = log->executors_lost;
    run->executors_excluded = log->executors_excluded;
    run->nodes_excluded = (int64_t)log->nodes_excluded.n;
    run->peak_driver_heap_bytes = log->driver_heap;
    run->out_of_memory_errors = log->out_of_memory_errors;
    run->memory_limit_kills = log->memory_limit_kills;
    run->cached_blocks_dropped = log->blocks_dropped;
    /* In local mode no executor has memory of its own. */
    run->storage_memory_bytes = log->storage_memory[log->storage_memory[1] > 0];
    run->executors = log->executors_most > 0 ? log->executors_most : RUN_UNKNOWN;
    run->cores_per_executor = log->cores_most > 0 ? log->cores_most : RUN_UNKNOWN;
}

/* In local mode the driver is the only executor; Spark 1.x does not log that it was added. */
static void set_local_executor(const struct sparklog *log, struct run *run)
{
    const char *master = properties_value(&log->properties, "spark.master");
    if (run->executors != RUN_UNKNOWN || !property_is_local(strview_of(master)))
        return;
    long cores = master[5] == '[' ? strtol(master + 6, NULL, 10) : 1;
    if (cores >= 1) { /* local[*] does not say how many */
        run->executors = 1;
        run->cores_per_executor = cores;
    }
}

static bool set_texts(const struct sparklog *log, struct arena *arena, struct run *run)
{
    const struct application *application = &log->application;
    const char *version = application->log_version[0] != '\0' ? application->log_version
                                                              : application->metadata_version;
    memcpy(run->advice_id, log->properties.advice_id, sizeof run->advice_id);
    if (log->n_raw_properties > 0) {
        run->log_properties =
            arena_copy(arena, (struct strview){log->raw_properties, log->n_raw_properties});
        if (run->log_properties.at == NULL)
            return false;
    }
    return log_text_copy(arena, application->name, &run->log_name) &&
           log_text_copy(arena, application->id, &run->spark_application_id) &&
           log_text_copy(arena, application->attempt_id, &run->spark_attempt_id) &&
           log_text_copy(arena, version, &run->spark_version);
}

static bool set_properties(const struct sparklog *log, struct arena *arena, struct run *run)
{
    run->spark_properties = arena_calloc(arena, properties_count(), sizeof *run->spark_properties);
    if (run->spark_properties == NULL)
        return false;
    for (size_t i = 0; i < properties_count(); i++) {
        const char *set = log->set_by_job.values[i].text;
        const char *value = set[0] != '\0' ? set : log->properties.values[i].text;
        if (value[0] == '\0')
            continue;
        struct run_label *property = &run->spark_properties[run->n_spark_properties++];
        property->key = strview_of(properties_key(i)); /* lives as long as the program */
        if (!log_text_copy(arena, value, &property->value))
            return false;
    }
    return true;
}

/* --- jobs and stages run concurrently, so the time of all of them is a union of intervals --- */

static int compare_intervals(const void *a, const void *b)
{
    const struct interval *left = a;
    const struct interval *right = b;
    return compare_int64(left->from_ms, right->from_ms);
}

int64_t profile_union_length(struct interval *intervals, size_t n)
{
    if (n == 0)
        return 0;
    qsort(intervals, n, sizeof *intervals, compare_intervals);
    int64_t length = 0;
    int64_t reached = NO_TIME;
    for (size_t i = 0; i < n; i++) {
        int64_t from = intervals[i].from_ms > reached ? intervals[i].from_ms : reached;
        if (intervals[i].to_ms > from) {
            length += intervals[i].to_ms - from;
            reached = intervals[i].to_ms;
        }
    }
    return length;
}

/* What did not end lasts to the end of the run. False when it is not known when it began. */
static bool
make_interval(const struct sparklog *log, int64_t from_ms, int64_t to_ms, struct interval *out)
{
    if (from_ms == NO_TIME)
        return false;
    int64_t to = to_ms == NO_TIME ? profile_end_of(log) : to_ms;
    *out = (struct interval){from_ms, to < from_ms ? from_ms : to};
    return true;
}

static bool set_job_time(struct sparklog *log, struct arena *arena, struct run *run)
{
    struct arena_mark mark = arena_mark(arena);
    struct interval *intervals = arena_array(arena, log->n_jobs_seen, sizeof *intervals);
    if (intervals == NULL)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < log->n_jobs_seen; i++) {
        const struct job *job = &log->jobs_seen[i];
        n += make_interval(log, job->submitted_ms, job->completed_ms, &intervals[n]);
        if (job->submitted_ms != NO_TIME && job->completed_ms != NO_TIME)
            (void)log_reader_elapsed(&log->reader, job->submitted_ms,
                                     job->completed_ms); /* counts */
    }
    /* Spark 1.0 to 1.1 do not say when their jobs ran. */
    bool known = (n > 0 || log->n_jobs_seen == 0) && !profile_clock_set_back(log);
    run->job_time_s = known ? log_seconds(profile_union_length(intervals, n)) : (double)NAN;
    arena_rewind(arena, mark);
    return true;
}

/* Every attempt, also one that failed: the cluster was at work. */
static bool set_stage_time(const struct sparklog *log, struct arena *arena, struct run *run)
{
    struct arena_mark mark = arena_mark(arena);
    struct interval *intervals = arena_array(arena, log->n_attempts, sizeof *intervals);
    if (intervals == NULL)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < log->n_stages; i++) {
        for (size_t k = 0; k < log->stages[i].n_attempts; k++) {
            const struct attempt *attempt = &log->stages[i].attempts[k];
            n += make_interval(log, attempt->submitted_ms, attempt->completed_ms, &intervals[n]);
        }
    }
    run->stage_time_s =
        profile_clock_set_back(log) ? (double)NAN : log_seconds(profile_union_length(intervals, n));
    arena_rewind(arena, mark);
    return true;
}

/* --- what the executors held, together and by resource profile --- */

/* Core milliseconds of one executor; those that never left stayed to the end. */
static int64_t core_ms(struct sparklog *log, const struct executor *executor)
{
    if (!executor->alive)
        return executor->core_ms;
    int64_t since = executor->since_ms == NO_TIME ? log->application.start_ms : executor->since_ms;
    int64_t end = profile_end_of(log);
    int64_t ms = since == NO_TIME || end == NO_TIME || end < since ? 0 : end - since;
    return log_add(executor->core_ms, sparklog_times(executor->cores, ms));
}

static void set_core_time(struct sparklog *log, struct run *run)
{
    int64_t sum = 0;
    bool any = false;
    for (size_t i = 0; i < log->n_executors; i++) {
        const struct executor *executor = &log->executors[i];
        if (!executor->added)
            continue;
        any = true;
        if (executor->cores <= 0 || profile_clock_set_back(log)) {
            run->core_s = (double)NAN;
            return;
        }
        sum = log_add(sum, core_ms(log, executor));
        log->reader.notices[NOTICE_MIXED_CORES] += executor->cores < log->cores_most;
    }
    run->core_s = any ? log_seconds(sum) : (double)NAN;
}

/* The run has no lifetimes if there are too many, or if the start of the application or the time
 * since then is unknown. An
 * executor that came before the start counts from the start. */
static bool set_executor_lifetimes(const struct sparklog *log, struct arena *arena, struct run *run)
{
    int64_t start_ms = log->application.start_ms;
    bool unknown = log->reader.notices[NOTICE_EXECUTORS] > 0 || start_ms == NO_TIME ||
                   profile_clock_set_back(log);
    size_t n = unknown ? 0 : log->n_lifetimes;
    run->executor_lifetimes = arena_array(arena, n, sizeof *run->executor_lifetimes);
    if (run->executor_lifetimes == NULL)
        return false;
    run->n_executor_lifetimes = n;
    for (size_t i = 0; i < n; i++) {
        const struct logged_lifetime *lifetime = &log->lifetimes[i];
        int64_t added_ms = lifetime->added_ms > start_ms ? lifetime->added_ms : start_ms;
        int64_t removed_ms = lifetime->removed_ms > added_ms ? lifetime->removed_ms : added_ms;
        run->executor_lifetimes[i] = (struct executor_lifetime){
            .added_s = log_seconds(added_ms - start_ms),
            .removed_s =
                lifetime->removed_ms == NO_TIME ? (double)NAN : log_seconds(removed_ms - start_ms),
            .cores = lifetime->cores > 0 ? lifetime->cores : RUN_UNKNOWN,
            .resource_profile_id = lifetime->profile,
            .lost = lifetime->lost};
    }
    return true;
}

/* Median time from request to registration. If the log has no request times: time from the first
 * submission of a stage to the first executor. That time is unknown if the executor came before the
 * stage, or after all work had ended (edited logs). */
static bool set_startup(struct sparklog *log, struct arena *arena, struct run *run)
{
    struct arena_mark mark = arena_mark(arena);
    int64_t *times = arena_array(arena, log->n_executors, sizeof *times);
    size_t n = 0;
    run->executor_startup_s = (double)NAN;
    if (times == NULL)
        return false;
    for (size_t i = 0; i < log->n_executors; i++)
        if (log->executors[i].startup_ms >= 0)
            times[n++] = log->executors[i].startup_ms;
    int64_t waited = RUN_UNKNOWN;
    if (log->first_executor_ms != NO_TIME && log->first_stage_ms != NO_TIME &&
        log->first_executor_ms <= log->last_work_ms)
        waited = log->first_executor_ms - log->first_stage_ms;
    if (n > 0) {
        qsort(times, n, sizeof *times, order_by_int64);
        run->executor_startup_s = log_seconds((times[(n - 1) / 2] + times[n / 2]) / 2);
    } else if (waited > 0) {
        run->executor_startup_s = log_seconds(waited);
    }
    arena_rewind(arena, mark);
    return true;
}

static int compare_profiles(const void *a, const void *b)
{
    const struct profile *left = a;
    const struct profile *right = b;
    return compare_int64(left->id, right->id);
}

static int64_t property_count_of(const struct sparklog *log, const char *key)
{
    return property_count(strview_of(properties_value(&log->properties, key)));
}

/* The default profile as the properties set it, where no event describes it. */
static void set_default_profile(const struct sparklog *log, struct profile *profile)
{
    if (profile->task_cpus == RUN_UNKNOWN)
        profile->task_cpus = property_count_of(log, "spark.task.cpus");
    if (profile->resource.name[0] != '\0')
        return;
    struct profile_resource gpu = {
        .name = "gpu",
        .per_executor = property_count_of(log, "spark.executor.resource.gpu.amount"),
        .per_task = property_number(
            strview_of(properties_value(&log->properties, "spark.task.resource.gpu.amount")))};
    if (task_slots_by_resource(gpu.per_executor, gpu.per_task) != RUN_UNKNOWN)
        profile->resource = gpu;
}

/* Spark before 3.1 logs no profiles: one is made if properties say what a task takes. */
static void add_default_profile(struct sparklog *log)
{
    struct profile made = {.cores_asked = log->cores_most,
                           .cores_most = log->cores_most,
                           .most = log->executors_most,
                           .memory_mib = RUN_UNKNOWN,
                           .task_cpus = RUN_UNKNOWN,
                           .resource = {.per_executor = RUN_UNKNOWN}};
    set_default_profile(log, &made);
    if (made.task_cpus > 1 || made.resource.name[0] != '\0')
        log->profiles[log->n_profiles++] = made;
}

/* What executors really had counts before what was asked for. The default profile, 0, is what the
 * properties ask for. */
static bool resources_of(const struct sparklog *log,
                         const struct profile *profile,
                         struct arena *arena,
                         struct run_resources *made)
{
    int64_t memory = profile->memory_mib > 0 ? sparklog_times(profile->memory_mib, INT64_C(1) << 20)
                                             : RUN_UNKNOWN;
    if (memory == RUN_UNKNOWN && profile->id == 0)
        memory =
            property_size(strview_of(properties_value(&log->properties, "spark.executor.memory")),
                          INT64_C(1) << 20);
    *made = (struct run_resources){
        .id = profile->id,
        .executors = profile->most,
        .cores_per_executor = profile->cores_most > 0 ? profile->cores_most : profile->cores_asked,
        .executor_memory_bytes = memory,
        .cores_per_task = profile->task_cpus,
        .resource_per_executor = profile->resource.per_executor,
        .resource_per_task = (double)NAN};
    if (profile->resource.name[0] != '\0')
        made->resource_per_task = profile->resource.per_task;
    return log_text_copy(arena, profile->resource.name, &made->resource);
}

static bool set_resources(struct sparklog *log, struct arena *arena, struct run *run)
{
    if (log->n_profiles == 0)
        add_default_profile(log);
    run->resources = arena_calloc(arena, log->n_profiles, sizeof *run->resources);
    if (run->resources == NULL)
        return false;
    if (log->n_profiles > 0)
        qsort(log->profiles, log->n_profiles, sizeof *log->profiles, compare_profiles);
    for (size_t i = 0; i < log->n_profiles; i++) {
        if (log->profiles[i].id == 0)
            set_default_profile(log, &log->profiles[i]);
        if (!resources_of(log, &log->profiles[i], arena, &run->resources[i]))
            return false;
    }
    run->n_resources = log->n_profiles;
    return true;
}

/* --- the whole --- */

/* Some platforms, Databricks among them, never write the end of an application. Where all of its
 * jobs ended well and the log is whole it counts as one that succeeded; while jobs or stages are at
 * work it may have been stopped, or the log is read while it is written. */
static bool is_done_without_end(const struct sparklog *log)
{
    return log->jobs > 0 && log->jobs_open <= 0 && log->attempts_open <= 0 &&
           log->reader.notices[NOTICE_FAILED_JOB] == 0 &&
           log->reader.notices[NOTICE_TRUNCATED] == 0;
}

/* An exit code is the application's own word; without one, being stopped at work is failing. */
static bool profile_succeeded(const struct sparklog *log)
{
    const struct application *application = &log->application;
    if (!application->ended)
        return is_done_without_end(log);
    if (application->exit_code != RUN_NO_EXIT_CODE)
        return application->exit_code == 0;
    return !application->interrupted;
}

static void take_property(const struct sparklog *log, const char *key, char *out, size_t capacity)
{
    struct strview properties = {log->raw_properties, log->n_raw_properties};
    if (!properties_find_text(properties, strview_of(key), out, capacity))
        out[0] = '\0';
}

static bool has_work(const struct sparklog *log)
{
    return log->jobs > 0 || log->n_stages > 0;
}

static bool has_log_start(const struct sparklog *log)
{
    return log->application.log_version[0] != '\0';
}

/* Does a log without a start and properties end before the start of the application? A
 * compressed stream that is cut before the end of its first line may be a log. */
static bool ends_before_start(const struct sparklog *log)
{
    bool has_line = log->reader.cut_coding == NULL || log->reader.lines.count > 1;
    bool is_cut = log->reader.notices[NOTICE_TRUNCATED] > 0 && (log->begins_as_event || !has_line);
    return !has_work(log) && !log->application.ended && (is_cut || has_log_start(log));
}

/* Notebooks that share a cluster have logs without a start, and the queue of events may have dropped
 * it: the properties name the application, and it was there when the first event came. */
static enum pv_code begin_with_properties(struct sparklog *log, struct pv_error *err)
{
    struct application *application = &log->application;
    const struct joblog_privacy *privacy = &log->reader.limits.privacy;
    if (has_work(log) && log->n_raw_properties > 0) {
        take_property(log, "spark.app.name", application->name, sizeof application->name);
        take_property(log, "spark.app.id", application->id, sizeof application->id);
    }
    privacy_application_name(privacy, application->name, sizeof application->name);
    if (application->id[0] != '\0' && !privacy_id(privacy, application->id, sizeof application->id))
        log->reader.notices[NOTICE_BAD_ID]++;
    application->started = application->id[0] != '\0' || application->name[0] != '\0';
    application->start_ms = NO_TIME;
    log->reader.notices[NOTICE_NO_START] = 1;
    if (application->started)
        return PV_OK;
    if (ends_before_start(log))
        return log_reader_refuse_cut(&log->reader, err);
    if (log->has_events)
        return pv_fault(err, PV_PLACE_POINTER, "", "no_application_start",
                        "the body holds events of Spark, but neither the start of the application "
                        "nor its properties: %s",
                        has_log_start(log)
                            ? "lines at its beginning are missing or damaged. Send the whole log"
                            : "it is a later part of a log. Send all parts together");
    (void)pv_fault(err, PV_PLACE_POINTER, "", "no_application_start",
                   "the body holds no SparkListenerApplicationStart: it is not a Spark event log");
    return pv_fault(err, PV_PLACE_POINTER, "", "not_a_log", "no line is an event of Spark");
}

/* The ends of tasks and stages and the starts of jobs that should be there. */
static bool warn_of_lost_events(const struct sparklog *log, struct run *run)
{
    int64_t lost = log->tasks_lost + log->stage_ends_lost + log->job_starts_lost;
    if (lost == 0)
        return true;
    int64_t all = log_add(log->tasks_succeeded, log->tasks_lost);
    bool kept = (double)log->tasks_lost <= RUN_LOST_SHARE * (double)all;
    struct finding *note = finding_add(
        &run->warnings, "lost_events",
        "the log lacks the ends of %lld of %lld task%s and %lld stage%s, and the starts of %lld "
        "job%s: Spark drops events if the driver cannot keep up%s%s",
        (long long)log->tasks_lost, (long long)all, PLURAL(all), (long long)log->stage_ends_lost,
        PLURAL(log->stage_ends_lost), (long long)log->job_starts_lost, PLURAL(log->job_starts_lost),
        log->tasks_lost == 0 ? "" : "; the problem size is estimated",
        kept ? "" : ", the run has no stages, and its duration alone counts");
    finding_number(note, "count", (double)lost);
    finding_number(note, "tasks", (double)log->tasks_lost);
    finding_number(note, "stages", (double)log->stage_ends_lost);
    finding_number(note, "jobs", (double)log->job_starts_lost);
    return !run->warnings.failed;
}

enum pv_code
profile_build(struct log_reader *reader, struct arena *arena, struct run *run, struct pv_error *err)
{
    struct sparklog *log = (struct sparklog *)reader;
    if (!log->application.started)
        PV_TRY(begin_with_properties(log, err));
    profile_drop_impossible_times(log);
    const struct application *application = &log->application;
    struct run built = {.recorded_us = RUN_NO_INSTANT,
                        .from_log = true,
                        .ended = application->ended,
                        .succeeded = profile_succeeded(log)};
    if (!application->ended)
        log->reader.notices[NOTICE_NO_END] = 1;
    notice_far_times(log);
    set_times(log, &built);
    set_counts(log, &built);
    set_local_executor(log, &built);
    PV_TRY(profile_build_stages(log, arena, &built, err));
    set_core_time(log, &built);
    /* Warnings last: what was built before may have added some. */
    if (!set_resources(log, arena, &built) || !log_nodes_build(&log->nodes, arena, &built) ||
        !set_executor_lifetimes(log, arena, &built) || !set_job_time(log, arena, &built) ||
        !set_startup(log, arena, &built) || !set_stage_time(log, arena, &built) ||
        !beginning_build(&log->beginning, arena, &built.log_beginning) ||
        !set_texts(log, arena, &built) || !set_properties(log, arena, &built) ||
        !profile_set_kinds(log, arena, &built) || !log_reader_warn(reader, arena, &built) ||
        !warn_of_lost_events(log, &built) || !profile_warn_of_kinds(log, &built))
        return pv_no_memory(err);
    *run = built;
    return PV_OK;
}
