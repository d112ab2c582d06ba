/* Jobs: when they ran, and which stages they name. */
#include "core/joblog/spark/events.h"

struct job_start {
    int64_t id;
    int64_t submitted;
    struct strview stages;
    struct strview stage_ids;
    struct strview properties;
};

static const struct json_field job_start_fields[] = {
    JSON_FIELD("Job ID", JSON_INT, struct job_start, id),
    JSON_FIELD("Submission Time", JSON_INT, struct job_start, submitted),
    JSON_FIELD("Stage Infos", JSON_RAW, struct job_start, stages),
    JSON_FIELD("Stage IDs", JSON_RAW, struct job_start, stage_ids),
    JSON_FIELD("Properties", JSON_RAW, struct job_start, properties),
};
static const struct json_shape job_start_shape = JSON_SHAPE(job_start_fields);

/* Spark 1.0 to 1.1 give the ids alone. */
static enum pv_code take_ids(struct sparklog *log, struct strview raw, struct pv_error *err)
{
    struct json json = json_over(raw);
    bool started = false;
    while (json_next_element(&json, &started)) {
        int64_t id;
        struct stage *stage;
        if (json_read_int(&json, &id) && id >= 0)
            PV_TRY(sparklog_get_stage(log, id, &stage, err));
    }
    return PV_OK;
}

/* The job of that id, made when it is new. */
static enum pv_code
get_job(struct sparklog *log, int64_t id, struct job **job, struct pv_error *err)
{
    const uint32_t *known = idmap_find(&log->job_at, id);
    if (known != NULL) {
        *job = &log->jobs_seen[*known];
        return PV_OK;
    }
    if (log->n_jobs_seen >= UINT32_MAX)
        return pv_fail(err, PV_E_LIMIT, "the log holds too many jobs");
    PV_TRY(budget_grow(&log->reader.budget, log->jobs_seen, log->jobs_capacity,
                       log->n_jobs_seen + 1, err));
    PV_TRY(idmap_insert(&log->job_at, &log->reader.budget, id, (uint32_t)log->n_jobs_seen, err));
    *job = &log->jobs_seen[log->n_jobs_seen++];
    **job = (struct job){id, NO_TIME, NO_TIME, false};
    log->jobs_open++;
    return PV_OK;
}

static enum pv_code
open_job(struct sparklog *log, int64_t id, int64_t submitted_ms, struct pv_error *err)
{
    if (id < 0)
        return PV_OK;
    struct job *job;
    PV_TRY(get_job(log, id, &job, err));
    if (job->submitted_ms == NO_TIME)
        job->submitted_ms = submitted_ms;
    return PV_OK;
}

/* Also of a job whose start was lost: its end alone says that it does not run any more. */
static enum pv_code
close_job(struct sparklog *log, int64_t id, int64_t completed_ms, struct pv_error *err)
{
    if (id < 0)
        return PV_OK;
    struct job *job;
    PV_TRY(get_job(log, id, &job, err));
    if (job->ended)
        return PV_OK;
    job->ended = true;
    job->completed_ms = completed_ms;
    log->jobs_open--;
    return PV_OK;
}

static void see_job_id(struct sparklog *log, int64_t id)
{
    if (log->first_job == RUN_UNKNOWN || id < log->first_job)
        log->first_job = id;
    if (id > log->last_job)
        log->last_job = id;
}

enum pv_code event_job_start(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct job_start event = {-1, NO_TIME, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    if (!events_read(line, &job_start_shape, &event))
        return PV_OK;
    if (event.stages.at != NULL && !events_stages_are_sound(event.stages)) {
        line->damaged = true;
        return PV_OK;
    }
    if (event.id >= 0) {
        const uint32_t *known = idmap_find(&log->job_at, event.id);
        if (known != NULL && log->jobs_seen[*known].submitted_ms == event.submitted) {
            log->reader.notices[NOTICE_DOUBLED]++;
            return PV_OK;
        }
        see_job_id(log, event.id);
    }
    log->jobs++;
    if (event.submitted != NO_TIME)
        event.submitted = sparklog_see_work(log, event.submitted);
    PV_TRY(open_job(log, event.id, event.submitted, err));
    if (event.properties.at != NULL)
        PV_TRY(events_job_properties(log, event.properties, err));
    if (event.stages.at != NULL)
        return events_describe_stages(log, event.stages, err);
    return event.stage_ids.at == NULL ? PV_OK : take_ids(log, event.stage_ids, err);
}

struct job_end {
    int64_t id;
    int64_t completed;
    struct json_text result;
};

static const struct json_field result_fields[] = {
    JSON_FIELD("Result", JSON_TEXT, struct job_end, result),
};
static const struct json_shape result_shape = JSON_SHAPE(result_fields);

static const struct json_field job_end_fields[] = {
    JSON_FIELD("Job ID", JSON_INT, struct job_end, id),
    JSON_FIELD("Completion Time", JSON_INT, struct job_end, completed),
    JSON_INSIDE("Job Result", result_shape),
};
static const struct json_shape job_end_shape = JSON_SHAPE(job_end_fields);

enum pv_code event_job_end(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct job_end event = {-1, NO_TIME, {NULL, 0, false}};
    if (!events_read(line, &job_end_shape, &event))
        return PV_OK;
    if (event.completed != NO_TIME)
        event.completed = sparklog_see_work(log, event.completed);
    const uint32_t *known = event.id < 0 ? NULL : idmap_find(&log->job_at, event.id);
    if (known != NULL && log->jobs_seen[*known].ended) {
        log->reader.notices[NOTICE_DOUBLED]++;
        return PV_OK;
    }
    if (event.id >= 0 && known == NULL) {
        see_job_id(log, event.id);
        log->job_starts_lost++;
    }
    if (event.result.at != NULL && !json_text_is(event.result, strview_of("JobSucceeded")))
        log->reader.notices[NOTICE_FAILED_JOB]++;
    return close_job(log, event.id, event.completed, err);
}
