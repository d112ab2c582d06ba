/* Events about the application as a whole, and those that only give a time. */
#include <string.h>

#include "core/joblog/common/privacy.h"
#include "core/joblog/spark/events.h"

static void keep_version(struct json_text text, char *out, size_t capacity)
{
    if (!json_text_keep(text, out, capacity) || !privacy_is_version(out))
        out[0] = '\0';
}

/* An id that cannot be kept is counted. */
static void keep_id(struct sparklog *log, struct json_text text, char *out, size_t capacity)
{
    if (text.at == NULL)
        return;
    if (!json_text_keep(text, out, capacity) ||
        !privacy_id(&log->reader.limits.privacy, out, capacity))
        log->reader.notices[NOTICE_BAD_ID]++;
}

struct version {
    struct json_text version;
    int64_t part;
};

static const struct json_field version_fields[] = {
    JSON_FIELD("Spark Version", JSON_TEXT, struct version, version),
    JSON_FIELD("Rollover Number", JSON_INT, struct version, part),
};
static const struct json_shape version_shape = JSON_SHAPE(version_fields);

/* Returns the number of the part that the line begins; RUN_UNKNOWN. */
static int64_t take_version(struct json *line, char *out, size_t capacity)
{
    struct version event = {{NULL, 0, false}, RUN_UNKNOWN};
    if (!events_read(line, &version_shape, &event))
        return RUN_UNKNOWN;
    if (event.version.at != NULL && out[0] == '\0')
        keep_version(event.version, out, capacity);
    return event.part;
}

enum pv_code event_log_start(struct sparklog *log, struct json *line, struct pv_error *err)
{
    (void)err;
    struct application *application = &log->application;
    (void)take_version(line, application->log_version, sizeof application->log_version);
    return PV_OK;
}

enum pv_code event_metadata(struct sparklog *log, struct json *line, struct pv_error *err)
{
    (void)err;
    struct application *application = &log->application;
    int64_t part =
        take_version(line, application->metadata_version, sizeof application->metadata_version);
    if (part < 0 || part > EVENTS_COUNT_MAX || part == log->part)
        return PV_OK;
    log->part = part;
    log->parts++;
    if (part > log->last_part)
        log->last_part = part;
    return PV_OK;
}

struct application_start {
    struct json_text name;
    struct json_text id;
    struct json_text attempt_id;
    int64_t timestamp;
};

static const struct json_field start_fields[] = {
    JSON_FIELD("App Name", JSON_TEXT, struct application_start, name),
    JSON_FIELD("App ID", JSON_TEXT, struct application_start, id),
    JSON_FIELD("Timestamp", JSON_INT, struct application_start, timestamp),
    JSON_FIELD("App Attempt ID", JSON_TEXT, struct application_start, attempt_id),
};
static const struct json_shape start_shape = JSON_SHAPE(start_fields);

enum pv_code event_application_start(struct sparklog *log, struct json *line, struct pv_error *err)
{
    (void)err;
    struct application *application = &log->application;
    struct application_start event = {
        {NULL, 0, false}, {NULL, 0, false}, {NULL, 0, false}, NO_TIME};
    if (!events_read(line, &start_shape, &event))
        return PV_OK;
    int64_t first_ms = log->reader.first_ms;
    int64_t start_ms = log_reader_see_time(&log->reader, event.timestamp);
    log->reader.first_ms = first_ms; /* which replaces a start that is impossible */
    if (application->started) {
        bool same = start_ms == application->start_ms;
        log->reader.notices[same ? NOTICE_DOUBLED : NOTICE_STARTED_AGAIN]++;
        return PV_OK;
    }
    application->started = true;
    application->start_ms = start_ms;
    if (event.name.at != NULL)
        session_signs_take_name(&log->session, event.name);
    if (event.name.at != NULL &&
        json_text_keep(event.name, application->name, sizeof application->name))
        privacy_application_name(&log->reader.limits.privacy, application->name,
                                 sizeof application->name);
    keep_id(log, event.id, application->id, sizeof application->id);
    keep_id(log, event.attempt_id, application->attempt_id, sizeof application->attempt_id);
    return PV_OK;
}

struct application_end {
    int64_t timestamp;
    int64_t exit_code;
};

static const struct json_field end_fields[] = {
    JSON_FIELD("Timestamp", JSON_INT, struct application_end, timestamp),
    JSON_FIELD("ExitCode", JSON_INT, struct application_end, exit_code),
};
static const struct json_shape end_shape = JSON_SHAPE(end_fields);

enum pv_code event_application_end(struct sparklog *log, struct json *line, struct pv_error *err)
{
    (void)err;
    struct application_end event = {NO_TIME, RUN_NO_EXIT_CODE};
    if (!events_read(line, &end_shape, &event))
        return PV_OK;
    log->application.ended = true;
    /* A context shut down from outside says so before it cancels what still runs. One of the two
     * alone may be an event that Spark lost. */
    log->application.interrupted = log->jobs_open > 0 && log->attempts_open > 0;
    log->reader.notices[NOTICE_OPEN_JOB] = log->jobs_open;
    int64_t first_ms = log->reader.first_ms;
    log->application.end_ms = log_reader_see_time(&log->reader, event.timestamp);
    log->reader.first_ms = first_ms; /* nothing begins with an end, and one may be 0 */
    /* A JVM's int, whatever stands there. */
    if (event.exit_code != RUN_NO_EXIT_CODE)
        event.exit_code = event.exit_code < INT32_MIN   ? INT32_MIN
                          : event.exit_code > INT32_MAX ? INT32_MAX
                                                        : event.exit_code;
    log->application.exit_code = event.exit_code;
    return PV_OK;
}

struct environment {
    struct strview properties;
    struct strview system;
};

static const struct json_field environment_fields[] = {
    JSON_FIELD("Spark Properties", JSON_RAW, struct environment, properties),
    JSON_FIELD("System Properties", JSON_RAW, struct environment, system),
};
static const struct json_shape environment_shape = JSON_SHAPE(environment_fields);

/* Longer ones are left out: no job is named by its properties then. */
enum { RAW_PROPERTIES_MAX = 256 * 1024 };

static enum pv_code
keep_raw_properties(struct sparklog *log, struct strview properties, struct pv_error *err)
{
    log->n_raw_properties = 0;
    if (properties.n > RAW_PROPERTIES_MAX)
        return PV_OK;
    PV_TRY(budget_grow(&log->reader.budget, log->raw_properties, log->raw_properties_capacity,
                       properties.n, err));
    memcpy(log->raw_properties, properties.at, properties.n);
    log->n_raw_properties = properties.n;
    return PV_OK;
}

static void take_system(struct sparklog *log, struct strview system)
{
    struct json json = json_over(system);
    bool started = false;
    struct json_text key, value;
    while (json_next_member(&json, &started, &key))
        if (json_read_text(&json, &value) && json_text_is(key, strview_of("sun.java.command")))
            session_signs_take_command(&log->session, value);
}

enum pv_code event_environment(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct environment event = {{NULL, 0}, {NULL, 0}};
    if (!events_read(line, &environment_shape, &event) || event.properties.at == NULL)
        return PV_OK;
    struct json json = json_over(event.properties);
    struct properties taken = log->properties;
    struct session_signs signs = log->session;
    struct log_beginning beginning = log->beginning;
    bool started = false;
    struct json_text key;
    while (json_next_member(&json, &started, &key)) {
        struct json_text value;
        if (!json_read_text(&json, &value))
            continue;
        properties_take(&taken, key, value);
        session_signs_take_property(&signs, key, value);
        if (!log->beginning.cluster_seen)
            beginning_see_property(&beginning, key, value);
    }
    line->damaged = json.damaged;
    if (json.damaged)
        return PV_OK;
    beginning.cluster_seen = true;
    log->properties = taken;
    log->has_environment = true;
    log->session = signs;
    if (event.system.at != NULL)
        take_system(log, event.system);
    log->beginning = beginning;
    return keep_raw_properties(log, event.properties, err);
}

struct clock_event {
    int64_t timestamp;
    int64_t time;
};

static const struct json_field clock_fields[] = {
    JSON_FIELD("Timestamp", JSON_INT, struct clock_event, timestamp),
    JSON_FIELD("time", JSON_INT, struct clock_event, time),
};
static const struct json_shape clock_shape = JSON_SHAPE(clock_fields);

/* Nothing is kept of these but that the application was still alive then. */
enum pv_code event_clock(struct sparklog *log, struct json *line, struct pv_error *err)
{
    (void)err;
    struct clock_event event = {NO_TIME, NO_TIME};
    if (events_read(line, &clock_shape, &event) &&
        (event.timestamp != NO_TIME || event.time != NO_TIME))
        (void)log_reader_see_time(&log->reader,
                                  event.timestamp != NO_TIME ? event.timestamp : event.time);
    return PV_OK;
}
