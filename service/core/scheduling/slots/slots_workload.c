#include "core/scheduling/slots/slots_workload.h"

#include <math.h>

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

double slots_cluster_capacity(const struct slots_cluster *cluster, enum slots_kind kind)
{
    struct compensated_sum sum = {0, 0};
    for (size_t i = 0; i < cluster->n_nodes; i++)
        compensated_sum_add(&sum, (double)cluster->nodes[i].slots[kind] * cluster->nodes[i].speed);
    return cluster->n_nodes > 0 ? compensated_sum_value(&sum) : (double)cluster->slots[kind];
}

double slots_cluster_incident_tasks(const struct slots_cluster *cluster, double tasks)
{
    double changed = 0;
    for (size_t i = 0; i < cluster->n_incidents; i++) {
        const size_t *slots = cluster->nodes[cluster->incidents[i].node].slots;
        changed += 2 * fmin((double)slots[SLOTS_MAP] + (double)slots[SLOTS_REDUCE], tasks);
    }
    return changed;
}

double slots_cluster_byte_s(const struct slots_cluster *cluster)
{
    double sum_s = 0;
    double n = 0;
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        const struct slots_node *node = &cluster->nodes[i];
        if (node->slots[SLOTS_MAP] + node->slots[SLOTS_REDUCE] == 0 ||
            !(node->bandwidth_bytes_per_s > 0))
            continue;
        sum_s += 1 / node->bandwidth_bytes_per_s;
        n++;
    }
    return n > 0 ? sum_s / n : 0;
}

double slots_job_shuffle_alone_s(const struct slots_job *job, double byte_s)
{
    double reduces = (double)slots_tasks_count(&job->task_lists[SLOTS_REDUCE]);
    if (!(reduces > 0) || job->task_lists[SLOTS_MAP].n == 0)
        return job->shuffle_s;
    return fmax(job->shuffle_s, job->shuffle_bytes / reduces * byte_s);
}
