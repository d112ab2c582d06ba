/* Jobs and their stages. */
#include <string.h>

#include "core/sparklog/events.h"
#include "core/sparklog/screen.h"

/* A stage as JobStart, StageSubmitted and StageCompleted describe it. */
struct stage_info {
    int64_t id;
    int64_t attempt;
    struct json_text name;
    int64_t tasks;
    struct strview parents;
    int64_t submitted;
    int64_t completed;
    struct json_text failure;
};

static const struct stage_info nothing = {-1,        0,       {NULL, 0, false}, RUN_UNKNOWN,
                                          {NULL, 0}, NO_TIME, NO_TIME,          {NULL, 0, false}};

static const struct json_field info_fields[] = {
    JSON_FIELD("Stage ID", JSON_INT, struct stage_info, id),
    JSON_FIELD("Stage Attempt ID", JSON_INT, struct stage_info, attempt),
    JSON_FIELD("Stage Name", JSON_TEXT, struct stage_info, name),
    JSON_FIELD("Number of Tasks", JSON_INT, struct stage_info, tasks),
    JSON_FIELD("Parent IDs", JSON_RAW, struct stage_info, parents),
    JSON_FIELD("Submission Time", JSON_INT, struct stage_info, submitted),
    JSON_FIELD("Completion Time", JSON_INT, struct stage_info, completed),
    JSON_FIELD("Failure Reason", JSON_TEXT, struct stage_info, failure),
};
static const struct json_shape info_shape = JSON_SHAPE(info_fields);

static const struct json_field stage_fields[] = {
    JSON_INSIDE("Stage Info", info_shape),
};
static const struct json_shape stage_shape = JSON_SHAPE(stage_fields);

/* Parents that do not come before their stage would close a circle; Spark never numbers so. */
static enum pv_code
add_parent(struct sparklog *log, struct stage *stage, int64_t id, struct pv_error *err)
{
    if (id < 0 || id >= stage->id) {
        log->notices[NOTICE_LATER_PARENT]++;
        return PV_OK;
    }
    for (size_t i = 0; i < stage->n_parents; i++) {
        if (stage->parents[i] == id)
            return PV_OK;
    }
    if (stage->n_parents >= log->limits.stages)
        return pv_fail(err, PV_E_LIMIT, "a stage has more than %zu parents", log->limits.stages);
    void *parents = stage->parents;
    enum pv_code code = budget_grow(&log->budget, &parents, &stage->parents_capacity,
                                    stage->n_parents + 1, sizeof *stage->parents, err);
    if (code != PV_OK)
        return code;
    stage->parents = parents;
    stage->parents[stage->n_parents++] = id;
    return PV_OK;
}

static enum pv_code
take_parents(struct sparklog *log, struct stage *stage, struct strview raw, struct pv_error *err)
{
    struct json json = json_over(raw);
    bool started = false;
    while (raw.at != NULL && json_next_element(&json, &started)) {
        int64_t id;
        if (!json_read_int(&json, &id))
            continue;
        enum pv_code code = add_parent(log, stage, id, err);
        if (code != PV_OK)
            return code;
    }
    return PV_OK;
}

static enum pv_code
take_name(struct sparklog *log, struct stage *stage, struct json_text text, struct pv_error *err)
{
    char name[SCREEN_NAME_MAX];
    size_t n = screen_name(text, name);
    if (n == 0)
        return PV_OK;
    void *copy = stage->name;
    enum pv_code code = budget_grow(&log->budget, &copy, &stage->name_capacity, n, 1, err);
    if (code != PV_OK)
        return code;
    stage->name = copy;
    stage->n_name = n;
    memcpy(stage->name, name, n);
    return PV_OK;
}

/* What every description says alike; the first one that says it counts. */
static enum pv_code describe(struct sparklog *log,
                             const struct stage_info *info,
                             struct stage **stage,
                             struct pv_error *err)
{
    enum pv_code code = sparklog_get_stage(log, info->id, stage, err);
    if (code != PV_OK)
        return code;
    if ((*stage)->tasks_planned < 0)
        (*stage)->tasks_planned = info->tasks;
    if ((*stage)->n_parents == 0)
        code = take_parents(log, *stage, info->parents, err);
    if (code == PV_OK && (*stage)->name == NULL && info->name.at != NULL)
        code = take_name(log, *stage, info->name, err);
    return code;
}

static enum pv_code get_attempt(struct sparklog *log,
                                struct stage *stage,
                                int64_t id,
                                struct attempt **attempt,
                                struct pv_error *err)
{
    for (size_t i = stage->n_attempts; i > 0; i--) {
        *attempt = &stage->attempts[i - 1];
        if ((*attempt)->id == id)
            return PV_OK;
    }
    /* The stage itself was counted as its first attempt. */
    if (stage->n_attempts > 0 && log->n_attempts >= log->limits.stages)
        return pv_fail(err, PV_E_LIMIT, "the log holds more than %zu stages", log->limits.stages);
    void *attempts = stage->attempts;
    enum pv_code code = budget_grow(&log->budget, &attempts, &stage->attempts_capacity,
                                    stage->n_attempts + 1, sizeof *stage->attempts, err);
    if (code != PV_OK)
        return code;
    stage->attempts = attempts;
    log->n_attempts += stage->n_attempts > 0;
    *attempt = &stage->attempts[stage->n_attempts++];
    **attempt = (struct attempt){id, NO_TIME, NO_TIME, false, false};
    return PV_OK;
}

static void see_submission(struct sparklog *log, struct attempt *attempt, int64_t ms)
{
    if (ms == NO_TIME)
        return;
    ms = sparklog_see_time(log, ms);
    if (ms == NO_TIME)
        return;
    attempt->submitted_ms = ms;
    if (log->first_stage_ms == NO_TIME || ms < log->first_stage_ms)
        log->first_stage_ms = ms;
}

/* Read a stage event up to its attempt; *attempt stays NULL when the line tells of no stage. */
static enum pv_code take_stage(struct sparklog *log,
                               struct json *line,
                               struct stage_info *info,
                               struct attempt **attempt,
                               struct pv_error *err)
{
    *info = nothing;
    if (!events_read(line, &stage_shape, info))
        return PV_OK;
    if (info->id < 0) {
        line->damaged = true;
        return PV_OK;
    }
    struct stage *stage;
    enum pv_code code = describe(log, info, &stage, err);
    if (code != PV_OK)
        return code;
    stage->ran = true;
    code = get_attempt(log, stage, info->attempt, attempt, err);
    if (code == PV_OK)
        see_submission(log, *attempt, info->submitted);
    return code;
}

enum pv_code event_stage_submitted(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct stage_info info;
    struct attempt *attempt = NULL;
    return take_stage(log, line, &info, &attempt, err);
}

enum pv_code event_stage_completed(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct stage_info info;
    struct attempt *attempt = NULL;
    enum pv_code code = take_stage(log, line, &info, &attempt, err);
    if (code != PV_OK || attempt == NULL)
        return code;
    attempt->completed = true;
    attempt->failed = info.failure.at != NULL;
    attempt->completed_ms = sparklog_see_time(log, info.completed);
    if (attempt->failed)
        log->stages_failed++;
    else
        log->stages_completed++;
    return PV_OK;
}

struct job_start {
    int64_t submitted;
    struct strview stages;
    struct strview stage_ids;
};

static const struct json_field job_start_fields[] = {
    JSON_FIELD("Submission Time", JSON_INT, struct job_start, submitted),
    JSON_FIELD("Stage Infos", JSON_RAW, struct job_start, stages),
    JSON_FIELD("Stage IDs", JSON_RAW, struct job_start, stage_ids),
};
static const struct json_shape job_start_shape = JSON_SHAPE(job_start_fields);

static bool are_sound(struct strview infos)
{
    struct json json = json_over(infos);
    bool started = false;
    while (json_next_element(&json, &started)) {
        struct stage_info info;
        (void)json_read_object(&json, &info_shape, &info);
    }
    return !json.damaged;
}

/* Only the description: whether a stage of a job runs is seen by its own events. */
static enum pv_code take_infos(struct sparklog *log, struct strview raw, struct pv_error *err)
{
    struct json json = json_over(raw);
    bool started = false;
    while (json_next_element(&json, &started)) {
        struct stage_info info = nothing;
        struct stage *stage;
        if (!json_read_object(&json, &info_shape, &info) || info.id < 0)
            continue;
        enum pv_code code = describe(log, &info, &stage, err);
        if (code != PV_OK)
            return code;
    }
    return PV_OK;
}

/* Spark 1.0 to 1.1 give the ids alone. */
static enum pv_code take_ids(struct sparklog *log, struct strview raw, struct pv_error *err)
{
    struct json json = json_over(raw);
    bool started = false;
    while (json_next_element(&json, &started)) {
        int64_t id;
        struct stage *stage;
        if (!json_read_int(&json, &id) || id < 0)
            continue;
        enum pv_code code = sparklog_get_stage(log, id, &stage, err);
        if (code != PV_OK)
            return code;
    }
    return PV_OK;
}

enum pv_code event_job_start(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct job_start event = {NO_TIME, {NULL, 0}, {NULL, 0}};
    if (!events_read(line, &job_start_shape, &event))
        return PV_OK;
    if (event.stages.at != NULL && !are_sound(event.stages)) {
        line->damaged = true;
        return PV_OK;
    }
    log->jobs++;
    if (event.submitted != NO_TIME)
        (void)sparklog_see_time(log, event.submitted);
    if (event.stages.at != NULL)
        return take_infos(log, event.stages, err);
    return event.stage_ids.at == NULL ? PV_OK : take_ids(log, event.stage_ids, err);
}

struct job_end {
    int64_t completed;
    struct json_text result;
};

static const struct json_field result_fields[] = {
    JSON_FIELD("Result", JSON_TEXT, struct job_end, result),
};
static const struct json_shape result_shape = JSON_SHAPE(result_fields);

static const struct json_field job_end_fields[] = {
    JSON_FIELD("Completion Time", JSON_INT, struct job_end, completed),
    JSON_INSIDE("Job Result", result_shape),
};
static const struct json_shape job_end_shape = JSON_SHAPE(job_end_fields);

enum pv_code event_job_end(struct sparklog *log, struct json *line, struct pv_error *err)
{
    (void)err;
    struct job_end event = {NO_TIME, {NULL, 0, false}};
    if (!events_read(line, &job_end_shape, &event))
        return PV_OK;
    if (event.completed != NO_TIME)
        (void)sparklog_see_time(log, event.completed);
    if (event.result.at != NULL && !json_text_is(event.result, strview_of("JobSucceeded")))
        log->notices[NOTICE_FAILED_JOB]++;
    return PV_OK;
}
