#include "core/joblog/spark/tasks.h"

#include <stdlib.h>

#include "base/order.h"
#include "core/joblog/common/log_nodes.h"
#include "core/joblog/common/log_reader.h"

/* Slots reach a few times further than there are tasks: tasks end out of order, by as many as run
 * at once. */
enum { REACH_FACTOR = 4, REACH_AT_FIRST = 256 };

static size_t tasks_reach(const struct tasks *tasks)
{
    return REACH_FACTOR * (tasks->n + REACH_AT_FIRST);
}

/* Make slot `index` be there. */
static enum pv_code tasks_stretch(
    struct tasks *tasks, struct budget *budget, size_t index, int64_t planned, struct pv_error *err)
{
    if (index < tasks->n_slots)
        return PV_OK;
    size_t need = index + 1;
    /* All of the stage at once, if that is not far away: nothing is then left over. */
    if (planned > 0 && (uint64_t)planned > need && (uint64_t)planned <= tasks_reach(tasks))
        need = (size_t)planned;
    PV_TRY(budget_grow(budget, tasks->slots, tasks->slots_capacity, need, err));
    while (tasks->n_slots <= index)
        tasks->slots[tasks->n_slots++] = (struct task_kept){.ms = -1};
    return PV_OK;
}

static enum pv_code put_aside(struct tasks *tasks,
                              struct budget *budget,
                              int64_t index,
                              struct task_kept task,
                              struct pv_error *err)
{
    PV_TRY(budget_grow(budget, tasks->asides, tasks->asides_capacity, tasks->n_asides + 1, err));
    uint32_t at = index < 0 || index > UINT32_MAX ? UINT32_MAX : (uint32_t)index;
    tasks->asides[tasks->n_asides] = (struct aside){task, at, (uint32_t)tasks->n_asides};
    tasks->n_asides++;
    tasks->n++;
    return PV_OK;
}

enum pv_code tasks_add(struct tasks *tasks,
                       struct budget *budget,
                       int64_t index,
                       int64_t planned,
                       struct task_kept task,
                       struct pv_error *err)
{
    if (index < 0 || (uint64_t)index >= tasks_reach(tasks))
        return put_aside(tasks, budget, index, task, err);
    size_t at = (size_t)index;
    PV_TRY(tasks_stretch(tasks, budget, at, planned, err));
    if (tasks->slots[at].ms >= 0)
        return put_aside(tasks, budget, index, task, err);
    tasks->slots[at] = task;
    tasks->n++;
    return PV_OK;
}

static int compare_asides(const void *a, const void *b)
{
    const struct aside *left = a;
    const struct aside *right = b;
    int order = compare_int64(left->index, right->index);
    return order != 0 ? order : compare_int64(left->order, right->order);
}

static void put_task(const struct task_kept *task, size_t at, const struct task_lists *out)
{
    out->durations_s[at] = log_seconds(task->ms);
    out->nodes[at] = task->node == LOG_NODE_UNKNOWN ? RUN_UNKNOWN : (int64_t)task->node;
    out->read_bytes[at] = task->read_bytes;
}

void tasks_list(struct tasks *tasks, const struct task_lists *out)
{
    if (tasks->n_asides > 1)
        qsort(tasks->asides, tasks->n_asides, sizeof *tasks->asides, compare_asides);
    size_t used = 0;
    size_t aside = 0;
    for (size_t i = 0; i < tasks->n_slots; i++) {
        if (tasks->slots[i].ms >= 0)
            put_task(&tasks->slots[i], used++, out);
        for (; aside < tasks->n_asides && tasks->asides[aside].index <= i; aside++)
            put_task(&tasks->asides[aside].task, used++, out);
    }
    for (; aside < tasks->n_asides; aside++)
        put_task(&tasks->asides[aside].task, used++, out);
}

void tasks_fini(struct tasks *tasks, struct budget *budget)
{
    budget_free(budget, tasks->slots, tasks->slots_capacity, sizeof *tasks->slots);
    budget_free(budget, tasks->asides, tasks->asides_capacity, sizeof *tasks->asides);
    *tasks = (struct tasks){.n = 0};
}
