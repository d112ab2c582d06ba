/* Executors come and go; what counts is how many are there at once. */
#include "core/sparklog/events.h"

struct executor {
    struct json_text id;
    int64_t timestamp;
    int64_t cores;
};

static const struct json_field info_fields[] = {
    JSON_FIELD("Total Cores", JSON_INT, struct executor, cores),
};
static const struct json_shape info_shape = JSON_SHAPE(info_fields);

static const struct json_field executor_fields[] = {
    JSON_FIELD("Timestamp", JSON_INT, struct executor, timestamp),
    JSON_FIELD("Executor ID", JSON_TEXT, struct executor, id),
    JSON_INSIDE("Executor Info", info_shape),
};
static const struct json_shape executor_shape = JSON_SHAPE(executor_fields);

static const struct executor nothing = {{NULL, 0, false}, NO_TIME, RUN_UNKNOWN};

/* An executor of that id is (not) there from now on; one that is there already changes nothing. */
static enum pv_code
set_alive(struct sparklog *log, struct json_text id, bool alive, struct pv_error *err)
{
    int64_t key = idmap_key_of(id.at, id.n);
    uint32_t *known = idmap_find(&log->executors, key);
    if (known == NULL && alive) {
        enum pv_code code = idmap_insert(&log->executors, &log->budget, key, 1, err);
        if (code != PV_OK)
            return code;
        log->executors_alive++;
    } else if (known != NULL && (*known != 0) != alive) {
        *known = alive;
        log->executors_alive += alive ? 1 : -1;
    }
    if (log->executors_alive > log->executors_most)
        log->executors_most = log->executors_alive;
    return PV_OK;
}

enum pv_code event_executor_added(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct executor event = nothing;
    if (!events_read(line, &executor_shape, &event))
        return PV_OK;
    (void)sparklog_see_time(log, event.timestamp);
    log->executors_added++;
    if (event.cores > log->cores_most)
        log->cores_most = event.cores;
    return event.id.at == NULL ? PV_OK : set_alive(log, event.id, true, err);
}

enum pv_code event_executor_removed(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct executor event = nothing;
    if (!events_read(line, &executor_shape, &event))
        return PV_OK;
    (void)sparklog_see_time(log, event.timestamp);
    return event.id.at == NULL ? PV_OK : set_alive(log, event.id, false, err);
}
