/* Stages and their attempts. */
#include <string.h>

#include "base/plural.h"
#include "core/joblog/common/privacy.h"
#include "core/joblog/spark/events.h"

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
    int64_t resource_profile;
    struct strview rdds;
};

static const struct stage_info nothing = {.id = -1,
                                          .tasks = RUN_UNKNOWN,
                                          .submitted = NO_TIME,
                                          .completed = NO_TIME,
                                          .resource_profile = RUN_UNKNOWN};

static const struct json_field info_fields[] = {
    JSON_FIELD("Stage ID", JSON_INT, struct stage_info, id),
    JSON_FIELD("Stage Attempt ID", JSON_INT, struct stage_info, attempt),
    JSON_FIELD("Stage Name", JSON_TEXT, struct stage_info, name),
    JSON_FIELD("Number of Tasks", JSON_INT, struct stage_info, tasks),
    JSON_FIELD("Parent IDs", JSON_RAW, struct stage_info, parents),
    JSON_FIELD("Submission Time", JSON_INT, struct stage_info, submitted),
    JSON_FIELD("Completion Time", JSON_INT, struct stage_info, completed),
    JSON_FIELD("Failure Reason", JSON_TEXT, struct stage_info, failure),
    JSON_FIELD("Resource Profile Id", JSON_INT, struct stage_info, resource_profile),
    JSON_FIELD("RDD Info", JSON_RAW, struct stage_info, rdds),
};
static const struct json_shape info_shape = JSON_SHAPE(info_fields);

/* An RDD of a stage's lineage, back to the shuffles that the stage reads. */
struct rdd_info {
    int64_t id;
    bool in_memory; /* is to be cached there */
    bool barrier;
};

static const struct json_field level_fields[] = {
    JSON_FIELD("Use Memory", JSON_BOOL, struct rdd_info, in_memory),
};
static const struct json_shape level_shape = JSON_SHAPE(level_fields);

static const struct json_field rdd_fields[] = {
    JSON_FIELD("RDD ID", JSON_INT, struct rdd_info, id),
    JSON_INSIDE("Storage Level", level_shape),
    JSON_FIELD("Barrier", JSON_BOOL, struct rdd_info, barrier),
};
static const struct json_shape rdd_shape = JSON_SHAPE(rdd_fields);

static const struct json_field stage_fields[] = {
    JSON_INSIDE("Stage Info", info_shape),
};
static const struct json_shape stage_shape = JSON_SHAPE(stage_fields);

/* Parents that do not come before their stage would close a circle; Spark never numbers so. */
static enum pv_code
add_parent(struct sparklog *log, struct stage *stage, int64_t id, struct pv_error *err)
{
    if (id < 0 || id >= stage->id) {
        log->reader.notices[NOTICE_LATER_PARENT]++;
        return PV_OK;
    }
    for (size_t i = 0; i < stage->n_parents; i++) {
        if (stage->parents[i] == id)
            return PV_OK;
    }
    if (stage->n_parents >= log->reader.limits.stages)
        return pv_fail(err, PV_E_LIMIT, "a stage has more than %zu parents",
                       log->reader.limits.stages);
    PV_TRY(budget_grow(&log->reader.budget, stage->parents, stage->parents_capacity,
                       stage->n_parents + 1, err));
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
        if (json_read_int(&json, &id))
            PV_TRY(add_parent(log, stage, id, err));
    }
    return PV_OK;
}

static enum pv_code
take_name(struct sparklog *log, struct stage *stage, struct json_text text, struct pv_error *err)
{
    char name[SCREEN_NAME_MAX];
    size_t n = privacy_stage_name(&log->reader.limits.privacy, text, name);
    if (n == 0)
        return PV_OK;
    PV_TRY(budget_grow(&log->reader.budget, stage->name, stage->name_capacity, n, err));
    stage->n_name = n;
    memcpy(stage->name, name, n);
    return PV_OK;
}

/* What every description says alike; the first one that says it counts. */
static enum pv_code events_stage_describe(struct sparklog *log,
                                          const struct stage_info *info,
                                          struct stage **stage,
                                          struct pv_error *err)
{
    PV_TRY(sparklog_get_stage(log, info->id, stage, err));
    if ((*stage)->tasks_planned < 0)
        (*stage)->tasks_planned = info->tasks;
    if ((*stage)->resource_profile < 0 && info->resource_profile >= 0)
        (*stage)->resource_profile = info->resource_profile;
    if ((*stage)->n_parents == 0)
        PV_TRY(take_parents(log, *stage, info->parents, err));
    if ((*stage)->name == NULL && info->name.at != NULL)
        PV_TRY(take_name(log, *stage, info->name, err));
    return PV_OK;
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
    if (stage->n_attempts > 0 && log->n_attempts >= log->reader.limits.stages)
        return pv_fail(err, PV_E_LIMIT, "the log holds more than %zu stage%s",
                       log->reader.limits.stages, PLURAL(log->reader.limits.stages));
    PV_TRY(budget_grow(&log->reader.budget, stage->attempts, stage->attempts_capacity,
                       stage->n_attempts + 1, err));
    log->n_attempts += stage->n_attempts > 0;
    log->attempts_open++;
    *attempt = &stage->attempts[stage->n_attempts++];
    **attempt = (struct attempt){id, RUN_UNKNOWN, NO_TIME, NO_TIME, false, false};
    return PV_OK;
}

static void see_submission(struct sparklog *log, struct attempt *attempt, int64_t ms)
{
    if (ms == NO_TIME)
        return;
    ms = sparklog_see_work(log, ms);
    if (ms == NO_TIME)
        return;
    attempt->submitted_ms = ms;
    if (log->first_stage_ms == NO_TIME || ms < log->first_stage_ms)
        log->first_stage_ms = ms;
}

/*
 * A stage is a barrier stage if one of its RDDs is. The first stage that runs with an RDD that is to
 * be cached computes it; later stages read it. If a stage's lineage holds several of them, the latest
 * one counts: Spark does not look behind it.
 */
static enum pv_code
take_rdds(struct sparklog *log, struct stage *stage, struct strview raw, struct pv_error *err)
{
    struct json json = json_over(raw);
    bool started = false;
    int64_t latest = -1;
    while (raw.at != NULL && json_next_element(&json, &started)) {
        struct rdd_info rdd = {.id = -1};
        if (!json_read_object(&json, &rdd_shape, &rdd))
            continue;
        stage->barrier = stage->barrier || (rdd.barrier && !stage->ran);
        if (rdd.id < 0 || !rdd.in_memory || idmap_find(&log->rdds_unwanted, rdd.id) != NULL)
            continue;
        const uint32_t *maker = idmap_find(&log->rdd_cached_by, rdd.id);
        size_t own = (size_t)(stage - log->stages);
        if (maker == NULL) {
            PV_TRY(
                idmap_insert(&log->rdd_cached_by, &log->reader.budget, rdd.id, (uint32_t)own, err));
        } else if (*maker != own && rdd.id > latest) {
            latest = rdd.id;
            stage->cache_source = log->stages[*maker].id;
        }
    }
    return PV_OK;
}

/* Read a stage event up to its attempt; *attempt stays NULL when the line names no stage. */
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
    PV_TRY(events_stage_describe(log, info, &stage, err));
    PV_TRY(take_rdds(log, stage, info->rdds, err));
    stage->ran = true;
    PV_TRY(get_attempt(log, stage, info->attempt, attempt, err));
    if (info->tasks >= 0)
        (*attempt)->planned = info->tasks;
    see_submission(log, *attempt, info->submitted);
    return PV_OK;
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
    PV_TRY(take_stage(log, line, &info, &attempt, err));
    if (attempt == NULL)
        return PV_OK;
    if (attempt->completed) {
        log->reader.notices[NOTICE_DOUBLED]++;
        return PV_OK;
    }
    log->attempts_open--;
    attempt->completed = true;
    attempt->failed = info.failure.at != NULL;
    attempt->completed_ms = sparklog_see_work(log, info.completed);
    if (attempt->failed)
        log->stages_failed++;
    else
        log->stages_completed++;
    return PV_OK;
}

bool events_stages_are_sound(struct strview infos)
{
    struct json json = json_over(infos);
    bool started = false;
    while (json_next_element(&json, &started)) {
        struct stage_info info;
        (void)json_read_object(&json, &info_shape, &info);
    }
    return !json.damaged;
}

enum pv_code events_describe_stages(struct sparklog *log, struct strview raw, struct pv_error *err)
{
    struct json json = json_over(raw);
    bool started = false;
    while (json_next_element(&json, &started)) {
        struct stage_info info = nothing;
        struct stage *stage;
        if (!json_read_object(&json, &info_shape, &info) || info.id < 0)
            continue;
        PV_TRY(events_stage_describe(log, &info, &stage, err));
    }
    return PV_OK;
}
