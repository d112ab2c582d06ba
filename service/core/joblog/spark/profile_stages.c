/*
 * The stages of a run. One entry a stage id, whatever its attempts: the work of all successful
 * tasks, the time of the attempts that succeeded as a union of intervals (of all attempts where
 * none did). A stage that a job names but that never ran was skipped.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/history/problem_size.h"
#include "core/history/run_metrics.h"
#include "core/joblog/spark/profile.h"
#include "core/joblog/spark/state.h"

static int compare_stages(const void *a, const void *b)
{
    const struct stage *left = a;
    const struct stage *right = b;
    return compare_int64(left->id, right->id);
}

static bool has_success(const struct stage *stage)
{
    for (size_t i = 0; i < stage->n_attempts; i++) {
        if (stage->attempts[i].completed && !stage->attempts[i].failed)
            return true;
    }
    return false;
}

/* Intervals of the attempts that count, into room for all of them. */
static size_t
collect_intervals(struct sparklog *log, const struct stage *stage, struct interval *out)
{
    bool success = has_success(stage);
    size_t n = 0;
    for (size_t i = 0; i < stage->n_attempts; i++) {
        const struct attempt *attempt = &stage->attempts[i];
        if (!attempt->completed || (success && attempt->failed) ||
            attempt->submitted_ms == NO_TIME || attempt->completed_ms == NO_TIME)
            continue;
        int64_t ms = log_reader_elapsed(&log->reader, attempt->submitted_ms, attempt->completed_ms);
        out[n++] = (struct interval){attempt->submitted_ms, attempt->submitted_ms + ms};
    }
    return n;
}

/* When an attempt was first submitted; NO_TIME. */
static int64_t first_submission(const struct stage *stage)
{
    int64_t first = NO_TIME;
    for (size_t i = 0; i < stage->n_attempts; i++) {
        int64_t ms = stage->attempts[i].submitted_ms;
        if (ms != NO_TIME && (first == NO_TIME || ms < first))
            first = ms;
    }
    return first;
}

/* If all jobs ended well, no stage is at work any more: its end was lost. Databricks logs no end of
 * the application. */
static bool ended_in_order(const struct sparklog *log)
{
    bool ended = log->application.ended ? !log->application.interrupted : log->jobs > 0;
    return ended && log->jobs_open <= 0 && log->reader.notices[NOTICE_FAILED_JOB] == 0 &&
           log->reader.notices[NOTICE_TRUNCATED] == 0;
}

static bool lost_its_end(const struct sparklog *log, const struct attempt *attempt)
{
    return !attempt->completed && ended_in_order(log);
}

/* Ends of attempts that were lost. A stage that has tasks alone lost that of its only attempt. */
static int64_t count_lost_ends(const struct sparklog *log, const struct stage *stage)
{
    int64_t n = stage->n_attempts == 0 && ended_in_order(log);
    for (size_t i = 0; i < stage->n_attempts; i++)
        n += lost_its_end(log, &stage->attempts[i]);
    return n;
}

static bool
set_duration(struct sparklog *log, struct stage *stage, struct arena *arena, struct run_stage *out)
{
    struct arena_mark mark = arena_mark(arena);
    struct interval *intervals = arena_array(arena, stage->n_attempts, sizeof *intervals);
    if (intervals == NULL)
        return false;
    size_t n = collect_intervals(log, stage, intervals);
    out->duration_s = n == 0 || count_lost_ends(log, stage) > 0
                          ? (double)NAN
                          : log_seconds(profile_union_length(intervals, n));
    /* Without an attempt that counts the stage still began. */
    int64_t started = n == 0 ? first_submission(stage) : intervals[0].from_ms;
    arena_rewind(arena, mark);
    bool known = started != NO_TIME && log->application.start_ms != NO_TIME;
    out->started_s =
        known ? log_seconds(log_reader_elapsed(&log->reader, log->application.start_ms, started))
              : (double)NAN;
    return true;
}

/* Tasks that have an end in the log. */
static int64_t count_tasks(const struct tasks *tasks)
{
    int64_t n = 0;
    for (size_t i = 0; i < tasks->n_slots; i++)
        n += tasks->slots[i].ms >= 0;
    for (size_t i = 0; i < tasks->n_asides; i++) {
        size_t index = tasks->asides[i].index;
        n += index >= tasks->n_slots || tasks->slots[index].ms < 0;
    }
    return n;
}

/* Spark's queue of events drops some where the driver is busy: a stage that ended well has an end of
 * each of its tasks. */
static int64_t lost_of(const struct sparklog *log, const struct stage *stage)
{
    int64_t planned = stage->n_attempts == 0 && ended_in_order(log) ? stage->tasks_planned : 0;
    for (size_t i = 0; i < stage->n_attempts; i++) {
        const struct attempt *attempt = &stage->attempts[i];
        bool well = attempt->completed ? !attempt->failed : lost_its_end(log, attempt);
        if (well && attempt->planned > planned)
            planned = attempt->planned;
    }
    int64_t ended = count_tasks(&stage->tasks);
    return planned > ended ? planned - ended : 0;
}

/* What the run holds now the reader need not hold any longer: a long log has millions of tasks. */
static bool
set_tasks(struct sparklog *log, struct stage *stage, struct arena *arena, struct run_stage *out)
{
    size_t n = stage->tasks.n;
    out->n_tasks = (int64_t)n;
    out->task_time_s = log_seconds(stage->task_ms);
    out->task_duration_s = n == 0 ? (double)NAN : out->task_time_s / (double)n;
    if (n == 0)
        return true;
    struct task_lists lists = {.durations_s = arena_array(arena, n, sizeof(double)),
                               .nodes = arena_array(arena, n, sizeof(int64_t)),
                               .read_bytes = arena_array(arena, n, sizeof(int64_t))};
    if (lists.durations_s == NULL || lists.nodes == NULL || lists.read_bytes == NULL)
        return false;
    tasks_list(&stage->tasks, &lists);
    tasks_fini(&stage->tasks, &log->reader.budget);
    out->task_durations_s = lists.durations_s;
    out->task_nodes = log_known_list(lists.nodes, n);
    out->task_read_bytes = log_known_list(lists.read_bytes, n);
    return true;
}

static const struct stage *profile_stages_find(const struct sparklog *log, int64_t id)
{
    size_t low = 0;
    size_t high = log->n_stages;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->stages[middle].id == id)
            return &log->stages[middle];
        if (log->stages[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* 0 where the log does not say. */
static int64_t counted(const struct stage *stage, enum amount amount)
{
    return stage->amounts.of[amount] > 0 ? stage->amounts.of[amount] : 0;
}

static int64_t written_by_parents(const struct sparklog *log, const struct stage *stage)
{
    int64_t sum = 0;
    for (size_t i = 0; i < stage->n_parents; i++) {
        const struct stage *parent = profile_stages_find(log, stage->parents[i]);
        if (parent != NULL)
            sum = log_add(sum, log_add(counted(parent, AMOUNT_SHUFFLE_WRITE_RECORDS),
                                       counted(parent, AMOUNT_OUTPUT_RECORDS)));
    }
    return sum;
}

/* Shuffle records read, else input records read, else what the parents wrote. A log does
 * not distinguish "no records" from "not counted", so 0 is unknown. */
static void
set_records(const struct sparklog *log, const struct stage *stage, struct run_stage *out)
{
    int64_t records = counted(stage, AMOUNT_SHUFFLE_READ_RECORDS);
    if (records == 0)
        records = counted(stage, AMOUNT_INPUT_RECORDS);
    if (records == 0)
        records = written_by_parents(log, stage);
    out->input_records = records == 0 ? (double)NAN : (double)records;
    out->nominal_rate_per_s =
        stage->task_ms == 0 ? (double)NAN : out->input_records / out->task_time_s;
}

/* The sum of two of which either may be unknown. */
static int64_t sum(int64_t a, int64_t b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return log_add(a, b);
}

static double seconds_of(int64_t amount, double per_second)
{
    return amount < 0 ? (double)NAN : (double)amount / per_second;
}

static struct run_metrics metrics_of(const struct amounts *a)
{
    return (struct run_metrics){.input_bytes = a->of[AMOUNT_INPUT_BYTES],
                                .output_bytes = a->of[AMOUNT_OUTPUT_BYTES],
                                .output_records = a->of[AMOUNT_OUTPUT_RECORDS],
                                .shuffle_read_bytes = sum(a->of[AMOUNT_SHUFFLE_REMOTE_BYTES],
                                                          a->of[AMOUNT_SHUFFLE_LOCAL_BYTES]),
                                .shuffle_read_records = a->of[AMOUNT_SHUFFLE_READ_RECORDS],
                                .shuffle_write_bytes = a->of[AMOUNT_SHUFFLE_WRITE_BYTES],
                                .shuffle_write_records = a->of[AMOUNT_SHUFFLE_WRITE_RECORDS],
                                .memory_spilled_bytes = a->of[AMOUNT_MEMORY_SPILLED_BYTES],
                                .disk_spilled_bytes = a->of[AMOUNT_DISK_SPILLED_BYTES],
                                .executor_run_time_s = seconds_of(a->of[AMOUNT_RUN_MS], 1e3),
                                .executor_cpu_time_s = seconds_of(a->of[AMOUNT_CPU_NS], 1e9),
                                .gc_time_s = seconds_of(a->of[AMOUNT_GC_MS], 1e3),
                                .peak_execution_memory_bytes = a->of[AMOUNT_PEAK_EXECUTION_BYTES],
                                .peak_jvm_heap_bytes = a->of[AMOUNT_PEAK_HEAP_BYTES],
                                .peak_unified_memory_bytes = a->of[AMOUNT_PEAK_UNIFIED_BYTES],
                                .peak_storage_memory_bytes = a->of[AMOUNT_PEAK_STORAGE_BYTES],
                                .peak_off_heap_memory_bytes = a->of[AMOUNT_PEAK_OFF_HEAP_BYTES],
                                .peak_jvm_non_heap_bytes = a->of[AMOUNT_PEAK_NON_HEAP_BYTES],
                                .peak_process_memory_bytes = a->of[AMOUNT_PEAK_PROCESS_BYTES],
                                .peak_python_memory_bytes = a->of[AMOUNT_PEAK_PYTHON_BYTES],
                                .longest_task_bytes = RUN_UNKNOWN};
}

/* Over all stages. */
static struct run_metrics metrics_of_all(struct sparklog *log)
{
    struct amounts all = amounts_unknown;
    const struct stage *longest = NULL;
    for (size_t i = 0; i < log->n_stages; i++) {
        const struct stage *stage = &log->stages[i];
        sparklog_add_amounts(log, &all, &stage->amounts, true);
        if (longest == NULL || stage->longest_ms > longest->longest_ms)
            longest = stage;
    }
    struct run_metrics metrics = metrics_of(&all);
    if (longest != NULL)
        metrics.longest_task_bytes = longest->longest_bytes;
    return metrics;
}

static bool set_identity(const struct stage *stage, struct arena *arena, struct run_stage *out)
{
    out->id = stage->id;
    out->n_parents = stage->n_parents;
    if (stage->name != NULL) {
        out->name = arena_copy(arena, (struct strview){stage->name, stage->n_name});
        if (out->name.at == NULL)
            return false;
    }
    if (stage->n_parents == 0)
        return true;
    int64_t *parents = arena_array(arena, stage->n_parents, sizeof *parents);
    if (parents == NULL)
        return false;
    memcpy(parents, stage->parents, stage->n_parents * sizeof *parents);
    out->parents = parents;
    return true;
}

static bool
set_stage(struct sparklog *log, struct stage *stage, struct arena *arena, struct run_stage *out)
{
    if (!set_identity(stage, arena, out))
        return false;
    if (!stage->ran)
        run_stage_skip(out);
    out->resource_profile_id = stage->resource_profile;
    out->barrier = stage->barrier;
    out->cache_source_id = stage->cache_source;
    if (!stage->ran)
        return true;
    out->tasks_lost = lost_of(log, stage);
    log->tasks_lost += out->tasks_lost;
    log->stage_ends_lost += count_lost_ends(log, stage);
    if (!set_tasks(log, stage, arena, out) || !set_duration(log, stage, arena, out))
        return false;
    set_records(log, stage, out);
    out->attempts = (int64_t)stage->n_attempts;
    out->tasks_failed = stage->tasks_failed;
    out->metrics = metrics_of(&stage->amounts);
    out->metrics.longest_task_bytes = stage->longest_bytes;
    return true;
}

/* A parent whose own description was lost with its line is there too, as one that never ran. */
static enum pv_code add_lost_parents(struct sparklog *log, struct pv_error *err)
{
    for (size_t i = 0; i < log->n_stages; i++) {
        for (size_t k = 0; k < log->stages[i].n_parents; k++) {
            struct stage *parent;
            PV_TRY(sparklog_get_stage(log, log->stages[i].parents[k], &parent, err));
        }
    }
    return PV_OK;
}

enum pv_code profile_build_stages(struct sparklog *log,
                                  struct arena *arena,
                                  struct run *run,
                                  struct pv_error *err)
{
    PV_TRY(add_lost_parents(log, err));
    if (log->n_stages > 0)
        qsort(log->stages, log->n_stages, sizeof *log->stages, compare_stages);
    run->stages = arena_calloc(arena, log->n_stages, sizeof *run->stages);
    if (run->stages == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < log->n_stages; i++) {
        if (!set_stage(log, &log->stages[i], arena, &run->stages[i]))
            return pv_no_memory(err);
    }
    run->n_stages = log->n_stages;
    run->has_stages = true;
    run->metrics = metrics_of_all(log);
    run->jobs_missing = log->last_job >= 0 && (size_t)log->last_job >= log->n_jobs_seen;
    int64_t missing = log->last_part + 1 - log->parts;
    log->reader.notices[NOTICE_MISSING_PART] = missing > 0 ? missing : 0;
    run->compacted = missing > 0 || log->first_job > 0;
    log->reader.notices[NOTICE_COMPACTED] = run->compacted;
    run->problem_size = problem_size_of_run(run, &(struct size_measure){.kind = SIZE_INPUT_BLOCKS},
                                            &run->problem_size_measure);
    return PV_OK;
}
