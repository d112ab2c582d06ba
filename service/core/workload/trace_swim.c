/* Traces of SWIM (Y. Chen, A. Ganapathi, R. Griffith, R. Katz, "The case for evaluating MapReduce
 * performance using workload suites", MASCOTS 2011): bytes of a day at Facebook, and no times. */
#include <math.h>

#include "core/workload/workload_import_internal.h"

/* A job's columns behind its name. */
enum swim_column { SUBMITTED, GAP, INPUT, SHUFFLE, OUTPUT };
enum { COLUMNS = OUTPUT + 1 };

static const char *const COLUMN_NAMES[COLUMNS] = {
    "the time of submission", "the time since the job before", "the map input in bytes",
    "the number of shuffled bytes", "the reduce output in bytes"};

static const double BYTES_MOST = 0x1p53 - 1;

static enum pv_code take_columns(struct workload_import *import,
                                 const char *at,
                                 const char *end,
                                 double columns[COLUMNS],
                                 struct pv_error *err)
{
    for (unsigned c = 0; c < COLUMNS; c++) {
        PV_TRY(trace_take_number(import, &at, end, COLUMN_NAMES[c], &columns[c], err));
        if (c >= INPUT &&
            !(columns[c] >= 0 && columns[c] <= BYTES_MOST && columns[c] == floor(columns[c])))
            return trace_fail(import, err, PV_E_INVALID,
                              "%s: a whole number from 0 to 2^53 - 1 is expected, not %g",
                              COLUMN_NAMES[c], columns[c]);
    }
    return PV_OK;
}

/* How many tasks take so many bytes; more than a job may have are refused where they are added. */
static uint64_t tasks_for(double bytes, double bytes_per_task)
{
    double tasks = ceil(bytes / bytes_per_task);
    return tasks < 0x1p62 ? (uint64_t)tasks : UINT64_C(1) << 62;
}

/* Every map reads a block, the last one what is left. A job without input has one map as well. */
static enum pv_code add_maps(struct workload_import *import, double input, struct pv_error *err)
{
    const struct workload_rates *rates = &import->rates;
    uint64_t maps = tasks_for(input, rates->map_bytes);
    double block_s = rates->task_overhead_s + rates->map_bytes / rates->map_bytes_per_s;
    maps = maps > 1 ? maps : 1;
    double rest = fmax(0, input - (double)(maps - 1) * rates->map_bytes);
    if (maps > 1)
        PV_TRY(trace_add_tasks(import, WORKLOAD_TASKS, block_s, maps - 1, err));
    return trace_add_tasks(import, WORKLOAD_TASKS,
                           rates->task_overhead_s + rest / rates->map_bytes_per_s, 1, err);
}

/* Reduces share what is shuffled and the output evenly. */
static enum pv_code
add_reduces(struct workload_import *import, double shuffle, double output, struct pv_error *err)
{
    const struct workload_rates *rates = &import->rates;
    uint64_t reduces = tasks_for(shuffle, rates->reduce_bytes);
    if (reduces == 0)
        return PV_OK;
    double together_s = shuffle / rates->shuffle_bytes_per_s + output / rates->output_bytes_per_s;
    return trace_add_tasks(import, WORKLOAD_REDUCES,
                           rates->task_overhead_s + together_s / (double)reduces, reduces, err);
}

static enum pv_code
read_swim(struct workload_import *import, struct strview line, struct pv_error *err)
{
    const char *end = line.at + line.n;
    const char *at = line.at;
    double columns[COLUMNS];
    while (at < end && !lines_is_blank(*at))
        at++;
    struct workload_job job = {.name = {line.at, (size_t)(at - line.at)},
                               .predicted_size_s = (double)NAN};
    PV_TRY(take_columns(import, at, end, columns, err));
    PV_TRY(trace_check_order(import, columns[SUBMITTED], err));
    job.arrival_s = columns[SUBMITTED];
    job.input_bytes = columns[INPUT];
    trace_begin_job(import);
    PV_TRY(add_maps(import, columns[INPUT], err));
    PV_TRY(add_reduces(import, columns[SHUFFLE], columns[OUTPUT], err));
    return trace_end_job(import, &job, err);
}

const struct trace_format trace_swim = {.line = read_swim};
