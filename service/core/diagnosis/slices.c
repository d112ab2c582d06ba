#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/diagnosis/diagnosis_internal.h"

/* All members, so that equal keys leave no room for the order of the request. */
static int by_rest(const struct diagnosis_run *x, const struct diagnosis_run *y)
{
    const double a[] = {x->executors,  x->problem_size, x->duration_s, x->initialization_s,
                        x->max_task_s, x->parallel_s,   x->induced_s,  x->serial_s};
    const double b[] = {y->executors,  y->problem_size, y->duration_s, y->initialization_s,
                        y->max_task_s, y->parallel_s,   y->induced_s,  y->serial_s};
    int order = 0;
    for (size_t i = 0; i < sizeof a / sizeof *a && order == 0; i++)
        order = compare_nan_last(a[i], b[i]);
    return order;
}

static int by_size(const void *a, const void *b)
{
    const struct diagnosis_run *x = a;
    const struct diagnosis_run *y = b;
    int order = compare_nan_last(x->problem_size, y->problem_size);
    return order != 0 ? order : by_rest(x, y);
}

static int by_load(const void *a, const void *b)
{
    const struct diagnosis_run *x = a;
    const struct diagnosis_run *y = b;
    int order = compare_nan_last(x->problem_size / x->executors, y->problem_size / y->executors);
    return order != 0 ? order : by_rest(x, y);
}

static int by_executors(const void *a, const void *b)
{
    return by_rest(a, b);
}

static size_t count_executors(const struct diagnosis_run rows[], size_t n)
{
    size_t counts = 0;
    for (size_t i = 0; i < n; i++)
        counts += i == 0 || rows[i].executors != rows[i - 1].executors;
    return counts;
}

/* Where the group that starts at `from` ends. */
static size_t slices_end_of(const struct diagnosis_run rows[], size_t from, size_t n, bool size)
{
    size_t to = from + 1;
    double first = rows[from].problem_size / rows[from].executors;
    while (to < n &&
           (size ? rows[to].problem_size == rows[from].problem_size
                 : rows[to].problem_size / rows[to].executors < first * diagnosis_same_load))
        to++;
    return to;
}

/* The middle of the loads of a group: what it is called. */
static double load_of(const struct diagnosis_run rows[], size_t n)
{
    return rows[n / 2].problem_size / rows[n / 2].executors;
}

static void slices_cut(
    struct diagnosis_run rows[], size_t n, bool size, struct series series[], size_t *n_series)
{
    for (size_t from = 0, to; from < n; from = to) {
        to = slices_end_of(rows, from, n, size);
        struct series one = {.workload = size ? IPSO_FIXED_SIZE : IPSO_FIXED_TIME,
                             .problem_size = size ? rows[from].problem_size : (double)NAN,
                             .load = size ? (double)NAN : load_of(rows + from, to - from),
                             .rows = rows + from,
                             .n = to - from};
        qsort(rows + from, one.n, sizeof *rows, by_executors);
        one.counts = count_executors(one.rows, one.n);
        if (one.counts >= DIAGNOSIS_COUNTS_LEAST)
            series[(*n_series)++] = one;
    }
}

enum pv_code diagnosis_find_series(struct diagnosis_run runs[],
                                   size_t n,
                                   struct arena *arena,
                                   struct series **series,
                                   size_t *n_series,
                                   struct pv_error *err)
{
    struct diagnosis_run *again = arena_array(arena, n, sizeof *again);
    struct series *found = arena_array(arena, n, sizeof *found);
    if (again == NULL || found == NULL)
        return pv_no_memory(err);
    if (n > 0)
        memcpy(again, runs, n * sizeof *again);
    *n_series = 0;
    qsort(runs, n, sizeof *runs, by_size);
    slices_cut(runs, n, true, found, n_series);
    qsort(again, n, sizeof *again, by_load);
    slices_cut(again, n, false, found, n_series);
    *series = found;
    return PV_OK;
}
