#include "core/stragglers/stage_times.h"

#include <math.h>

#include "core/numerics/quantile.h"

static const double LEAST_S = 1e-3; /* logs count milliseconds */

/* A task reads more or less than others from this part of the median on. */
static const double DIFFERENT = 0.25;

/* No task is expected to take less than this part of the median: something is always to be done. */
static const double LEAST_PART = 0.05;

struct bytes {
    double median;
    double unit; /* the median; the mean where that is 0 */
};

static struct bytes
measure_bytes(const struct run_stage *stage, size_t n, double values[], size_t *known)
{
    double sum = 0;
    *known = 0;
    for (size_t i = 0; i < n; i++) {
        if (stage->task_read_bytes[i] < 0)
            continue;
        values[*known] = (double)stage->task_read_bytes[i];
        sum += values[(*known)++];
    }
    struct bytes bytes = {.median = quantile_median(values, *known)};
    bytes.unit = bytes.median > 0 ? bytes.median : sum / (double)*known;
    return bytes;
}

/* values: room for n. */
static double
find_slope(const struct run_stage *stage, size_t n, double median_s, double values[], double *from)
{
    size_t known;
    struct bytes bytes = measure_bytes(stage, n, values, &known);
    *from = bytes.median;
    if (known == 0 || !(bytes.unit > 0))
        return 0;
    size_t slopes = 0;
    for (size_t i = 0; i < n; i++) {
        double more = (double)stage->task_read_bytes[i] - bytes.median;
        if (stage->task_read_bytes[i] >= 0 && fabs(more) >= DIFFERENT * bytes.unit)
            values[slopes++] = (stage->task_durations_s[i] - median_s) / more;
    }
    if (slopes == 0)
        return 0;
    return fmin(fmax(quantile_median(values, slopes), 0), median_s / bytes.unit);
}

enum pv_code stage_times_make(const struct run_stage *stage,
                              struct arena *arena,
                              struct arena *scratch,
                              struct stage_times *times,
                              struct pv_error *err)
{
    size_t n = (size_t)stage->n_tasks;
    struct stage_times made = {.expected_s = arena_array(arena, n, sizeof(double)),
                               .log_ratio = arena_array(arena, n, sizeof(double))};
    struct arena_mark mark = arena_mark(scratch);
    double *values = arena_array(scratch, n, sizeof *values);
    double from = 0;
    if (made.expected_s == NULL || made.log_ratio == NULL || values == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        values[i] = stage->task_durations_s[i];
    made.median_s = fmax(quantile_median(values, n), LEAST_S);
    if (stage->task_read_bytes != NULL)
        made.s_per_byte = find_slope(stage, n, made.median_s, values, &from);
    for (size_t i = 0; i < n; i++) {
        bool known = stage->task_read_bytes != NULL && stage->task_read_bytes[i] >= 0;
        double more = known ? (double)stage->task_read_bytes[i] - from : 0;
        made.expected_s[i] =
            fmax(made.median_s + made.s_per_byte * more, LEAST_PART * made.median_s);
        made.log_ratio[i] = log(fmax(stage->task_durations_s[i], LEAST_S) / made.expected_s[i]);
    }
    arena_rewind(scratch, mark);
    *times = made;
    return PV_OK;
}
