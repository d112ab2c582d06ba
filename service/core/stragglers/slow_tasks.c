#include "core/stragglers/slow_tasks.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/numerics/quantile.h"

static int compare_slow(const void *a, const void *b)
{
    const struct slow_task *x = a;
    const struct slow_task *y = b;
    int order = compare_double(y->extra_s, x->extra_s);
    return order != 0 ? order : compare_size(x->task, y->task);
}

static struct slow_task explain_task(const struct run_stage *stage,
                                     const struct stage_times *times,
                                     const double factors[],
                                     size_t task)
{
    double extra = fmax(stage->task_durations_s[task] - times->median_s, 0);
    double expected = times->expected_s[task];
    double read = fmin(fmax(expected - times->median_s, 0), extra);
    int64_t node = stage->task_nodes == NULL ? RUN_UNKNOWN : stage->task_nodes[task];
    double slower = node < 0 ? 0 : fmax(factors[node] - 1, 0);
    double of_node = fmin(expected * slower, extra - read);
    return (struct slow_task){task, extra, read, of_node, extra - read - of_node};
}

static void add_slow(struct slow_task *sum, const struct slow_task *task)
{
    sum->extra_s += task->extra_s;
    sum->read_s += task->read_s;
    sum->node_s += task->node_s;
    sum->unknown_s += task->unknown_s;
}

/* What a task may take until it is slow; *done of n tasks are not judged. */
static double
find_threshold(const struct slow_rule *rule, double ascending[], size_t n, size_t *done)
{
    *done = (size_t)fmax(ceil(rule->quantile * (double)n), 1);
    *done = *done < n ? *done : n;
    return fmax(rule->multiplier * quantile_of_sorted(ascending, *done, 0.5), SLOW_TASK_LEAST_S);
}

enum pv_code slow_tasks_find(const struct run_stage *stage,
                             const struct stage_times *times,
                             const double factors[],
                             const struct slow_rule *rule,
                             struct arena *arena,
                             struct slow_stage *slow,
                             struct pv_error *err)
{
    size_t n = (size_t)stage->n_tasks;
    double *ascending = arena_array(arena, n, sizeof *ascending);
    size_t done;
    if (ascending == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        ascending[i] = stage->task_durations_s[i];
    qsort(ascending, n, sizeof *ascending, order_by_double);
    struct slow_stage made = {.threshold_s = find_threshold(rule, ascending, n, &done)};
    double above = fmax(made.threshold_s, ascending[done - 1]);
    for (size_t i = n; i > done && ascending[i - 1] > above; i--)
        made.n++;
    made.tasks = arena_array(arena, made.n, sizeof *made.tasks);
    if (made.tasks == NULL)
        return pv_no_memory(err);
    size_t at = 0;
    for (size_t i = 0; i < n && at < made.n; i++) {
        if (!(stage->task_durations_s[i] > above))
            continue;
        made.tasks[at] = explain_task(stage, times, factors, i);
        add_slow(&made.sum, &made.tasks[at++]);
    }
    if (made.n > 0)
        qsort(made.tasks, made.n, sizeof *made.tasks, compare_slow);
    *slow = made;
    return PV_OK;
}
