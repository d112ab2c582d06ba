#include "core/history/task_sketch.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/numerics/permutation.h"

double task_time_sum(const double durations_s[], size_t n)
{
    double sum = 0.0, lost = 0.0;
    for (size_t i = 0; i < n; i++) {
        double next = sum + durations_s[i];
        lost += fabs(sum) >= fabs(durations_s[i]) ? (sum - next) + durations_s[i]
                                                  : (durations_s[i] - next) + sum;
        sum = next;
    }
    return sum + lost;
}

/* --- spreading --- */

static bool task_sketch_count_tasks(const struct task_group groups[], size_t n_groups, size_t *n)
{
    *n = 0;
    for (size_t g = 0; g < n_groups; g++)
        if (__builtin_add_overflow(*n, (size_t)groups[g].tasks, n))
            return false;
    return true;
}

enum pv_code task_sketch_spread(const struct task_group groups[],
                                size_t n_groups,
                                struct arena *arena,
                                double **durations_s,
                                size_t *n,
                                struct pv_error *err)
{
    size_t count;
    if (!task_sketch_count_tasks(groups, n_groups, &count))
        return pv_no_memory(err);
    double *spread = arena_array(arena, count, sizeof *spread);
    if (spread == NULL)
        return pv_no_memory(err);
    *durations_s = spread;
    *n = count;
    if (count == 0)
        return PV_OK;
    size_t step = permutation_step(count);
    size_t at = step / 2;
    for (size_t g = 0; g < n_groups; g++) {
        for (int64_t t = 0; t < groups[g].tasks; t++) {
            spread[at] = groups[g].mean_s;
            at = (at + step) % count;
        }
    }
    return PV_OK;
}

/* --- making --- */

/* Where the groups end: the first after the fastest task, the last but one before the slowest. */
static size_t end_groups(size_t n, size_t ends[TASK_SKETCH_GROUPS_MAX])
{
    static const double pi = 3.14159265358979323846;
    size_t n_ends = 0;
    ends[n_ends++] = 1;
    for (int i = 1; i < TASK_SKETCH_RESOLUTION; i++) {
        double share = (1.0 - cos(pi * i / TASK_SKETCH_RESOLUTION)) / 2.0;
        size_t end = (size_t)((double)n * share + 0.5);
        if (end > ends[n_ends - 1] && end + 1 < n)
            ends[n_ends++] = end;
    }
    if (n > 2)
        ends[n_ends++] = n - 1;
    if (ends[n_ends - 1] < n)
        ends[n_ends++] = n;
    return n_ends;
}

/*
 * Rounding of the means may leave the sum off by a few last digits. The group behind the fastest
 * task is small, so its mean has digits enough to take up the difference.
 */
static enum pv_code settle_sum(struct task_group groups[],
                               size_t n_groups,
                               double sum_s,
                               struct arena *scratch,
                               struct pv_error *err)
{
    enum { STEPS = 4 };
    for (int step = 0; step < STEPS && n_groups > 2; step++) {
        struct arena_mark mark = arena_mark(scratch);
        double *spread;
        size_t n;
        PV_TRY(task_sketch_spread(groups, n_groups, scratch, &spread, &n, err));
        double off_s = sum_s - task_time_sum(spread, n);
        arena_rewind(scratch, mark);
        if (off_s == 0.0)
            return PV_OK;
        double mean_s = groups[1].mean_s + off_s / (double)groups[1].tasks;
        groups[1].mean_s = fmin(fmax(mean_s, groups[0].mean_s), groups[n_groups - 1].mean_s);
    }
    return PV_OK;
}

/* Rounding does not take the mean of equal tasks, or of few, beyond them. */
static struct task_group group_of(const double ascending[], size_t n)
{
    double mean_s = task_time_sum(ascending, n) / (double)n;
    return (struct task_group){(int64_t)n, fmin(fmax(mean_s, ascending[0]), ascending[n - 1])};
}

enum pv_code task_sketch_make(const double durations_s[],
                              size_t n,
                              struct arena *scratch,
                              struct task_group groups[],
                              size_t *n_groups,
                              struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    double *ascending = arena_array(scratch, n, sizeof *ascending);
    if (ascending == NULL)
        return pv_no_memory(err);
    memcpy(ascending, durations_s, n * sizeof *ascending);
    qsort(ascending, n, sizeof *ascending, order_by_double);
    size_t ends[TASK_SKETCH_GROUPS_MAX];
    size_t made = end_groups(n, ends);
    for (size_t g = 0, from = 0; g < made; from = ends[g++])
        groups[g] = group_of(ascending + from, ends[g] - from);
    double sum_s = task_time_sum(ascending, n);
    arena_rewind(scratch, mark);
    enum pv_code code = settle_sum(groups, made, sum_s, scratch, err);
    arena_rewind(scratch, mark);
    if (code == PV_OK)
        *n_groups = made;
    return code;
}
