#include "core/workload/google_jobs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/plural.h"

enum { ID_DIGITS = 24 };

static const int64_t IDLE_US = INT64_C(3600) * 1000000;

/* When a task that is open began to run; and what it is otherwise. */
enum { NOT_OPEN = -1, PENDING = -2, UNKNOWN_START = -3 };

/* Tasks whose starts become valid together: one event of a task with a high index may not cost as much
 * as events of all tasks before it. */
enum { BLOCK_TASKS = 8, WORD_BITS = 64 };

/* A job with open tasks, or without for less than an hour. */
struct google_job {
    int64_t id;
    int64_t arrival_us;
    int64_t idle_since_us;
    uint32_t previous, next; /* among idle jobs; next also among free ones */
    uint32_t open;           /* tasks */
    uint32_t n_finished;
    size_t started_capacity;
    size_t valid_capacity;
    size_t finished_capacity;
    size_t n_valid;
    int64_t *started_us; /* of each task by its index, NOT_OPEN, PENDING or UNKNOWN_START */
    uint64_t *valid;     /* n_valid words: a bit for each block, whether its starts are valid */
    double *finished_s;  /* durations, in order of finish */
};

void google_trace_init(struct google_trace *trace)
{
    trace->free_jobs = trace->first_idle = trace->last_idle = GOOGLE_NONE;
    trace->now_us = 0;
    for (size_t i = 0; i < sizeof trace->columns / sizeof *trace->columns; i++)
        trace->columns[i] = -1;
}

/* --- idle jobs --- */

static void become_idle(struct google_trace *trace, uint32_t index)
{
    struct google_job *job = &trace->jobs[index];
    job->idle_since_us = trace->now_us;
    job->previous = trace->last_idle;
    job->next = GOOGLE_NONE;
    if (trace->last_idle == GOOGLE_NONE)
        trace->first_idle = index;
    else
        trace->jobs[trace->last_idle].next = index;
    trace->last_idle = index;
}

static void stop_idling(struct google_trace *trace, uint32_t index)
{
    struct google_job *job = &trace->jobs[index];
    if (job->previous == GOOGLE_NONE)
        trace->first_idle = job->next;
    else
        trace->jobs[job->previous].next = job->next;
    if (job->next == GOOGLE_NONE)
        trace->last_idle = job->previous;
    else
        trace->jobs[job->next].previous = job->previous;
}

/* --- jobs that end --- */

static enum pv_code
hand_on(struct workload_import *import, const struct google_job *source, struct pv_error *err)
{
    char id[ID_DIGITS];
    (void)snprintf(id, sizeof id, "%" PRId64, source->id);
    struct workload_job job = {.name = strview_of(id),
                               .arrival_s = (double)source->arrival_us / 1e6,
                               .input_bytes = (double)NAN,
                               .predicted_size_s = (double)NAN};
    if (source->n_finished == 0) {
        import->google->empty_jobs++;
        return PV_OK;
    }
    trace_begin_job(import);
    for (uint32_t i = 0; i < source->n_finished; i++)
        PV_TRY(trace_add_tasks(import, WORKLOAD_TASKS, source->finished_s[i], 1, err));
    return trace_end_job(import, &job, err);
}

static void free_arrays(struct workload_import *import, struct google_job *job)
{
    budget_free(&import->budget, job->started_us, job->started_capacity, sizeof *job->started_us);
    budget_free(&import->budget, job->valid, job->valid_capacity, sizeof *job->valid);
    budget_free(&import->budget, job->finished_s, job->finished_capacity, sizeof *job->finished_s);
    import->google->held_tasks -= job->started_capacity + job->finished_capacity;
    job->started_us = NULL;
    job->valid = NULL;
    job->finished_s = NULL;
    job->started_capacity = job->valid_capacity = job->finished_capacity = 0;
    job->n_valid = 0;
}

static enum pv_code end_job(struct workload_import *import, uint32_t index, struct pv_error *err)
{
    struct google_trace *trace = import->google;
    struct google_job *job = &trace->jobs[index];
    PV_TRY(hand_on(import, job, err));
    free_arrays(import, job);
    idmap_remove(&trace->by_id, job->id);
    job->next = trace->free_jobs;
    trace->free_jobs = index;
    return PV_OK;
}

static enum pv_code end_idle_jobs(struct workload_import *import, struct pv_error *err)
{
    struct google_trace *trace = import->google;
    while (trace->first_idle != GOOGLE_NONE &&
           trace->now_us - trace->jobs[trace->first_idle].idle_since_us > IDLE_US) {
        uint32_t index = trace->first_idle;
        stop_idling(trace, index);
        PV_TRY(end_job(import, index, err));
    }
    return PV_OK;
}

/* --- tasks --- */

/* Room in an array of a job, counted. */
#define HOLD(import, job, items, capacity, need, err)                                              \
    hold((import), (void *)&(job)->items, &(job)->capacity, (need), sizeof *(job)->items, (err))

static enum pv_code hold(struct workload_import *import,
                         void *items_address,
                         size_t *capacity,
                         size_t need,
                         size_t size,
                         struct pv_error *err)
{
    size_t before = *capacity;
    uint64_t most = import->limits.open_tasks;
    if (need <= before)
        return PV_OK;
    if (need - before > most || import->google->held_tasks > most - (need - before))
        return trace_fail(import, err, PV_E_LIMIT,
                          "jobs that have not ended hold more than %" PRIu64
                          " task%s (workload_open_tasks_max)",
                          most, PLURAL(most));
    PV_TRY(budget_grow_bytes(&import->budget, items_address, capacity, need, size, err));
    import->google->held_tasks += *capacity - before;
    return PV_OK;
}

/* The job of an event; one that begins with it arrives now. */
static enum pv_code
job_of(struct workload_import *import, int64_t id, uint32_t *index, struct pv_error *err)
{
    struct google_trace *trace = import->google;
    const uint32_t *found = idmap_find(&trace->by_id, id);
    if (found != NULL) {
        *index = *found;
        return PV_OK;
    }
    if (trace->free_jobs != GOOGLE_NONE) {
        *index = trace->free_jobs;
        trace->free_jobs = trace->jobs[*index].next;
    } else {
        PV_TRY(budget_grow(&import->budget, trace->jobs, trace->jobs_capacity, trace->n_jobs + 1,
                           err));
        *index = (uint32_t)trace->n_jobs++;
    }
    trace->jobs[*index] = (struct google_job){.id = id, .arrival_us = trace->now_us};
    become_idle(trace, *index);
    return idmap_insert(&trace->by_id, &import->budget, id, *index, err);
}

static bool is_valid(const struct google_job *job, uint32_t task)
{
    size_t block = task / BLOCK_TASKS;
    return block / WORD_BITS < job->n_valid &&
           (job->valid[block / WORD_BITS] >> block % WORD_BITS & 1) != 0;
}

/* Room for the start of a task; those of its block are NOT_OPEN unless they are valid. */
static enum pv_code hold_start(struct workload_import *import,
                               struct google_job *job,
                               uint32_t task,
                               struct pv_error *err)
{
    size_t block = task / BLOCK_TASKS;
    size_t word = block / WORD_BITS;
    if (is_valid(job, task))
        return PV_OK;
    PV_TRY(HOLD(import, job, started_us, started_capacity, (block + 1) * BLOCK_TASKS, err));
    PV_TRY(budget_grow(&import->budget, job->valid, job->valid_capacity, word + 1, err));
    while (job->n_valid <= word)
        job->valid[job->n_valid++] = 0;
    for (size_t i = 0; i < BLOCK_TASKS; i++)
        job->started_us[block * BLOCK_TASKS + i] = NOT_OPEN;
    job->valid[word] |= UINT64_C(1) << block % WORD_BITS;
    return PV_OK;
}

/* An open task of a job. */
static enum pv_code
open_task(struct workload_import *import, uint32_t index, uint32_t task, struct pv_error *err)
{
    struct google_trace *trace = import->google;
    struct google_job *job = &trace->jobs[index];
    PV_TRY(hold_start(import, job, task, err));
    if (job->started_us[task] != NOT_OPEN)
        return PV_OK;
    if (job->open++ == 0)
        stop_idling(trace, index);
    job->started_us[task] = PENDING;
    return PV_OK;
}

static enum pv_code finish_task(struct workload_import *import,
                                struct google_job *job,
                                int64_t started_us,
                                struct pv_error *err)
{
    struct google_trace *trace = import->google;
    int64_t took_us = trace->now_us - started_us;
    if (started_us < 0) {
        trace->without_start++;
        return PV_OK;
    }
    PV_TRY(HOLD(import, job, finished_s, finished_capacity, (size_t)job->n_finished + 1, err));
    trace->instants += took_us == 0;
    job->finished_s[job->n_finished++] = (double)(took_us > 0 ? took_us : 1) / 1e6;
    return PV_OK;
}

static enum pv_code close_task(struct workload_import *import,
                               uint32_t index,
                               uint32_t task,
                               enum google_event event,
                               struct pv_error *err)
{
    struct google_trace *trace = import->google;
    struct google_job *job = &trace->jobs[index];
    int64_t started_us = is_valid(job, task) ? job->started_us[task] : NOT_OPEN;
    if (event == GOOGLE_FINISH)
        PV_TRY(finish_task(import, job, started_us, err));
    else if (started_us >= 0 || started_us == UNKNOWN_START)
        trace->ended[event]++;
    if (started_us == NOT_OPEN)
        return PV_OK;
    job->started_us[task] = NOT_OPEN;
    if (--job->open == 0)
        become_idle(trace, index);
    return PV_OK;
}

static enum pv_code
check_event(struct workload_import *import, int64_t at_us, int64_t task, struct pv_error *err)
{
    int64_t now_us = import->google->now_us;
    if (at_us < 0)
        return trace_fail(import, err, PV_E_INVALID, "the time %" PRId64 " is before 0", at_us);
    if (at_us < now_us)
        return trace_fail(import, err, PV_E_INVALID,
                          "the time %" PRId64 " is before that of the row above, %" PRId64
                          "; rows must be in order of time",
                          at_us, now_us);
    if (task < 0)
        return trace_fail(import, err, PV_E_INVALID, "a task cannot have the index %" PRId64, task);
    if ((uint64_t)task >= import->limits.job_tasks)
        return trace_fail(import, err, PV_E_LIMIT,
                          "a task has the index %" PRId64 ", and a job at most %" PRIu64
                          " task%s (workload_job_tasks_max)",
                          task, import->limits.job_tasks, PLURAL(import->limits.job_tasks));
    return PV_OK;
}

enum pv_code google_event(struct workload_import *import,
                          int64_t at_us,
                          int64_t id,
                          int64_t task,
                          enum google_event event,
                          struct pv_error *err)
{
    struct google_trace *trace = import->google;
    uint32_t job;
    /* After the trace: what ends then has not ended in it. */
    if (at_us == INT64_MAX || event == GOOGLE_OTHER)
        return PV_OK;
    PV_TRY(check_event(import, at_us, task, err));
    trace->now_us = at_us;
    PV_TRY(end_idle_jobs(import, err));
    if (event != GOOGLE_SUBMIT && event != GOOGLE_SCHEDULE) {
        const uint32_t *found = idmap_find(&trace->by_id, id);
        if (found != NULL)
            return close_task(import, *found, (uint32_t)task, event, err);
        trace->without_start += event == GOOGLE_FINISH;
        return PV_OK;
    }
    PV_TRY(job_of(import, id, &job, err));
    PV_TRY(open_task(import, job, (uint32_t)task, err));
    /* At 0 are events of before the trace: when they were is not known. */
    if (event == GOOGLE_SCHEDULE)
        trace->jobs[job].started_us[task] = at_us > 0 ? at_us : UNKNOWN_START;
    return PV_OK;
}

/* --- the end --- */

static void warn_of_count(struct findings *warnings,
                          const char *code,
                          uint64_t count,
                          const char *of_one,
                          const char *of_many)
{
    if (count == 0)
        return;
    finding_number(
        finding_add(warnings, code, "%" PRIu64 " %s", count, PLURAL_VERB(count, of_one, of_many)),
        "count", (double)count);
}

static void warn_of_attempts(const struct google_trace *trace, struct findings *warnings)
{
    uint64_t evicted = trace->ended[GOOGLE_EVICT], failed = trace->ended[GOOGLE_FAIL];
    uint64_t killed = trace->ended[GOOGLE_KILL], lost = trace->ended[GOOGLE_LOST];
    uint64_t all = evicted + failed + killed + lost;
    if (all == 0)
        return;
    struct finding *finding = finding_add(
        warnings, "attempts_not_counted",
        "%" PRIu64 " attempt%s of tasks did not finish, and what %s took is not counted: "
        "%" PRIu64 " evicted, %" PRIu64 " failed, %" PRIu64 " killed, %" PRIu64 " lost",
        all, PLURAL(all), PLURAL_VERB(all, "it", "they"), evicted, failed, killed, lost);
    finding_number(finding, "count", (double)all);
    finding_number(finding, "evicted", (double)evicted);
    finding_number(finding, "failed", (double)failed);
    finding_number(finding, "killed", (double)killed);
    finding_number(finding, "lost", (double)lost);
}

enum pv_code
google_finish(struct workload_import *import, struct findings *warnings, struct pv_error *err)
{
    struct google_trace *trace = import->google;
    while (trace->first_idle != GOOGLE_NONE) {
        uint32_t index = trace->first_idle;
        stop_idling(trace, index);
        PV_TRY(end_job(import, index, err));
    }
    for (size_t i = 0; i < trace->n_jobs; i++) {
        if (trace->jobs[i].open == 0)
            continue;
        trace->unended_tasks += trace->jobs[i].open;
        PV_TRY(hand_on(import, &trace->jobs[i], err));
    }
    warn_of_attempts(trace, warnings);
    warn_of_count(warnings, "tasks_unfinished", trace->unended_tasks,
                  "task has not ended when the trace does, and is left out",
                  "tasks have not ended when the trace does, and are left out");
    warn_of_count(warnings, "tasks_without_start", trace->without_start,
                  "task finished that was not seen to start, and is left out",
                  "tasks finished that were not seen to start, and are left out");
    warn_of_count(warnings, "jobs_without_tasks", trace->empty_jobs,
                  "job has no task that finished, and is left out",
                  "jobs have no task that finished, and are left out");
    warn_of_count(
        warnings, "durations_of_zero", trace->instants,
        "task finished in the microsecond it started in, and counts as one microsecond",
        "tasks finished in the microsecond they started in, and count as one microsecond");
    warn_of_count(warnings, "rows_passed_over", trace->other_rows,
                  "row is about a job as a whole or an alloc set, and was passed over",
                  "rows are about jobs as a whole or alloc sets, and were passed over");
    return PV_OK;
}

void google_end(struct workload_import *import)
{
    struct google_trace *trace = import->google;
    if (trace == NULL)
        return;
    for (size_t i = 0; i < trace->n_jobs; i++)
        free_arrays(import, &trace->jobs[i]);
    budget_free(&import->budget, trace->jobs, trace->jobs_capacity, sizeof *trace->jobs);
    idmap_fini(&trace->by_id, &import->budget);
}
