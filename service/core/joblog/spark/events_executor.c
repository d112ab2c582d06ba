/*
 * Executors come, go and are excluded; what counts is how many are there at once, in all and of
 * each resource profile, and for how long their cores were held.
 */
#include "core/joblog/spark/events.h"
#include "core/joblog/spark/exit_reason.h"

struct executor_event {
    struct json_text id;
    struct json_text host;
    int64_t timestamp;
    int64_t cores;
    int64_t profile;
    int64_t requested; /* milliseconds; Spark 3.4 and later log these two */
    int64_t registered;
    struct strview resources; /* GPUs and others that it found */
    struct json_text reason;  /* of a removal */
};

static const struct json_field info_fields[] = {
    JSON_FIELD("Host", JSON_TEXT, struct executor_event, host),
    JSON_FIELD("Total Cores", JSON_INT, struct executor_event, cores),
    JSON_FIELD("Resource Profile Id", JSON_INT, struct executor_event, profile),
    JSON_FIELD("Resources", JSON_RAW, struct executor_event, resources),
    JSON_FIELD("Registration Time", JSON_INT, struct executor_event, registered),
    JSON_FIELD("Request Time", JSON_INT, struct executor_event, requested),
};
static const struct json_shape info_shape = JSON_SHAPE(info_fields);

static const struct json_field executor_fields[] = {
    JSON_FIELD("Timestamp", JSON_INT, struct executor_event, timestamp),
    JSON_FIELD("Executor ID", JSON_TEXT, struct executor_event, id),
    JSON_INSIDE("Executor Info", info_shape),
    JSON_FIELD("Removed Reason", JSON_TEXT, struct executor_event, reason),
};
static const struct json_shape executor_shape = JSON_SHAPE(executor_fields);

static const struct executor_event nothing = {.timestamp = NO_TIME,
                                              .cores = RUN_UNKNOWN,
                                              .profile = RUN_UNKNOWN,
                                              .requested = NO_TIME,
                                              .registered = NO_TIME};

/* The executor of that id, made when it is new. */
static enum pv_code get_executor(struct sparklog *log,
                                 struct json_text id,
                                 struct executor **executor,
                                 struct pv_error *err)
{
    int64_t key = idmap_key_of(id.at, id.n);
    const uint32_t *known = idmap_find(&log->executor_at, key);
    if (known != NULL) {
        *executor = &log->executors[*known];
        return PV_OK;
    }
    if (log->n_executors >= UINT32_MAX)
        return pv_fail(err, PV_E_LIMIT, "the log holds too many executors");
    PV_TRY(budget_grow(&log->reader.budget, log->executors, log->executors_capacity,
                       log->n_executors + 1, err));
    PV_TRY(
        idmap_insert(&log->executor_at, &log->reader.budget, key, (uint32_t)log->n_executors, err));
    *executor = &log->executors[log->n_executors++];
    **executor = (struct executor){.cores = RUN_UNKNOWN,
                                   .profile = RUN_UNKNOWN,
                                   .since_ms = NO_TIME,
                                   .removed_ms = NO_TIME,
                                   .node = LOG_NODE_UNKNOWN,
                                   .startup_ms = RUN_UNKNOWN};
    return PV_OK;
}

struct profile *sparklog_get_profile(struct sparklog *log, int64_t id)
{
    for (size_t i = 0; i < log->n_profiles; i++) {
        if (log->profiles[i].id == id)
            return &log->profiles[i];
    }
    if (log->n_profiles == PROFILES_MAX) {
        log->reader.notices[NOTICE_PROFILES]++;
        return NULL;
    }
    struct profile *profile = &log->profiles[log->n_profiles++];
    *profile = (struct profile){.id = id,
                                .cores_asked = RUN_UNKNOWN,
                                .cores_most = RUN_UNKNOWN,
                                .memory_mib = RUN_UNKNOWN,
                                .task_cpus = RUN_UNKNOWN,
                                .resource = {.per_executor = RUN_UNKNOWN}};
    return profile;
}

static void count_alive(struct sparklog *log, const struct executor *executor, int64_t more)
{
    if (executor->cores > 0)
        log_nodes_hold(&log->nodes, executor->node, sparklog_times(more, executor->cores));
    log->executors_alive += more;
    if (log->executors_alive > log->executors_most)
        log->executors_most = log->executors_alive;
    struct profile *profile =
        executor->profile < 0 ? NULL : sparklog_get_profile(log, executor->profile);
    if (profile == NULL)
        return;
    profile->alive += more;
    if (profile->alive > profile->most)
        profile->most = profile->alive;
    if (executor->cores > profile->cores_most)
        profile->cores_most = executor->cores;
}

static enum pv_code
begin_lifetime(struct sparklog *log, struct executor *executor, struct pv_error *err)
{
    executor->lifetime = log->n_lifetimes;
    if (log->n_lifetimes == RUN_EXECUTOR_LIFETIMES_MAX) {
        log->reader.notices[NOTICE_EXECUTORS]++;
        return PV_OK;
    }
    PV_TRY(budget_grow(&log->reader.budget, log->lifetimes, log->lifetimes_capacity,
                       log->n_lifetimes + 1, err));
    log->lifetimes[log->n_lifetimes++] = (struct logged_lifetime){.added_ms = executor->since_ms,
                                                                  .removed_ms = NO_TIME,
                                                                  .cores = executor->cores,
                                                                  .profile = executor->profile};
    return PV_OK;
}

/* One that is there already changes nothing. */
static enum pv_code come(struct sparklog *log,
                         struct executor *executor,
                         const struct executor_event *event,
                         struct pv_error *err)
{
    executor->added = true;
    if (executor->alive)
        return PV_OK;
    PV_TRY(log_nodes_find(&log->nodes, &log->reader.budget, &log->reader.limits.privacy,
                          event->host, &executor->node, err));
    executor->alive = true;
    executor->since_ms = event->timestamp;
    executor->cores = event->cores;
    executor->profile = event->profile;
    if (event->requested > 0 && event->registered >= event->requested)
        executor->startup_ms = event->registered - event->requested;
    count_alive(log, executor, 1);
    if (executor->profile >= 0 && event->resources.at != NULL)
        events_see_addresses(sparklog_get_profile(log, executor->profile), event->resources);
    return begin_lifetime(log, executor, err);
}

enum pv_code event_executor_added(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct executor_event event = nothing;
    if (!events_read(line, &executor_shape, &event))
        return PV_OK;
    if (event.cores > EVENTS_COUNT_MAX)
        event.cores = RUN_UNKNOWN;
    event.timestamp = log_reader_see_time(&log->reader, event.timestamp);
    struct executor *executor = NULL;
    if (event.id.at != NULL)
        PV_TRY(get_executor(log, event.id, &executor, err));
    log->executors_added++;
    if (executor != NULL && executor->added && executor->since_ms == event.timestamp) {
        log->executors_added_again++;
        return PV_OK;
    }
    if (log->first_executor_ms == NO_TIME)
        log->first_executor_ms = event.timestamp;
    if (event.cores > log->cores_most)
        log->cores_most = event.cores;
    return executor == NULL ? PV_OK : come(log, executor, &event, err);
}

static void go(struct sparklog *log, struct executor *executor, int64_t at_ms, bool lost)
{
    if (!executor->alive)
        return;
    if (executor->cores > 0)
        executor->core_ms =
            log_add(executor->core_ms,
                    sparklog_times(executor->cores,
                                   log_reader_elapsed(&log->reader, executor->since_ms, at_ms)));
    executor->alive = false;
    if (executor->lifetime < log->n_lifetimes) {
        log->lifetimes[executor->lifetime].removed_ms = at_ms;
        log->lifetimes[executor->lifetime].lost = lost;
    }
    count_alive(log, executor, -1);
}

enum pv_code event_executor_removed(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct executor_event event = nothing;
    if (!events_read(line, &executor_shape, &event))
        return PV_OK;
    int64_t at_ms = log_reader_see_time(&log->reader, event.timestamp);
    struct executor *executor = NULL;
    if (event.id.at != NULL)
        PV_TRY(get_executor(log, event.id, &executor, err));
    log->executors_removed++;
    if (executor != NULL && !executor->alive && executor->removed_ms == at_ms && at_ms != NO_TIME) {
        log->executors_removed_again++;
        return PV_OK;
    }
    enum exit_reason reason = exit_reason_of(event.reason);
    log->out_of_memory_errors += reason == EXIT_OUT_OF_MEMORY;
    log->memory_limit_kills += reason == EXIT_MEMORY_LIMIT;
    log->executors_lost += reason == EXIT_LOST;
    if (executor == NULL)
        return PV_OK;
    executor->removed_ms = at_ms;
    go(log, executor, at_ms, reason == EXIT_LOST);
    return PV_OK;
}

/* Written by Spark's general mapper, so its members have other names than those above. */
struct exclusion {
    struct json_text executor;
    struct json_text host;
    int64_t time;
};

static const struct json_field exclusion_fields[] = {
    JSON_FIELD("time", JSON_INT, struct exclusion, time),
    JSON_FIELD("executorId", JSON_TEXT, struct exclusion, executor),
    JSON_FIELD("hostId", JSON_TEXT, struct exclusion, host),
};
static const struct json_shape exclusion_shape = JSON_SHAPE(exclusion_fields);

static bool read_exclusion(struct sparklog *log, struct json *line, struct exclusion *event)
{
    *event = (struct exclusion){.time = NO_TIME};
    if (!events_read(line, &exclusion_shape, event))
        return false;
    if (event->time != NO_TIME)
        (void)log_reader_see_time(&log->reader, event->time);
    return true;
}

enum pv_code event_executor_excluded(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct exclusion event;
    if (!read_exclusion(log, line, &event) || event.executor.at == NULL)
        return PV_OK;
    struct executor *executor;
    PV_TRY(get_executor(log, event.executor, &executor, err));
    log->executors_excluded += !executor->excluded;
    executor->excluded = true;
    return PV_OK;
}

enum pv_code event_node_excluded(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct exclusion event;
    if (!read_exclusion(log, line, &event) || event.host.at == NULL)
        return PV_OK;
    int64_t key = idmap_key_of(event.host.at, event.host.n);
    if (idmap_find(&log->nodes_excluded, key) != NULL)
        return PV_OK;
    return idmap_insert(&log->nodes_excluded, &log->reader.budget, key, 1, err);
}
