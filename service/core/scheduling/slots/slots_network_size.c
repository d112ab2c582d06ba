#include "core/scheduling/slots/slots_network_size.h"

#include <math.h>

/* Twice what each takes, as it grows by doubling. */
enum { BYTES_A_FLOW = 320, BYTES_A_PAIR = 640, BYTES_A_SOURCE = 256, BYTES_A_FETCH = 384 };
enum { BYTES_A_NODE = 512 };

/* Pairs of nodes that are looked at in the time that a task takes. */
static const double PAIRS_A_TASK = 16;

/* What a job has on the network. */
struct shuffle {
    double maps;
    double reduces;
    double sources; /* nodes */
    double targets;
};

/* false: it has none. */
static bool shuffle_of(const struct slots_cluster *cluster,
                       const struct slots_job *job,
                       struct shuffle *shuffle)
{
    double nodes = (double)cluster->n_nodes;
    if (cluster->n_nodes == 0 || !(job->shuffle_bytes > 0))
        return false;
    shuffle->maps = (double)slots_tasks_count(&job->task_lists[SLOTS_MAP]);
    shuffle->reduces = (double)slots_tasks_count(&job->task_lists[SLOTS_REDUCE]);
    shuffle->sources = fmin(nodes, shuffle->maps);
    shuffle->targets = fmin(nodes, shuffle->reduces);
    return shuffle->maps > 0 && shuffle->reduces > 0;
}

double
slots_network_memory(const struct slots_cluster *cluster, const struct slots_job jobs[], size_t n)
{
    double slots = (double)cluster->slots[SLOTS_MAP] + (double)cluster->slots[SLOTS_REDUCE];
    double nodes = (double)cluster->n_nodes;
    double reduces = 0;
    double sources = 0;
    double most_sources = 0;
    for (size_t i = 0; i < n; i++) {
        struct shuffle shuffle;
        if (!shuffle_of(cluster, &jobs[i], &shuffle))
            continue;
        reduces += shuffle.reduces;
        sources += shuffle.sources;
        most_sources = fmax(most_sources, shuffle.sources);
    }
    double fetches = fmin(reduces, slots);
    double flows = fetches * most_sources;
    double pairs = fmin(flows, nodes * nodes);
    return reduces > 0 ? flows * BYTES_A_FLOW + pairs * BYTES_A_PAIR + sources * BYTES_A_SOURCE +
                             fetches * BYTES_A_FETCH + nodes * BYTES_A_NODE
                       : 0;
}

double
slots_network_tasks(const struct slots_cluster *cluster, const struct slots_job jobs[], size_t n)
{
    double pairs = 0;
    for (size_t i = 0; i < n; i++) {
        struct shuffle shuffle;
        if (shuffle_of(cluster, &jobs[i], &shuffle))
            pairs += 2 * (shuffle.maps + shuffle.reduces) * shuffle.sources * shuffle.targets;
    }
    return pairs / PAIRS_A_TASK;
}

double slots_network_steps(double tasks)
{
    return tasks * PAIRS_A_TASK;
}
