/* Peaks of memory that executors report apart from their tasks: logged at the end of a stage where
 * spark.eventLog.logStageExecutorMetrics is set, and of the driver in its heartbeats. */
#include "core/joblog/spark/events.h"
#include "core/joblog/spark/memory_use.h"

struct memory_event {
    struct json_text executor;
    int64_t stage;
    struct memory_use memory;
    struct strview updates;
};

static const struct json_field memory_fields[] = {
    MEMORY_USE_FIELDS(struct memory_event, memory),
};
static const struct json_shape memory_shape = JSON_SHAPE(memory_fields);

static const struct json_field stage_fields[] = {
    JSON_FIELD("Executor ID", JSON_TEXT, struct memory_event, executor),
    JSON_FIELD("Stage ID", JSON_INT, struct memory_event, stage),
    JSON_INSIDE("Executor Metrics", memory_shape),
};
static const struct json_shape stage_shape = JSON_SHAPE(stage_fields);

static const struct json_field heartbeat_fields[] = {
    JSON_FIELD("Executor ID", JSON_TEXT, struct memory_event, executor),
    JSON_FIELD("Executor Metrics Updated", JSON_RAW, struct memory_event, updates),
};
static const struct json_shape heartbeat_shape = JSON_SHAPE(heartbeat_fields);

static const struct memory_event nothing = {
    {NULL, 0, false}, -1, {-1, -1, -1, -1, -1, -1, -1, -1, -1}, {NULL, 0}};

/* Of a stage that is not known (yet) nothing is kept: it would look as if it had run. */
static void events_memory_take(struct sparklog *log, const struct memory_event *event)
{
    const uint32_t *at = event->stage < 0 ? NULL : idmap_find(&log->stage_at, event->stage);
    struct amounts peaks = amounts_unknown;
    memory_use_set_peaks(&event->memory, &peaks);
    if (events_is_driver(event->executor)) /* it writes here too, and is sized on its own */
        sparklog_raise(log, &log->driver_heap, event->memory.heap);
    else if (at != NULL)
        sparklog_add_amounts(log, &log->stages[*at].amounts, &peaks, false);
}

enum pv_code event_stage_memory(struct sparklog *log, struct json *line, struct pv_error *err)
{
    (void)err;
    struct memory_event event = nothing;
    if (events_read(line, &stage_shape, &event))
        events_memory_take(log, &event);
    return PV_OK;
}

enum pv_code event_heartbeat(struct sparklog *log, struct json *line, struct pv_error *err)
{
    (void)err;
    struct memory_event event = nothing;
    if (!events_read(line, &heartbeat_shape, &event) || event.updates.at == NULL)
        return PV_OK;
    struct json json = json_over(event.updates);
    bool started = false;
    while (json_next_element(&json, &started)) {
        struct memory_event update = nothing;
        update.executor = event.executor;
        if (json_read_object(&json, &stage_shape, &update))
            events_memory_take(log, &update);
    }
    line->damaged = json.damaged;
    return PV_OK;
}
