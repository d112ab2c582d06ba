/*
 * The memory that an executor has for blocks, and the blocks that it caches, where spark.eventLog.logBlockUpdates is set: one that leaves its
 * memory although its RDD was not unpersisted was dropped, to be read from disk or made again.
 */
#include <string.h>

#include "core/joblog/spark/events.h"

struct block_event {
    struct json_text executor;
    struct json_text block;
    bool in_memory;
    int64_t rdd;
    int64_t memory;  /* for blocks: on the heap and off it; -1 */
    int64_t on_heap; /* the same on the heap alone; -1: the log is of Spark 2.2 or older */
    int64_t at_ms;
};

static const struct json_field manager_fields[] = {
    JSON_FIELD("Executor ID", JSON_TEXT, struct block_event, executor)};
static const struct json_shape manager_shape = JSON_SHAPE(manager_fields);

static const struct json_field level_fields[] = {
    JSON_FIELD("Use Memory", JSON_BOOL, struct block_event, in_memory)};
static const struct json_shape level_shape = JSON_SHAPE(level_fields);

static const struct json_field info_fields[] = {
    JSON_INSIDE("Block Manager ID", manager_shape),
    JSON_FIELD("Block ID", JSON_TEXT, struct block_event, block),
    JSON_INSIDE("Storage Level", level_shape),
};
static const struct json_shape info_shape = JSON_SHAPE(info_fields);

static const struct json_field update_fields[] = {JSON_INSIDE("Block Updated Info", info_shape)};
static const struct json_shape update_shape = JSON_SHAPE(update_fields);

static const struct json_field added_fields[] = {
    JSON_INSIDE("Block Manager ID", manager_shape),
    JSON_FIELD("Maximum Memory", JSON_INT, struct block_event, memory),
    JSON_FIELD("Maximum Onheap Memory", JSON_INT, struct block_event, on_heap),
    JSON_FIELD("Timestamp", JSON_INT, struct block_event, at_ms),
};
static const struct json_shape added_shape = JSON_SHAPE(added_fields);

static const struct json_field unpersist_fields[] = {
    JSON_FIELD("RDD ID", JSON_INT, struct block_event, rdd)};
static const struct json_shape unpersist_shape = JSON_SHAPE(unpersist_fields);

/* The RDD of "rdd_12_3"; -1: it is no such block. */
static int64_t rdd_of(struct json_text block)
{
    static const char start[] = "rdd_";
    size_t n = sizeof start - 1;
    int64_t rdd = 0;
    if (block.at == NULL || block.n <= n || memcmp(block.at, start, n) != 0)
        return -1;
    for (size_t i = n; i < block.n && block.at[i] != '_'; i++) {
        if (block.at[i] < '0' || block.at[i] > '9' || i > n + 15)
            return -1;
        rdd = rdd * 10 + (block.at[i] - '0');
    }
    return rdd;
}

/* One key for an executor's copy of a block. */
static int64_t key_of(const struct block_event *event)
{
    uint64_t executor = (uint64_t)idmap_key_of(event->executor.at, event->executor.n);
    uint64_t block = (uint64_t)idmap_key_of(event->block.at, event->block.n);
    return (int64_t)(executor * UINT64_C(0x9e3779b97f4a7c15) ^ block);
}

enum pv_code event_block_updated(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct block_event event = {.rdd = -1};
    if (!events_read(line, &update_shape, &event) || event.executor.at == NULL)
        return PV_OK;
    event.rdd = rdd_of(event.block);
    if (event.rdd < 0)
        return PV_OK;
    if (log->blocks_dropped == RUN_UNKNOWN)
        log->blocks_dropped = 0;
    int64_t key = key_of(&event);
    uint32_t *held = idmap_find(&log->cached_blocks, key);
    if (held == NULL)
        return idmap_insert(&log->cached_blocks, &log->reader.budget, key, event.in_memory, err);
    if (*held != 0 && !event.in_memory && idmap_find(&log->rdds_unwanted, event.rdd) == NULL)
        log->blocks_dropped++;
    *held = event.in_memory;
    return PV_OK;
}

enum pv_code event_rdd_unpersisted(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct block_event event = {.rdd = -1};
    if (!events_read(line, &unpersist_shape, &event) || event.rdd < 0 ||
        idmap_find(&log->rdds_unwanted, event.rdd) != NULL)
        return PV_OK;
    return idmap_insert(&log->rdds_unwanted, &log->reader.budget, event.rdd, 1, err);
}

/* In local mode the driver is the only executor. */
enum pv_code event_block_manager(struct sparklog *log, struct json *line, struct pv_error *err)
{
    (void)err;
    struct block_event event = {.memory = -1, .on_heap = -1, .at_ms = NO_TIME};
    if (!events_read(line, &added_shape, &event))
        return PV_OK;
    if (event.at_ms != NO_TIME)
        (void)log_reader_see_time(&log->reader, event.at_ms);
    if (event.executor.at != NULL)
        sparklog_raise(log, &log->storage_memory[!events_is_driver(event.executor)],
                       event.on_heap >= 0 ? event.on_heap : event.memory);
    return PV_OK;
}
