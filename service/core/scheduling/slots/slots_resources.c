#include "core/scheduling/slots/slots_resources.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/sim/statistics.h"

static int order_by_size(const void *a, const void *b)
{
    const struct slots_resources *x = a;
    const struct slots_resources *y = b;
    int by_memory = (x->memory_bytes > y->memory_bytes) - (x->memory_bytes < y->memory_bytes);
    return by_memory != 0 ? by_memory : (x->vcores > y->vcores) - (x->vcores < y->vcores);
}

/* The least that a container asks for, of each resource by itself. */
static struct slots_resources least_of(const struct slots_resources sizes[], size_t n)
{
    struct slots_resources least = sizes[0];
    for (size_t i = 1; i < n; i++) {
        if (sizes[i].vcores < least.vcores)
            least.vcores = sizes[i].vcores;
        if (sizes[i].memory_bytes < least.memory_bytes)
            least.memory_bytes = sizes[i].memory_bytes;
    }
    return least;
}

size_t slots_resources_sizes(const struct slots_resources wanted[],
                             size_t n,
                             struct slots_resources sizes[])
{
    size_t n_sizes = 0;
    memcpy(sizes, wanted, n * sizeof *sizes);
    qsort(sizes, n, sizeof *sizes, order_by_size);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || order_by_size(&sizes[n_sizes - 1], &sizes[i]) != 0)
            sizes[n_sizes++] = sizes[i];
    return n_sizes;
}

enum pv_code slots_resources_measure(struct slots_cluster *cluster,
                                     struct slots_node nodes[],
                                     const struct slots_resources wanted[],
                                     size_t n,
                                     struct arena *arena,
                                     struct pv_error *err)
{
    struct slots_resources *sizes = arena_array(arena, n, sizeof *sizes);
    assert(n > 0);
    if (sizes == NULL)
        return pv_no_memory(err);
    size_t n_sizes = slots_resources_sizes(wanted, n, sizes);
    const struct slots_resources least = least_of(sizes, n_sizes);
    cluster->room = (struct slots_resources){0, 0};
    cluster->slots[SLOTS_MAP] = cluster->slots[SLOTS_REDUCE] = 0;
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        slots_resources_add(&cluster->room, &nodes[i].room, 1);
        nodes[i].slots[SLOTS_MAP] = (size_t)slots_resources_count(&least, &nodes[i].room);
        nodes[i].slots[SLOTS_REDUCE] = 0;
        cluster->slots[SLOTS_MAP] += nodes[i].slots[SLOTS_MAP];
    }
    cluster->sizes = sizes;
    cluster->n_sizes = n_sizes;
    return PV_OK;
}

size_t slots_resources_size(const struct slots_cluster *cluster,
                            const struct slots_resources *request)
{
    const struct slots_resources *found =
        bsearch(request, cluster->sizes, cluster->n_sizes, sizeof *found, order_by_size);
    assert(found != NULL);
    return (size_t)(found - cluster->sizes);
}

double slots_resources_busy_s(const struct slots_cluster *cluster,
                              const struct slots_job jobs[],
                              size_t n,
                              bool by_speed)
{
    struct compensated_sum work[2] = {{0, 0}, {0, 0}};
    struct compensated_sum room[2] = {{0, 0}, {0, 0}};
    for (size_t i = 0; i < n; i++)
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
            double work_s = slots_tasks_work(&jobs[i].task_lists[kind]);
            const struct slots_resources *request = &jobs[i].requests[kind];
            compensated_sum_add(&work[0], work_s * (double)request->vcores);
            compensated_sum_add(&work[1], work_s * (double)request->memory_bytes);
        }
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        const struct slots_node *node = &cluster->nodes[i];
        double speed = by_speed ? node->speed : 1;
        compensated_sum_add(&room[0], (double)node->room.vcores * speed);
        compensated_sum_add(&room[1], (double)node->room.memory_bytes * speed);
    }
    return fmax(compensated_sum_value(&work[0]) / compensated_sum_value(&room[0]),
                compensated_sum_value(&work[1]) / compensated_sum_value(&room[1]));
}
