#include "core/scheduling/slots_workload.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/sim/statistics.h"

size_t slots_tasks_pack(const double durations_s[], size_t n, struct slots_tasks tasks[])
{
    size_t packed = 0;
    for (size_t i = 0; i < n; i++)
        if (packed > 0 && tasks[packed - 1].duration_s == durations_s[i])
            tasks[packed - 1].count++;
        else
            tasks[packed++] = (struct slots_tasks){durations_s[i], 1};
    return packed;
}

size_t slots_tasks_count(const struct slots_task_list *list)
{
    size_t count = 0;
    for (size_t i = 0; i < list->n; i++)
        count += list->tasks[i].count;
    return count;
}

static void add_work(struct compensated_sum *sum, const struct slots_task_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct slots_tasks *tasks = &list->tasks[i];
        double product = (double)tasks->count * tasks->duration_s;
        compensated_sum_add(sum, product);
        compensated_sum_add(sum, fma((double)tasks->count, tasks->duration_s, -product));
    }
}

double slots_tasks_work(const struct slots_task_list *list)
{
    struct compensated_sum sum = {0, 0};
    add_work(&sum, list);
    return compensated_sum_value(&sum);
}

double slots_job_size(const struct slots_job *job)
{
    struct compensated_sum sum = {0, 0};
    for (size_t k = 0; k < SLOTS_KINDS; k++)
        add_work(&sum, &job->task_lists[k]);
    return compensated_sum_value(&sum);
}

struct ordered {
    double arrival_s;
    size_t index;
};

static int order_by_arrival(const void *a, const void *b)
{
    const struct ordered *x = a;
    const struct ordered *y = b;
    int order = compare_double(x->arrival_s, y->arrival_s);
    return order != 0 ? order : compare_size(x->index, y->index);
}

bool slots_order_by_arrival(const struct slots_job jobs[],
                            size_t n,
                            struct arena *scratch,
                            size_t order[])
{
    struct arena_mark mark = arena_mark(scratch);
    struct ordered *ordered = arena_array(scratch, n, sizeof *ordered);
    if (ordered == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        ordered[i] = (struct ordered){jobs[i].arrival_s, i};
    qsort(ordered, n, sizeof *ordered, order_by_arrival);
    for (size_t i = 0; i < n; i++)
        order[i] = ordered[i].index;
    arena_rewind(scratch, mark);
    return true;
}
