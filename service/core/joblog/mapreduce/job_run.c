/*
 * From what a history reported to a run: mapreduce.h says by which definitions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/history/problem_size.h"
#include "core/history/run_metrics.h"
#include "core/joblog/mapreduce/mapreduce_internal.h"

enum { US_PER_MS = 1000 };

/* The attempts of one kind, ordered by task. */
struct side {
    enum task_kind kind;
    struct job_attempt *attempts;
    size_t n;
    int64_t planned;
    int64_t succeeded;
    int64_t unsuccessful;
    int64_t killed; /* of those */
    int64_t task_ms;
    int64_t unsuccessful_ms;
    int64_t first_ms; /* launch */
    int64_t last_ms;  /* finish of a successful attempt */
    struct job_work work;
};

/* By kind and task; of one task the successful attempt that finished first comes first. */
static int compare_attempts(const void *a, const void *b)
{
    const struct job_attempt *left = a;
    const struct job_attempt *right = b;
    int order = compare_int64(left->kind, right->kind);
    if (order == 0)
        order = compare_int64(left->task, right->task);
    if (order == 0)
        order = (right->state == ATTEMPT_SUCCEEDED) - (left->state == ATTEMPT_SUCCEEDED);
    if (order == 0)
        order = compare_int64(left->finish_ms, right->finish_ms);
    return order != 0 ? order : compare_int64(left->start_ms, right->start_ms);
}

/* --- the attempts of one kind --- */

static void add_success(struct mapreduce *log, struct side *side, const struct job_attempt *attempt)
{
    log->reader.notices[NOTICE_BAD_TIME] += !attempt->launched;
    side->succeeded++;
    side->task_ms = log_add(side->task_ms, attempt->ran_ms);
    if (attempt->finish_ms != NO_TIME && attempt->finish_ms > side->last_ms)
        side->last_ms = attempt->finish_ms;
    job_work_add(&side->work, &attempt->work);
}

static void add_attempt(struct mapreduce *log, struct side *side, struct job_attempt *attempt)
{
    int64_t start_ms = attempt->start_ms;
    if (start_ms != NO_TIME && (side->first_ms == NO_TIME || start_ms < side->first_ms))
        side->first_ms = start_ms;
    attempt->ran_ms = log_reader_elapsed(&log->reader, start_ms, attempt->finish_ms);
    switch (attempt->state) {
    case ATTEMPT_SUCCEEDED:
        add_success(log, side, attempt);
        break;
    case ATTEMPT_KILLED:
    case ATTEMPT_FAILED:
        side->killed += attempt->state == ATTEMPT_KILLED;
        side->unsuccessful++;
        side->unsuccessful_ms = log_add(side->unsuccessful_ms, attempt->ran_ms);
        break;
    case ATTEMPT_RUNNING:
        break;
    }
}

/* Take the attempts of a kind from the front of *rest, which is sorted. */
static struct side take_side(struct mapreduce *log, enum task_kind kind, size_t *taken)
{
    struct side side = {.kind = kind,
                        .attempts = log->n_attempts == 0 ? NULL : log->attempts + *taken,
                        .planned = log->planned[kind],
                        .first_ms = NO_TIME,
                        .last_ms = NO_TIME,
                        .work = job_work_unknown};
    int64_t won = -1; /* the task whose successful attempt has been seen */
    for (; *taken < log->n_attempts && log->attempts[*taken].kind == kind; (*taken)++, side.n++) {
        struct job_attempt *attempt = &log->attempts[*taken];
        if (attempt->state == ATTEMPT_SUCCEEDED && attempt->task == won)
            attempt->state = ATTEMPT_KILLED; /* lost the race; its output was thrown away */
        if (attempt->state == ATTEMPT_SUCCEEDED)
            won = attempt->task;
        add_attempt(log, &side, attempt);
    }
    return side;
}

/* --- stages --- */

static bool set_tasks(const struct side *side, struct arena *arena, struct run_stage *stage)
{
    stage->n_tasks = side->succeeded;
    stage->task_time_s = log_seconds(side->task_ms);
    stage->task_duration_s = (double)NAN;
    if (side->succeeded == 0)
        return true;
    stage->task_duration_s = stage->task_time_s / (double)side->succeeded;
    double *durations = arena_array(arena, (size_t)side->succeeded, sizeof *durations);
    int64_t *nodes = arena_array(arena, (size_t)side->succeeded, sizeof *nodes);
    int64_t *bytes = arena_array(arena, (size_t)side->succeeded, sizeof *bytes);
    if (durations == NULL || nodes == NULL || bytes == NULL)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < side->n; i++) {
        const struct job_attempt *attempt = &side->attempts[i];
        if (attempt->state != ATTEMPT_SUCCEEDED)
            continue;
        durations[n] = log_seconds(attempt->ran_ms);
        nodes[n] = attempt->node == LOG_NODE_UNKNOWN ? RUN_UNKNOWN : (int64_t)attempt->node;
        bytes[n++] = job_work_read_bytes(&attempt->work);
    }
    stage->task_durations_s = durations;
    stage->task_nodes = log_known_list(nodes, n);
    stage->task_read_bytes = log_known_list(bytes, n);
    return true;
}

static void set_times(struct mapreduce *log, const struct side *side, struct run_stage *stage)
{
    stage->duration_s = (double)NAN;
    stage->started_s = (double)NAN;
    if (side->first_ms == NO_TIME)
        return;
    if (side->last_ms != NO_TIME)
        stage->duration_s =
            log_seconds(log_reader_elapsed(&log->reader, side->first_ms, side->last_ms));
    if (log->submit_ms != NO_TIME)
        stage->started_s =
            log_seconds(log_reader_elapsed(&log->reader, log->submit_ms, side->first_ms));
}

/* A history does not distinguish "no records" from "not counted", so 0 is unknown. */
static void set_records(const struct side *side, struct run_stage *stage)
{
    int64_t records = side->work.input_records;
    stage->input_records = records <= 0 ? (double)NAN : (double)records;
    stage->nominal_rate_per_s =
        side->task_ms == 0 ? (double)NAN : stage->input_records / stage->task_time_s;
}

static double seconds_known(int64_t ms)
{
    return ms < 0 ? (double)NAN : log_seconds(ms);
}

/* What a map hands to reduces is shuffled; of a job without them it is output. */
static void set_metrics(const struct side *side, bool reduces, struct run_stage *stage)
{
    const struct job_work *work = &side->work;
    struct run_metrics *metrics = &stage->metrics;
    bool shuffles = side->kind == TASK_MAP && reduces;
    stage->attempts = 1;
    stage->tasks_failed = side->unsuccessful;
    metrics->input_bytes = work->input_bytes;
    metrics->output_bytes = work->output_bytes;
    if (shuffles)
        metrics->shuffle_write_records = work->output_records;
    else
        metrics->output_records = work->output_records;
    metrics->shuffle_write_bytes = work->shuffle_write_bytes;
    metrics->shuffle_read_bytes = work->shuffle_read_bytes;
    if (side->kind == TASK_REDUCE)
        metrics->shuffle_read_records = work->input_records;
    metrics->executor_run_time_s = stage->task_time_s;
    metrics->executor_cpu_time_s = seconds_known(work->cpu_ms);
    metrics->gc_time_s = seconds_known(work->gc_ms);
}

static bool set_stage(struct mapreduce *log,
                      const struct side *side,
                      bool reduces,
                      struct arena *arena,
                      struct run_stage *stage)
{
    static const int64_t map_stage[] = {TASK_MAP};
    stage->id = (int64_t)side->kind;
    stage->name = strview_of(side->kind == TASK_MAP ? "map" : "reduce");
    run_stage_clear_log(stage);
    if (side->kind == TASK_REDUCE) {
        stage->parents = map_stage;
        stage->n_parents = 1;
    }
    if (side->n == 0) {
        run_stage_skip(stage);
        return true;
    }
    set_times(log, side, stage);
    if (!set_tasks(side, arena, stage))
        return false;
    set_records(side, stage);
    set_metrics(side, reduces, stage);
    return true;
}

/* Completed, failed or neither (skipped, or cut off by the end of the history). */
static void judge_stage(const struct mapreduce *log, const struct side *side, struct run *run)
{
    if (side->n == 0)
        return;
    /* A job may succeed although some of its tasks were allowed to fail. */
    bool complete =
        (log->ended && log->succeeded) || (side->planned > 0 && side->succeeded >= side->planned);
    run->stages_completed += complete;
    run->stages_failed += !complete && log->ended;
}

static bool build_stages(struct mapreduce *log,
                         const struct side sides[TASK_KINDS],
                         struct arena *arena,
                         struct run *run)
{
    run->stages = arena_calloc(arena, TASK_KINDS, sizeof *run->stages);
    if (run->stages == NULL)
        return false;
    run->has_stages = true;
    bool reduces = sides[TASK_REDUCE].n > 0 || sides[TASK_REDUCE].planned > 0;
    bool maps = reduces || sides[TASK_MAP].n > 0 || sides[TASK_MAP].planned > 0;
    size_t n = reduces ? 2 : maps;
    for (size_t i = 0; i < n; i++) {
        if (!set_stage(log, &sides[i], reduces, arena, &run->stages[run->n_stages++]))
            return false;
        judge_stage(log, &sides[i], run);
    }
    return true;
}

/* --- the job --- */

/* Of the run, over its stages. */
static void sum_metrics(struct run *run)
{
#define ADD_COUNT(name)                                                                            \
    if (from->name >= 0)                                                                           \
        sum->name = sum->name < 0 ? from->name : log_add(sum->name, from->name);
#define ADD_SECONDS(name)                                                                          \
    if (!isnan(from->name))                                                                        \
        sum->name = isnan(sum->name) ? from->name : sum->name + from->name;
    struct run_metrics *sum = &run->metrics;
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_metrics *from = &run->stages[i].metrics;
        RUN_METRICS(ADD_COUNT, ADD_SECONDS)
    }
#undef ADD_COUNT
#undef ADD_SECONDS
}

/* Time in which some attempt of a stage was to run: the two may overlap. */
static double stage_time(const struct run *run)
{
    double reached = 0;
    double time = (double)NAN;
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        if (isnan(stage->started_s) || isnan(stage->duration_s))
            continue;
        double from = stage->started_s > reached ? stage->started_s : reached;
        double to = stage->started_s + stage->duration_s;
        time = (isnan(time) ? 0 : time) + (to > from ? to - from : 0);
        reached = to > reached ? to : reached;
    }
    return time;
}

static void
set_figures(const struct mapreduce *log, const struct side sides[TASK_KINDS], struct run *run)
{
    run->tasks_killed = sides[TASK_MAP].killed + sides[TASK_REDUCE].killed;
    run->tasks_resubmitted = log->lost;
    run->tasks_speculative = log->speculative;
    run->core_s = run->task_time_s + run->failed_task_time_s; /* a container, a core */
    run->stage_time_s = stage_time(run);
    sum_metrics(run);
}

static void count_waits(struct mapreduce *log, const struct side sides[TASK_KINDS])
{
    const struct side *reduces = &sides[TASK_REDUCE];
    for (size_t i = 0; i < reduces->n; i++) {
        const struct job_attempt *attempt = &reduces->attempts[i];
        log->reader.notices[NOTICE_WAITED] += attempt->state == ATTEMPT_SUCCEEDED &&
                                              attempt->start_ms != NO_TIME &&
                                              attempt->start_ms < sides[TASK_MAP].last_ms;
    }
}

static void set_counts(const struct side sides[TASK_KINDS], struct run *run)
{
    int64_t task_ms = 0;
    int64_t unsuccessful_ms = 0;
    for (size_t i = 0; i < TASK_KINDS; i++) {
        run->tasks_succeeded += sides[i].succeeded;
        run->tasks_failed += sides[i].unsuccessful;
        task_ms = log_add(task_ms, sides[i].task_ms);
        unsuccessful_ms = log_add(unsuccessful_ms, sides[i].unsuccessful_ms);
    }
    run->jobs = 1;
    run->task_time_s = log_seconds(task_ms);
    run->failed_task_time_s = log_seconds(unsuccessful_ms);
}

static int64_t first_launch(const struct side sides[TASK_KINDS])
{
    int64_t first = sides[TASK_MAP].first_ms;
    int64_t reduce = sides[TASK_REDUCE].first_ms;
    return first == NO_TIME || (reduce != NO_TIME && reduce < first) ? reduce : first;
}

static void
set_job_times(struct mapreduce *log, const struct side sides[TASK_KINDS], struct run *run)
{
    int64_t submit = log->submit_ms;
    int64_t launch = first_launch(sides);
    run->started_us = submit == NO_TIME ? RUN_NO_INSTANT : submit * US_PER_MS;
    run->duration_s = (double)NAN;
    run->initialization_s = (double)NAN;
    if (submit == NO_TIME)
        return;
    run->duration_s =
        log_seconds(log_reader_elapsed(&log->reader, submit, job_containers_end_ms(log)));
    if (launch != NO_TIME)
        run->initialization_s = log_seconds(log_reader_elapsed(&log->reader, submit, launch));
}

static bool set_identity(const struct mapreduce *log, struct arena *arena, struct run *run)
{
    return log_text_copy(arena, log->job_id, &run->spark_application_id) &&
           log_text_copy(arena, log->job_name, &run->log_name);
}

enum pv_code
job_run_build(struct log_reader *reader, struct arena *arena, struct run *run, struct pv_error *err)
{
    struct mapreduce *log = (struct mapreduce *)reader;
    /* The job is named before its first attempt. */
    bool worked = log->n_attempts > 0 || log->ended;
    if (!log->named && (reader->notices[NOTICE_TRUNCATED] > 0 || !worked))
        return log_reader_refuse_cut(reader, err);
    if (!log->named) {
        (void)pv_fault(
            err, PV_PLACE_POINTER, "", "no_application_start",
            "the body holds the history of a MapReduce job without JOB_SUBMITTED: lines at "
            "its beginning are missing or damaged. Send the whole log");
        return PV_E_INVALID;
    }
    if (log->n_attempts > 0)
        qsort(log->attempts, log->n_attempts, sizeof *log->attempts, compare_attempts);
    size_t taken = 0;
    struct side maps = take_side(log, TASK_MAP, &taken);
    struct side sides[TASK_KINDS] = {maps, take_side(log, TASK_REDUCE, &taken)};
    struct run built = {.recorded_us = RUN_NO_INSTANT,
                        .from_log = true,
                        .ended = log->ended,
                        .succeeded = log->ended && log->succeeded};
    run_clear_figures(&built);
    log->reader.notices[NOTICE_NO_END] = !log->ended;
    set_job_times(log, sides, &built);
    set_counts(sides, &built);
    count_waits(log, sides);
    /* Warnings last: what was built before may have added some. */
    if (!job_containers_count(log, arena, &built) || !build_stages(log, sides, arena, &built) ||
        !set_identity(log, arena, &built) || !log_reader_warn(reader, arena, &built))
        return pv_no_memory(err);
    set_figures(log, sides, &built);
    built.problem_size = problem_size_of_run(
        &built, &(struct size_measure){.kind = SIZE_INPUT_BLOCKS}, &built.problem_size_measure);
    *run = built;
    return PV_OK;
}
