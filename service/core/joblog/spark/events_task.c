/*
 * Tasks. Every successful end counts as work, also that of a task whose output was lost later
 * (Spark reports that by a second end, "Resubmitted", which counts as failed) and that of a
 * partition computed again by another attempt; killed speculative copies do not.
 */
#include <string.h>

#include "core/joblog/spark/events.h"
#include "core/joblog/spark/exit_reason.h"
#include "core/joblog/spark/memory_use.h"

#include "base/plural.h"

struct task_event {
    int64_t stage;
    struct json_text reason;
    struct json_text error; /* class of the exception that it failed by */
    struct json_text host;
    int64_t id;
    int64_t index;
    int64_t launch;
    int64_t finish;
    bool speculative;
    struct amounts amounts;
    struct memory_use memory;
    int64_t on_heap; /* peak execution memory since Spark 4; -1, as the one below */
    int64_t off_heap;
};

#define AMOUNT(name, amount) JSON_FIELD(name, JSON_INT, struct task_event, amounts.of[amount])

/* All in the order Spark writes them. */
static const struct json_field info_fields[] = {
    JSON_FIELD("Task ID", JSON_INT, struct task_event, id),
    JSON_FIELD("Index", JSON_INT, struct task_event, index),
    JSON_FIELD("Launch Time", JSON_INT, struct task_event, launch),
    JSON_FIELD("Host", JSON_TEXT, struct task_event, host),
    JSON_FIELD("Speculative", JSON_BOOL, struct task_event, speculative),
    JSON_FIELD("Finish Time", JSON_INT, struct task_event, finish),
};
static const struct json_shape info_shape = JSON_SHAPE(info_fields);

static const struct json_field reason_fields[] = {
    JSON_FIELD("Reason", JSON_TEXT, struct task_event, reason),
    JSON_FIELD("Class Name", JSON_TEXT, struct task_event, error),
};
static const struct json_shape reason_shape = JSON_SHAPE(reason_fields);

static const struct json_field memory_fields[] = {
    MEMORY_USE_FIELDS(struct task_event, memory),
};
static const struct json_shape memory_shape = JSON_SHAPE(memory_fields);

static const struct json_field shuffle_read_fields[] = {
    AMOUNT("Remote Bytes Read", AMOUNT_SHUFFLE_REMOTE_BYTES),
    AMOUNT("Local Bytes Read", AMOUNT_SHUFFLE_LOCAL_BYTES),
    AMOUNT("Total Records Read", AMOUNT_SHUFFLE_READ_RECORDS),
};
static const struct json_shape shuffle_read_shape = JSON_SHAPE(shuffle_read_fields);

static const struct json_field shuffle_write_fields[] = {
    AMOUNT("Shuffle Bytes Written", AMOUNT_SHUFFLE_WRITE_BYTES),
    AMOUNT("Shuffle Records Written", AMOUNT_SHUFFLE_WRITE_RECORDS),
};
static const struct json_shape shuffle_write_shape = JSON_SHAPE(shuffle_write_fields);

static const struct json_field input_fields[] = {
    AMOUNT("Bytes Read", AMOUNT_INPUT_BYTES),
    AMOUNT("Records Read", AMOUNT_INPUT_RECORDS),
};
static const struct json_shape input_shape = JSON_SHAPE(input_fields);

static const struct json_field output_fields[] = {
    AMOUNT("Bytes Written", AMOUNT_OUTPUT_BYTES),
    AMOUNT("Records Written", AMOUNT_OUTPUT_RECORDS),
};
static const struct json_shape output_shape = JSON_SHAPE(output_fields);

static const struct json_field metrics_fields[] = {
    AMOUNT("Executor Run Time", AMOUNT_RUN_MS),
    AMOUNT("Executor CPU Time", AMOUNT_CPU_NS),
    AMOUNT("Peak Execution Memory", AMOUNT_PEAK_EXECUTION_BYTES),
    AMOUNT("JVM GC Time", AMOUNT_GC_MS),
    AMOUNT("Memory Bytes Spilled", AMOUNT_MEMORY_SPILLED_BYTES),
    AMOUNT("Disk Bytes Spilled", AMOUNT_DISK_SPILLED_BYTES),
    JSON_INSIDE("Shuffle Read Metrics", shuffle_read_shape),
    JSON_INSIDE("Shuffle Write Metrics", shuffle_write_shape),
    JSON_INSIDE("Input Metrics", input_shape),
    JSON_INSIDE("Output Metrics", output_shape),
    /* Since Spark 4 behind the peak above; here they cost older logs least. */
    JSON_FIELD("Peak On Heap Execution Memory", JSON_INT, struct task_event, on_heap),
    JSON_FIELD("Peak Off Heap Execution Memory", JSON_INT, struct task_event, off_heap),
};
static const struct json_shape metrics_shape = JSON_SHAPE(metrics_fields);

static const struct json_field end_fields[] = {
    JSON_FIELD("Stage ID", JSON_INT, struct task_event, stage),
    JSON_INSIDE("Task End Reason", reason_shape),
    JSON_INSIDE("Task Info", info_shape),
    JSON_INSIDE("Task Executor Metrics", memory_shape),
    JSON_INSIDE("Task Metrics", metrics_shape),
};
static const struct json_shape end_shape = JSON_SHAPE(end_fields);

/* Of a start nothing else is needed. */
static const struct json_field start_info_fields[] = {
    JSON_FIELD("Launch Time", JSON_INT, struct task_event, launch),
};
static const struct json_shape start_info_shape = JSON_SHAPE(start_info_fields);

static const struct json_field start_fields[] = {
    JSON_FIELD("Stage ID", JSON_INT, struct task_event, stage),
    JSON_INSIDE("Task Info", start_info_shape),
};
static const struct json_shape start_shape = JSON_SHAPE(start_fields);

/* Read a task event and find its stage; *stage stays NULL when the line names none. */
static enum pv_code take_task(struct sparklog *log,
                              struct json *line,
                              const struct json_shape *shape,
                              struct task_event *event,
                              struct stage **stage,
                              struct pv_error *err)
{
    *event = (struct task_event){.stage = -1,
                                 .id = -1,
                                 .index = -1,
                                 .launch = NO_TIME,
                                 .finish = NO_TIME,
                                 .amounts = amounts_unknown,
                                 .memory = memory_use_unknown,
                                 .on_heap = -1,
                                 .off_heap = -1};
    if (!events_read(line, shape, event))
        return PV_OK;
    if (event->stage < 0) {
        line->damaged = true;
        return PV_OK;
    }
    PV_TRY(sparklog_get_stage(log, event->stage, stage, err));
    (*stage)->ran = true;
    event->launch = sparklog_see_work(log, event->launch);
    return PV_OK;
}

enum pv_code event_task_start(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct task_event event;
    struct stage *stage = NULL;
    return take_task(log, line, &start_shape, &event, &stage, err);
}

static enum pv_code keep_task(struct sparklog *log,
                              struct stage *stage,
                              const struct task_event *event,
                              struct task_kept task,
                              struct pv_error *err)
{
    if (log->n_tasks >= log->reader.limits.tasks)
        return pv_fail(err, PV_E_LIMIT, "the log holds more than %zu task%s",
                       log->reader.limits.tasks, PLURAL(log->reader.limits.tasks));
    PV_TRY(log_nodes_find(&log->nodes, &log->reader.budget, &log->reader.limits.privacy,
                          event->host, &task.node, err));
    enum pv_code code = tasks_add(&stage->tasks, &log->reader.budget, event->index,
                                  stage->tasks_planned, task, err);
    log->n_tasks += code == PV_OK;
    return code;
}

/* From storage and from shuffles; RUN_UNKNOWN where the log says of neither. */
static int64_t bytes_read(const struct amounts *amounts)
{
    static const enum amount sources[] = {AMOUNT_INPUT_BYTES, AMOUNT_SHUFFLE_REMOTE_BYTES,
                                          AMOUNT_SHUFFLE_LOCAL_BYTES};
    int64_t bytes = RUN_UNKNOWN;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        int64_t amount = amounts->of[sources[i]];
        if (amount >= 0)
            bytes = log_add(bytes < 0 ? 0 : bytes, amount);
    }
    return bytes;
}

static enum pv_code succeed(struct sparklog *log,
                            struct stage *stage,
                            const struct task_event *event,
                            int64_t ms,
                            struct pv_error *err)
{
    int64_t bytes = bytes_read(&event->amounts);
    PV_TRY(keep_task(log, stage, event, (struct task_kept){.ms = ms, .read_bytes = bytes}, err));
    log->tasks_succeeded++;
    log->task_ms = log_add(log->task_ms, ms);
    stage->task_ms = log_add(stage->task_ms, ms);
    if (ms > stage->longest_ms) {
        stage->longest_ms = ms;
        stage->longest_bytes = bytes;
    }
    return PV_OK;
}

static void events_task_fail(struct sparklog *log,
                             struct stage *stage,
                             const struct task_event *event,
                             int64_t ms)
{
    struct json_text reason = event->reason;
    log->tasks_failed++;
    stage->tasks_failed++;
    log->failed_task_ms = log_add(log->failed_task_ms, ms);
    log->out_of_memory_errors += exit_reason_of(event->error) == EXIT_OUT_OF_MEMORY;
    if (reason.at == NULL)
        return;
    log->tasks_killed += json_text_is(reason, strview_of("TaskKilled"));
    log->tasks_resubmitted += json_text_is(reason, strview_of("Resubmitted"));
}

/* Spark 4 logs the peaks of both kinds of memory. The older figure misses a part of them. */
static void set_peak_execution(struct task_event *event)
{
    int64_t *peak = &event->amounts.of[AMOUNT_PEAK_EXECUTION_BYTES];
    int64_t both =
        log_add(event->on_heap > 0 ? event->on_heap : 0, event->off_heap > 0 ? event->off_heap : 0);
    if (both > 0 && both > *peak)
        *peak = both;
}

/* An end of a task is logged once: a second one of the same id and kind that began at the same
 * instant is a doubled event. Ids far beyond the number of tasks are passed over. */
static enum pv_code see_end(struct sparklog *log,
                            const struct task_event *event,
                            bool succeeded,
                            bool *doubled,
                            struct pv_error *err)
{
    *doubled = false;
    if (event->id < 0 || (uint64_t)event->id >= log->reader.limits.tasks ||
        log->reader.notices[NOTICE_STARTED_AGAIN] > 0)
        return PV_OK;
    size_t at = (size_t)event->id * 2 + succeeded;
    size_t known = log->tasks_seen_capacity;
    PV_TRY(
        budget_grow(&log->reader.budget, log->tasks_seen, log->tasks_seen_capacity, at + 1, err));
    memset(log->tasks_seen + known, 0,
           (log->tasks_seen_capacity - known) * sizeof *log->tasks_seen);
    uint32_t mark =
        (uint32_t)event->launch * 31 + (uint32_t)event->index * 7 + (uint32_t)event->stage;
    mark = mark == 0 ? 1 : mark;
    *doubled = log->tasks_seen[at] == mark;
    log->tasks_seen[at] = mark;
    log->reader.notices[NOTICE_DOUBLED] += *doubled;
    return PV_OK;
}

enum pv_code event_task_end(struct sparklog *log, struct json *line, struct pv_error *err)
{
    struct task_event event;
    struct stage *stage = NULL;
    PV_TRY(take_task(log, line, &end_shape, &event, &stage, err));
    if (stage == NULL)
        return PV_OK;
    int64_t finish = sparklog_see_work(log, event.finish);
    int64_t ms = log_reader_elapsed(&log->reader, event.launch, finish);
    bool succeeded = event.reason.at != NULL && json_text_is(event.reason, strview_of("Success"));
    bool doubled;
    PV_TRY(see_end(log, &event, succeeded, &doubled, err));
    if (doubled)
        return PV_OK;
    if (succeeded)
        PV_TRY(succeed(log, stage, &event, ms, err));
    else
        events_task_fail(log, stage, &event, ms);
    log->tasks_speculative += event.speculative;
    memory_use_set_peaks(&event.memory, &event.amounts);
    set_peak_execution(&event);
    sparklog_add_amounts(log, &stage->amounts, &event.amounts, succeeded);
    return PV_OK;
}
