/* What formats of traces share (workload_import_internal.h). */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/plural.h"
#include "core/workload/number.h"
#include "core/workload/workload_import_internal.h"

static const double TIME_MOST_S = 1e12;
/* Below it single precision would no longer be off by a share of the value. */
static const double DURATION_LEAST_S = 1e-12;
static const double BYTES_MOST = 0x1p53 - 1;

enum { SHOWN_MOST = 24 /* bytes of the text at fault in a message */ };

enum pv_code(trace_fail)(const struct workload_import *import,
                         struct pv_error *err,
                         enum pv_code code,
                         const char *format,
                         ...)
{
    char message[200];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(message, sizeof message, format, values);
    va_end(values);
    if (import->given_jobs > 0)
        return pv_fail(err, code, "job %" PRIu64 ": %s", import->given_jobs, message);
    return pv_fail(err, code, "line %" PRIu64 ": %s", import->lines.count, message);
}

void trace_count_line(const struct workload_import *import, struct line_count *count)
{
    if (count->n++ == 0)
        count->first = import->lines.count;
}

/* --- a job is put together --- */

void trace_begin_job(struct workload_import *import)
{
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++) {
        import->runs[l].n = 0;
        import->runs[l].tasks = 0;
    }
}

static enum pv_code refuse_tasks(const struct workload_import *import, struct pv_error *err)
{
    uint64_t most = import->limits.job_tasks;
    return trace_fail(import, err, PV_E_LIMIT,
                      "the job has more than %" PRIu64 " task%s (workload_job_tasks_max)", most,
                      PLURAL(most));
}

enum pv_code trace_add_tasks(struct workload_import *import,
                             enum workload_list list,
                             double duration_s,
                             uint64_t count,
                             struct pv_error *err)
{
    struct run_list *runs = &import->runs[list];
    if (count > import->limits.job_tasks || runs->tasks > import->limits.job_tasks - count)
        return refuse_tasks(import, err);
    runs->tasks += count;
    if (runs->n > 0 && runs->items[runs->n - 1].duration_s == duration_s) {
        runs->items[runs->n - 1].count += count;
        return PV_OK;
    }
    PV_TRY(budget_grow(&import->budget, runs->items, runs->capacity, runs->n + 1, err));
    runs->items[runs->n++] = (struct workload_run){duration_s, count};
    return PV_OK;
}

/* --- what a job may be --- */

static enum pv_code
check_durations(const struct workload_import *import, unsigned list, struct pv_error *err)
{
    const struct run_list *runs = &import->runs[list];
    uint64_t before = 0;
    for (size_t i = 0; i < runs->n; i++) {
        double duration_s = runs->items[i].duration_s;
        /* Neither holds for NAN. */
        if (!(duration_s >= DURATION_LEAST_S && duration_s <= TIME_MOST_S))
            return trace_fail(import, err, PV_E_INVALID,
                              "%s %" PRIu64 " has a duration of %g s; 1e-12 to 1e12 s is allowed",
                              list == WORKLOAD_REDUCES ? "reduce" : "task", before + 1, duration_s);
        before += runs->items[i].count;
    }
    return PV_OK;
}

static bool is_time(double value)
{
    return value >= 0 && value <= TIME_MOST_S;
}

static enum pv_code check_job(const struct workload_import *import,
                              const struct workload_job *job,
                              struct pv_error *err)
{
    if (!is_time(job->arrival_s))
        return trace_fail(import, err, PV_E_INVALID,
                          "the job arrives at %g s; 0 to 1e12 is allowed", job->arrival_s);
    if (!is_time(job->shuffle_s))
        return trace_fail(import, err, PV_E_INVALID, "the shuffle takes %g s; 0 to 1e12 is allowed",
                          job->shuffle_s);
    if (!isnan(job->predicted_size_s) &&
        !(job->predicted_size_s > 0 && job->predicted_size_s <= TIME_MOST_S))
        return trace_fail(import, err, PV_E_INVALID,
                          "the predicted size is %g s; above 0 to 1e12 is allowed",
                          job->predicted_size_s);
    if (!isnan(job->input_bytes) && !(job->input_bytes >= 0 && job->input_bytes <= BYTES_MOST &&
                                      job->input_bytes == floor(job->input_bytes)))
        return trace_fail(import, err, PV_E_INVALID,
                          "the input in bytes is %g; a whole number from 0 to 2^53 - 1 is allowed",
                          job->input_bytes);
    if (job->name.n > WORKLOAD_NAME_MAX || !strview_is_utf8(job->name))
        return trace_fail(import, err, PV_E_INVALID, "the name is not UTF-8 of at most %d bytes",
                          (int)WORKLOAD_NAME_MAX);
    return PV_OK;
}

static enum pv_code
check_tasks(const struct workload_import *import, uint64_t tasks, struct pv_error *err)
{
    const struct workload_limits *limits = &import->limits;
    const struct workload_statistics *so_far = &import->statistics;
    if (tasks == 0)
        return trace_fail(import, err, PV_E_INVALID, "the job has no tasks");
    if (tasks > limits->job_tasks)
        return refuse_tasks(import, err);
    if (so_far->jobs == limits->jobs)
        return trace_fail(import, err, PV_E_LIMIT,
                          "the trace has more than %" PRIu64 " job%s (workload_jobs_max)",
                          limits->jobs, PLURAL(limits->jobs));
    if (so_far->tasks[WORKLOAD_TASKS] + so_far->tasks[WORKLOAD_REDUCES] + tasks > limits->tasks)
        return trace_fail(import, err, PV_E_LIMIT,
                          "the trace has more than %" PRIu64 " task%s (workload_tasks_max)",
                          limits->tasks, PLURAL(limits->tasks));
    return PV_OK;
}

enum pv_code
trace_end_job(struct workload_import *import, struct workload_job *job, struct pv_error *err)
{
    PV_TRY(check_tasks(import, import->runs[0].tasks + import->runs[1].tasks, err));
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++) {
        PV_TRY(check_durations(import, l, err));
        job->runs[l] = import->runs[l].items;
        job->n_runs[l] = import->runs[l].n;
    }
    PV_TRY(check_job(import, job, err));
    /* A trace may write -0. */
    job->arrival_s = fabs(job->arrival_s);
    job->shuffle_s = fabs(job->shuffle_s);
    job->input_bytes = fabs(job->input_bytes);
    PV_TRY(workload_statistics_add(&import->statistics, job, err));
    return chunk_encoder_add(&import->encoder, job, err);
}

/* --- pieces of lines --- */

enum pv_code
trace_check_order(struct workload_import *import, double arrival_s, struct pv_error *err)
{
    if (arrival_s < import->arrival_before_s)
        return trace_fail(import, err, PV_E_INVALID,
                          "the job arrives at %.9g s, before the one above it, which arrives at "
                          "%.9g s; this format is in order of arrival",
                          arrival_s, import->arrival_before_s);
    import->arrival_before_s = arrival_s;
    return PV_OK;
}

enum pv_code trace_take_number(struct workload_import *import,
                               const char **at,
                               const char *end,
                               const char *what,
                               double *value,
                               struct pv_error *err)
{
    const char *from = trace_skip_blanks(*at, end);
    const char *behind = from;
    if (from == end)
        return trace_fail(import, err, PV_E_INVALID, "the line ends where %s is expected", what);
    if (!number_take(&behind, end, value) || (behind < end && !lines_is_blank(*behind))) {
        char shown[SHOWN_MOST];
        size_t n = 0;
        while (from + n < end && !lines_is_blank(from[n]))
            n++;
        strview_shorten((struct strview){from, n}, shown, sizeof shown);
        return trace_fail(import, err, PV_E_INVALID, "where %s is expected there is \"%s\"", what,
                          shown);
    }
    *at = behind;
    return PV_OK;
}
