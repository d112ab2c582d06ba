#include "core/joblog/common/log_nodes.h"

#include "core/joblog/common/log_reader.h"
#include "core/joblog/common/privacy.h"

enum pv_code log_nodes_find(struct log_nodes *nodes,
                            struct budget *budget,
                            const struct joblog_privacy *privacy,
                            struct json_text host,
                            uint32_t *node,
                            struct pv_error *err)
{
    *node = LOG_NODE_UNKNOWN;
    if (host.at == NULL || host.n == 0)
        return PV_OK;
    int64_t key = idmap_key_of(host.at, host.n);
    const uint32_t *known = idmap_find(&nodes->at, key);
    if (known != NULL) {
        *node = *known;
        return PV_OK;
    }
    if (nodes->n >= LOG_NODES_MAX)
        return PV_OK;
    PV_TRY(budget_grow(budget, nodes->items, nodes->capacity, nodes->n + 1, err));
    PV_TRY(idmap_insert(&nodes->at, budget, key, (uint32_t)nodes->n, err));
    struct log_node *made = &nodes->items[nodes->n];
    made->cores = made->most_cores = 0;
    privacy_node_name(privacy, host, made->name);
    *node = (uint32_t)nodes->n++;
    return PV_OK;
}

void log_nodes_hold(struct log_nodes *nodes, uint32_t node, int64_t cores)
{
    if (node >= nodes->n)
        return;
    struct log_node *held = &nodes->items[node];
    held->cores = log_add(held->cores, cores);
    if (held->cores > held->most_cores)
        held->most_cores = held->cores;
}

bool log_nodes_build(const struct log_nodes *nodes, struct arena *arena, struct run *run)
{
    run->nodes = arena_calloc(arena, nodes->n, sizeof *run->nodes);
    if (run->nodes == NULL)
        return false;
    run->n_nodes = nodes->n;
    for (size_t i = 0; i < nodes->n; i++) {
        const struct log_node *node = &nodes->items[i];
        run->nodes[i].cores = node->most_cores > 0 ? node->most_cores : RUN_UNKNOWN;
        if (!log_text_copy(arena, node->name, &run->nodes[i].name))
            return false;
    }
    return true;
}

const int64_t *log_known_list(const int64_t values[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (values[i] >= 0)
            return values;
    return NULL;
}

void log_nodes_fini(struct log_nodes *nodes, struct budget *budget)
{
    budget_free(budget, nodes->items, nodes->capacity, sizeof *nodes->items);
    idmap_fini(&nodes->at, budget);
}
