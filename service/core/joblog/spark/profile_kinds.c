/* Runs that are not plain batch jobs: streaming, sessions of a person, executors that were taken away,
 * properties that the job set itself. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/joblog/spark/profile.h"
#include "core/joblog/spark/state.h"

/* --- idle time --- */

static const int64_t IDLE_LEAST_MS = (int64_t)(RUN_IDLE_LEAST_S * 1000);
static const int64_t AWAY_LEAST_MS = (int64_t)(RUN_AWAY_LEAST_S * 1000);

struct idle {
    int64_t idle_ms;
    int64_t away_ms; /* part of idle_ms */
};

/* The instants at which the application works: adds an interval if its begin is known. */
static void add_activity(struct interval *all, size_t *n, int64_t from_ms, int64_t to_ms)
{
    if (from_ms != NO_TIME)
        all[(*n)++] = (struct interval){from_ms, to_ms > from_ms ? to_ms : from_ms};
}

/* Jobs and stages that did not end last to the end of the run. A SQL execution that did not end
 * counts as an instant, because a lost event must not hide hours. */
static size_t list_activity(const struct sparklog *log, struct interval *all)
{
    int64_t end_ms = profile_end_of(log);
    size_t n = 0;
    for (size_t i = 0; i < log->n_jobs_seen; i++) {
        const struct job *job = &log->jobs_seen[i];
        add_activity(all, &n, job->submitted_ms, job->ended ? job->completed_ms : end_ms);
    }
    for (size_t i = 0; i < log->n_stages; i++)
        for (size_t k = 0; k < log->stages[i].n_attempts; k++) {
            const struct attempt *attempt = &log->stages[i].attempts[k];
            add_activity(all, &n, attempt->submitted_ms,
                         attempt->completed ? attempt->completed_ms : end_ms);
        }
    for (size_t i = 0; i < log->n_sql_executions; i++)
        add_activity(all, &n, log->sql_executions[i].started_ms, log->sql_executions[i].ended_ms);
    return n;
}

/* A session can work once it has an executor. */
static int64_t ready_at(const struct sparklog *log, int64_t first_ms)
{
    int64_t start_ms = log->application.start_ms;
    int64_t executor_ms = log->first_executor_ms;
    return executor_ms > start_ms && executor_ms < first_ms ? executor_ms : start_ms;
}

/* Adds a gap that is long enough. */
static void add_gap(struct idle *idle, int64_t from_ms, int64_t to_ms)
{
    int64_t gap_ms = from_ms == NO_TIME ? 0 : to_ms - from_ms;
    idle->idle_ms += gap_ms >= IDLE_LEAST_MS ? gap_ms : 0;
    idle->away_ms += gap_ms >= AWAY_LEAST_MS ? gap_ms : 0;
}

static bool find_idle(const struct sparklog *log, struct arena *arena, struct idle *idle)
{
    struct arena_mark mark = arena_mark(arena);
    size_t room = log->n_jobs_seen + log->n_attempts + log->n_sql_executions;
    struct interval *all = arena_array(arena, room, sizeof *all);
    if (all == NULL)
        return false;
    size_t n = list_activity(log, all);
    int64_t end_ms = profile_end_of(log);
    int64_t reached_ms = ready_at(log, end_ms);
    (void)profile_union_length(all, n); /* sorts */
    for (size_t i = 0; i < n; i++) {
        add_gap(idle, i == 0 ? ready_at(log, all[0].from_ms) : reached_ms, all[i].from_ms);
        reached_ms = all[i].to_ms > reached_ms ? all[i].to_ms : reached_ms;
    }
    add_gap(idle, reached_ms, end_ms);
    arena_rewind(arena, mark);
    return true;
}

static bool set_idle(const struct sparklog *log, struct arena *arena, struct run *run)
{
    struct idle idle = {0, 0};
    bool waits = session_signs_is_interactive(&log->session) && run->streaming_queries == 0;
    run->idle_s = 0;
    run->away_s = 0;
    if (!waits || isnan(run->duration_s))
        return true;
    if (!find_idle(log, arena, &idle))
        return false;
    run->idle_s = fmin(log_seconds(idle.idle_ms), run->duration_s);
    run->away_s = fmin(log_seconds(idle.away_ms), run->idle_s);
    return true;
}

/* --- properties that the job set --- */

/* Did the job override the submitted value? False if the log has no submitted values. */
static bool is_overridden(const struct sparklog *log, size_t i)
{
    const char *set = log->set_by_job.values[i].text;
    return log->has_environment && set[0] != '\0' &&
           strcasecmp(set, log->properties.values[i].text) != 0;
}

static bool set_submitted(const struct sparklog *log, struct arena *arena, struct run *run)
{
    run->submitted_properties =
        arena_calloc(arena, properties_count(), sizeof *run->submitted_properties);
    if (run->submitted_properties == NULL)
        return false;
    for (size_t i = 0; i < properties_count(); i++) {
        if (!is_overridden(log, i))
            continue;
        struct run_label *property = &run->submitted_properties[run->n_submitted_properties++];
        property->key = strview_of(properties_key(i)); /* lives as long as the program */
        property->value = arena_copy(arena, strview_of(log->properties.values[i].text));
        if (property->value.at == NULL)
            return false;
    }
    return true;
}

bool profile_set_kinds(struct sparklog *log, struct arena *arena, struct run *run)
{
    run->streaming_queries = (int64_t)log->streaming_at.n;
    return set_idle(log, arena, run) && set_submitted(log, arena, run);
}

/* --- warnings --- */

static void warn_of_properties(const struct sparklog *log, struct run *run)
{
    enum { NAMED = 3 };
    char list[3 * (64 + 2 * PROPERTY_VALUE_MAX + 32)];
    size_t at = 0, named = 0;
    size_t n = run->n_submitted_properties;
    for (size_t i = 0; i < properties_count() && named < NAMED; i++) {
        const char *submitted = log->properties.values[i].text;
        if (!is_overridden(log, i))
            continue;
        int written =
            snprintf(list + at, sizeof list - at, "%s%s=%s (submitted: %s)",
                     named++ > 0 ? ", " : "", properties_key(i), log->set_by_job.values[i].text,
                     submitted[0] == '\0' ? "nothing" : submitted);
        at += written > 0 && (size_t)written < sizeof list - at ? (size_t)written : 0;
    }
    finding_count(finding_add(&run->warnings, "set_by_the_job",
                              "the job itself set %s%s: setting %s at submission has no effect",
                              list, n > named ? " and others" : "", n > 1 ? "them" : "it"),
                  n);
}

static void warn_of_attempts(const struct sparklog *log, struct run *run)
{
    size_t retried = 0;
    for (size_t i = 0; i < log->n_stages; i++)
        retried += log->stages[i].n_attempts > 1;
    if (retried > 0)
        finding_count(finding_add(&run->warnings, "stages_retried",
                                  "%zu stage%s ran again after output or executors were lost: the "
                                  "repeated work is part of the duration",
                                  retried, PLURAL(retried)),
                      retried);
    double share = run->failed_task_time_s / (run->task_time_s + run->failed_task_time_s);
    if (share >= RUN_FAILED_SHARE_WARNED)
        finding_count(finding_add(&run->warnings, "attempts_lost",
                                  "%" PRId64
                                  " attempt%s of tasks failed, %s killed, or lost against "
                                  "a copy: %s, %s of the time of all attempts",
                                  run->tasks_failed, PLURAL(run->tasks_failed),
                                  PLURAL_VERB(run->tasks_failed, "was", "were"),
                                  quantity_duration(run->failed_task_time_s).text,
                                  quantity_share(share).text),
                      (size_t)run->tasks_failed);
}

bool profile_warn_of_kinds(const struct sparklog *log, struct run *run)
{
    struct findings *warnings = &run->warnings;
    if (run->streaming_queries > 0)
        finding_count(finding_add(warnings, "streaming_application",
                                  "the application runs streaming queries: it is not a batch job, "
                                  "and no prediction of a batch job uses the run"),
                      (size_t)run->streaming_queries);
    if (run->idle_s > 0)
        finding_number(
            finding_add(warnings, "idle_session",
                        "an interactive session ran nothing for %.0f s. Predictions leave out its "
                        "gaps of %.0f s or more, %.0f s in all",
                        run->idle_s, RUN_AWAY_LEAST_S, run->away_s),
            "count", ceil(run->idle_s));
    if (run->executors_lost > 0)
        finding_count(
            finding_add(warnings, "executors_lost",
                        "the platform took %" PRId64 " executor%s away (spot interruption, "
                        "decommission or lost node): predictions assume that this does not "
                        "happen again",
                        run->executors_lost, PLURAL(run->executors_lost)),
            (size_t)run->executors_lost);
    if (run->n_submitted_properties > 0)
        warn_of_properties(log, run);
    warn_of_attempts(log, run);
    return !warnings->failed;
}
