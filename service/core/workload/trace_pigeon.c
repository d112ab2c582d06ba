/* Traces of Pigeon's simulator, which are also those of Sparrow's, Hawk's and Eagle's. */
#include <inttypes.h>
#include <math.h>

#include "base/plural.h"
#include "core/workload/workload_import_internal.h"

/* Means are printed with six digits; some programs cut them to whole units. */
static const double MEAN_ERROR = 1e-4;

/* Durations up to the end of the line; their number and sum. */
static enum pv_code take_durations(struct workload_import *import,
                                   const char *at,
                                   const char *end,
                                   double *sum_s,
                                   struct pv_error *err)
{
    *sum_s = 0;
    while (trace_skip_blanks(at, end) < end) {
        double duration_s;
        PV_TRY(trace_take_number(import, &at, end, "a duration", &duration_s, err));
        PV_TRY(trace_add_tasks(import, WORKLOAD_TASKS, duration_s, 1, err));
        *sum_s += duration_s;
    }
    return PV_OK;
}

static enum pv_code check_count(struct workload_import *import, double stated, struct pv_error *err)
{
    uint64_t tasks = import->runs[WORKLOAD_TASKS].tasks;
    if (!(stated >= 1) || stated != floor(stated))
        return trace_fail(import, err, PV_E_INVALID, "%g is no number of tasks", stated);
    if (stated == (double)tasks)
        return PV_OK;
    return trace_fail(import, err, PV_E_INVALID, "%.0f task%s stated, %" PRIu64 " duration%s%s",
                      stated, PLURAL_VERB(stated, " is", "s are"), tasks,
                      PLURAL_VERB(tasks, " follows", "s follow"),
                      import->unterminated ? "; the trace is cut" : "");
}

/* A number that was cut in two shows only in the mean. */
static enum pv_code
check_mean(struct workload_import *import, double stated_s, double mean_s, struct pv_error *err)
{
    if (fabs(stated_s - mean_s) <= MEAN_ERROR * mean_s)
        return PV_OK;
    if (import->unterminated)
        return trace_fail(
            import, err, PV_E_INVALID,
            "the mean duration stated is %g s, that of the tasks %g s, and no newline "
            "follows; the trace is cut",
            stated_s, mean_s);
    trace_count_line(import, &import->odd_means);
    return PV_OK;
}

static enum pv_code
read_pigeon(struct workload_import *import, struct strview line, struct pv_error *err)
{
    struct workload_job job = {.input_bytes = (double)NAN, .predicted_size_s = (double)NAN};
    const char *at = line.at;
    const char *end = line.at + line.n;
    double stated, mean_s, sum_s;
    PV_TRY(trace_take_number(import, &at, end, "the arrival", &job.arrival_s, err));
    PV_TRY(trace_take_number(import, &at, end, "the number of tasks", &stated, err));
    PV_TRY(trace_take_number(import, &at, end, "the mean duration", &mean_s, err));
    PV_TRY(trace_check_order(import, job.arrival_s, err));
    trace_begin_job(import);
    PV_TRY(take_durations(import, at, end, &sum_s, err));
    PV_TRY(check_count(import, stated, err));
    PV_TRY(check_mean(import, mean_s, sum_s / stated, err));
    return trace_end_job(import, &job, err);
}

const struct trace_format trace_pigeon = {.line = read_pigeon};
