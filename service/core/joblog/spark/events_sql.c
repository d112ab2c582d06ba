#define _GNU_SOURCE /* memmem */
/* SQL executions, streaming queries, and what a job sets while it runs. */
#include <string.h>

#include "core/joblog/spark/events.h"

/* --- properties that the job sets itself --- */

static bool has_prefix(struct json_text key, struct strview prefix)
{
    return key.n >= prefix.n && memcmp(key.at, prefix.at, prefix.n) == 0;
}

/* Only properties of SQL can change while an application runs. */
static void take_set_by_job(struct sparklog *log, struct json_text key, struct json_text value)
{
    if (has_prefix(key, strview_of("spark.sql.")))
        properties_take(&log->set_by_job, key, value);
}

static void take_modified(struct sparklog *log, struct strview modified)
{
    struct json json = json_over(modified);
    bool started = false;
    struct json_text key, value;
    while (json_next_member(&json, &started, &key))
        if (json_read_text(&json, &value))
            take_set_by_job(log, key, value);
}

/* --- streaming --- */

static enum pv_code take_query(struct sparklog *log, struct json_text id, struct pv_error *err)
{
    int64_t key = idmap_key_of(id.at, id.n);
    if (idmap_find(&log->streaming_at, key) != NULL)
        return PV_OK;
    return idmap_insert(&log->streaming_at, &log->reader.budget, key, 1, err);
}

static bool holds(struct strview text, struct strview words)
{
    return memmem(text.at, text.n, words.at, words.n) != NULL;
}

/* Since Spark 3.3 SQL executions say what the job set, so that jobs are left to say which query of a
 * streaming application they belong to. */
static bool says_more(const struct sparklog *log, struct strview properties)
{
    return !log->has_modified || holds(properties, strview_of("streaming.queryId")) ||
           holds(properties, strview_of("streaming.internal."));
}

enum pv_code
events_job_properties(struct sparklog *log, struct strview properties, struct pv_error *err)
{
    if (!says_more(log, properties))
        return PV_OK;
    struct json json = json_over(properties);
    bool started = false;
    struct json_text key, value;
    while (json_next_member(&json, &started, &key)) {
        if (!json_read_text(&json, &value))
            continue;
        if (json_text_is(key, strview_of("sql.streaming.queryId")))
            PV_TRY(take_query(log, value, err));
        else if (json_text_is(key, strview_of("spark.streaming.internal.batchTime")))
            PV_TRY(take_query(log, key, err)); /* of Spark Streaming, which has no queries */
        else if (!log->has_modified)
            take_set_by_job(log, key, value);
    }
    return PV_OK;
}

struct query_event {
    struct json_text id;
    struct json_text progress_id;
};

static const struct json_field progress_fields[] = {
    JSON_FIELD("id", JSON_TEXT, struct query_event, progress_id),
};
static const struct json_shape progress_shape = JSON_SHAPE(progress_fields);

static const struct json_field query_fields[] = {
    JSON_FIELD("id", JSON_TEXT, struct query_event, id),
    JSON_INSIDE("progress", progress_shape),
};
static const struct json_shape query_shape = JSON_SHAPE(query_fields);

/* An event without an id still says that there is a query. */
enum pv_code event_streaming_query(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct query_event event = {{NULL, 0, false}, {NULL, 0, false}};
    if (!events_read(line, &query_shape, &event))
        return PV_OK;
    struct json_text id = event.id.at != NULL ? event.id : event.progress_id;
    return take_query(log, id.at != NULL ? id : (struct json_text){"", 0, false}, err);
}

/* --- SQL executions --- */

struct sql_event {
    int64_t id;
    int64_t time;
    struct strview modified;
};

static const struct json_field sql_fields[] = {
    JSON_FIELD("executionId", JSON_INT, struct sql_event, id),
    JSON_FIELD("time", JSON_INT, struct sql_event, time),
    JSON_FIELD("modifiedConfigs", JSON_RAW, struct sql_event, modified),
};
static const struct json_shape sql_shape = JSON_SHAPE(sql_fields);

static bool read_sql(struct sparklog *log, struct json *line, struct sql_event *event)
{
    *event = (struct sql_event){-1, NO_TIME, {NULL, 0}};
    if (!events_read(line, &sql_shape, event))
        return false;
    if (event->time != NO_TIME)
        event->time = log_reader_see_time(&log->reader, event->time);
    return true;
}

enum pv_code event_sql_start(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct sql_event event;
    if (!read_sql(log, line, &event))
        return PV_OK;
    if (event.modified.at != NULL) {
        log->has_modified = true;
        take_modified(log, event.modified);
    }
    if (event.id < 0 || event.time == NO_TIME || log->n_sql_executions >= UINT32_MAX ||
        idmap_find(&log->sql_at, event.id) != NULL)
        return PV_OK;
    PV_TRY(budget_grow(&log->reader.budget, log->sql_executions, log->sql_executions_capacity,
                       log->n_sql_executions + 1, err));
    PV_TRY(idmap_insert(&log->sql_at, &log->reader.budget, event.id,
                        (uint32_t)log->n_sql_executions, err));
    log->sql_executions[log->n_sql_executions++] = (struct sql_execution){event.time, NO_TIME};
    return PV_OK;
}

enum pv_code event_sql_end(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct sql_event event;
    (void)err;
    if (!read_sql(log, line, &event) || event.id < 0)
        return PV_OK;
    const uint32_t *known = idmap_find(&log->sql_at, event.id);
    if (known != NULL)
        log->sql_executions[*known].ended_ms = event.time;
    return PV_OK;
}
