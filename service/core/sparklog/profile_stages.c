/*
 * The stages of a run. One entry a stage id, whatever its attempts: the work of all successful
 * tasks, the time of the attempts that succeeded as a union of intervals (of all attempts where
 * none did). A stage that a job names but that never ran was skipped.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/sparklog/profile.h"

struct interval {
    int64_t from_ms;
    int64_t to_ms;
};

static double seconds(int64_t ms)
{
    return (double)ms / 1000.0;
}

static int compare_stages(const void *a, const void *b)
{
    const struct stage *left = a;
    const struct stage *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

static int compare_tasks(const void *a, const void *b)
{
    const struct task *left = a;
    const struct task *right = b;
    if (left->index != right->index)
        return left->index < right->index ? -1 : 1;
    return (left->order > right->order) - (left->order < right->order);
}

static int compare_intervals(const void *a, const void *b)
{
    const struct interval *left = a;
    const struct interval *right = b;
    return (left->from_ms > right->from_ms) - (left->from_ms < right->from_ms);
}

/* Length of the union; sorts the intervals. */
static int64_t union_length(struct interval *intervals, size_t n)
{
    qsort(intervals, n, sizeof *intervals, compare_intervals);
    int64_t length = 0;
    int64_t reached = NO_TIME;
    for (size_t i = 0; i < n; i++) {
        int64_t from = intervals[i].from_ms > reached ? intervals[i].from_ms : reached;
        if (intervals[i].to_ms > from) {
            length += intervals[i].to_ms - from;
            reached = intervals[i].to_ms;
        }
    }
    return length;
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
        int64_t ms = sparklog_elapsed(log, attempt->submitted_ms, attempt->completed_ms);
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

static bool
set_duration(struct sparklog *log, struct stage *stage, struct arena *arena, struct run_stage *out)
{
    struct arena_mark mark = arena_mark(arena);
    struct interval *intervals = arena_array(arena, stage->n_attempts, sizeof *intervals);
    if (intervals == NULL)
        return false;
    size_t n = collect_intervals(log, stage, intervals);
    out->duration_s = n == 0 ? (double)NAN : seconds(union_length(intervals, n));
    /* Without an attempt that counts the stage still began. */
    int64_t started = n == 0 ? first_submission(stage) : intervals[0].from_ms;
    arena_rewind(arena, mark);
    bool known = started != NO_TIME && log->application.start_ms != NO_TIME;
    out->started_s =
        known ? seconds(sparklog_elapsed(log, log->application.start_ms, started)) : (double)NAN;
    return true;
}

static bool set_tasks(struct stage *stage, struct arena *arena, struct run_stage *out)
{
    out->n_tasks = (int64_t)stage->n_tasks;
    out->task_time_s = seconds(stage->task_ms);
    out->task_duration_s =
        stage->n_tasks == 0 ? (double)NAN : out->task_time_s / (double)stage->n_tasks;
    if (stage->n_tasks == 0)
        return true;
    qsort(stage->tasks, stage->n_tasks, sizeof *stage->tasks, compare_tasks);
    double *durations = arena_array(arena, stage->n_tasks, sizeof *durations);
    if (durations == NULL)
        return false;
    for (size_t i = 0; i < stage->n_tasks; i++)
        durations[i] = seconds(stage->tasks[i].duration_ms);
    out->task_durations_s = durations;
    return true;
}

static const struct stage *find(const struct sparklog *log, int64_t id)
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

static int64_t written_by_parents(const struct sparklog *log, const struct stage *stage)
{
    int64_t sum = 0;
    for (size_t i = 0; i < stage->n_parents; i++) {
        const struct stage *parent = find(log, stage->parents[i]);
        if (parent != NULL)
            sum = sparklog_add(sum, sparklog_add(parent->shuffle_written, parent->output_written));
    }
    return sum;
}

/* Shuffle records read, else input records read, else what the parents wrote. A log cannot tell "no
 * records" from "not counted", so 0 is unknown. */
static void
set_records(const struct sparklog *log, const struct stage *stage, struct run_stage *out)
{
    int64_t records = stage->shuffle_read;
    if (records == 0)
        records = stage->input_read;
    if (records == 0)
        records = written_by_parents(log, stage);
    out->input_records = records == 0 ? (double)NAN : (double)records;
    out->nominal_rate_per_s =
        stage->task_ms == 0 ? (double)NAN : out->input_records / out->task_time_s;
}

static bool set_identity(const struct stage *stage, struct arena *arena, struct run_stage *out)
{
    out->id = stage->id;
    out->skipped = !stage->ran;
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

static void set_skipped(struct run_stage *out)
{
    out->n_tasks = RUN_UNKNOWN;
    out->task_duration_s = (double)NAN;
    out->task_time_s = (double)NAN;
    out->duration_s = (double)NAN;
    out->started_s = (double)NAN;
    out->input_records = (double)NAN;
    out->nominal_rate_per_s = (double)NAN;
}

static bool
set_stage(struct sparklog *log, struct stage *stage, struct arena *arena, struct run_stage *out)
{
    if (!set_identity(stage, arena, out))
        return false;
    if (out->skipped) {
        set_skipped(out);
        return true;
    }
    if (!set_tasks(stage, arena, out) || !set_duration(log, stage, arena, out))
        return false;
    set_records(log, stage, out);
    return true;
}

/* Tasks of the stage that was submitted first (ties: lowest id), of those that have tasks. */
static int64_t problem_size(const struct sparklog *log)
{
    const struct stage *first = NULL;
    int64_t first_ms = INT64_MAX;
    for (size_t i = 0; i < log->n_stages; i++) {
        const struct stage *stage = &log->stages[i];
        int64_t ms = first_submission(stage);
        ms = ms == NO_TIME ? INT64_MAX : ms;
        if (!stage->ran || stage->tasks_planned <= 0)
            continue;
        if (first == NULL || ms < first_ms) {
            first = stage;
            first_ms = ms;
        }
    }
    return first == NULL ? RUN_UNKNOWN : first->tasks_planned;
}

/* A parent whose own description was lost with its line is there too, as one that never ran. */
static enum pv_code add_lost_parents(struct sparklog *log, struct pv_error *err)
{
    for (size_t i = 0; i < log->n_stages; i++) {
        for (size_t k = 0; k < log->stages[i].n_parents; k++) {
            struct stage *parent;
            enum pv_code code = sparklog_get_stage(log, log->stages[i].parents[k], &parent, err);
            if (code != PV_OK)
                return code;
        }
    }
    return PV_OK;
}

enum pv_code profile_build_stages(struct sparklog *log,
                                  struct arena *arena,
                                  struct run *run,
                                  struct pv_error *err)
{
    enum pv_code code = add_lost_parents(log, err);
    if (code != PV_OK)
        return code;
    if (log->n_stages > 0)
        qsort(log->stages, log->n_stages, sizeof *log->stages, compare_stages);
    run->stages = arena_calloc(arena, log->n_stages, sizeof *run->stages);
    if (run->stages == NULL)
        return pv_fail(err, PV_E_MEMORY, "not enough memory for the run");
    for (size_t i = 0; i < log->n_stages; i++) {
        if (!set_stage(log, &log->stages[i], arena, &run->stages[i]))
            return pv_fail(err, PV_E_MEMORY, "not enough memory for the run");
    }
    run->n_stages = log->n_stages;
    run->has_stages = true;
    run->problem_size = problem_size(log);
    return PV_OK;
}
