#include <math.h>

#include "codec/scheduling/slots_simulation_internal.h"

/* Shuffles over the network of the nodes: what they need, and how long they may take. */

double codec_slots_bandwidth(const struct codec_slots_cluster *sent, size_t node)
{
    double own = sent->nodes[node].bandwidth_bytes_per_s;
    double bandwidth = isnan(own) ? sent->bandwidth_bytes_per_s : own;
    return isnan(bandwidth) ? 0 : bandwidth;
}

static bool shuffles(const struct codec_slots_simulation *asked)
{
    bool any = false;
    for (size_t i = 0; i < asked->n_jobs; i++)
        any = any || asked->jobs[i].shuffle_bytes > 0;
    return any;
}

void codec_slots_check_network(const struct codec_node *top,
                               const struct codec_slots_simulation *asked)
{
    struct codec_node cluster = codec_member(top, "cluster");
    struct codec_node nodes = codec_member(&cluster, "nodes");
    if (!shuffles(asked))
        return;
    if (asked->cluster.n_nodes == 0)
        codec_fault_member(&cluster, "nodes", "required",
                           "is required when jobs have shuffle_bytes, which go from node to node");
    for (size_t i = 0; i < asked->cluster.n_nodes; i++) {
        const struct slots_node *of = &asked->cluster.nodes[i];
        struct codec_node node = codec_item(&nodes, i);
        if (of->slots[SLOTS_MAP] + of->slots[SLOTS_REDUCE] > 0 && !(of->bandwidth_bytes_per_s > 0))
            codec_fault_member(&node, "bandwidth_bytes_per_s", "required",
                               "is required, of nodes that take tasks or of the cluster, when jobs "
                               "have shuffle_bytes");
    }
}

void codec_slots_limit_network(const struct codec_comparison_limits *limits,
                               struct codec_slots_simulation *asked)
{
    const struct codec_comparison *common = &asked->common;
    size_t loads = common->n_loads > 0 ? common->n_loads : 1;
    size_t share =
        limits->network_steps / (codec_comparison_entries(common) * loads * common->repetitions);
    asked->cluster.network_steps_max = share > 0 ? share : 1;
}

void codec_slots_size_by_network(const struct codec_slots_simulation *asked,
                                 struct codec_comparison_size *size)
{
    double slowest = HUGE_VAL;
    double bytes = 0;
    for (size_t i = 0; i < asked->cluster.n_nodes; i++)
        if (asked->cluster.nodes[i].bandwidth_bytes_per_s > 0)
            slowest = fmin(slowest, asked->cluster.nodes[i].bandwidth_bytes_per_s);
    for (size_t i = 0; i < asked->n_jobs; i++)
        bytes += asked->jobs[i].shuffle_bytes;
    /* As if all bytes went one after the other over the slowest link. */
    size->work_s += bytes / slowest;
    size->probed += (double)codec_comparison_entries(&asked->common) *
                    slots_network_tasks(&asked->cluster, asked->jobs, asked->n_jobs);
}
