#include <math.h>

#include "base/plural.h"
#include "core/scheduling/network/node_flows.h"
#include "core/scheduling/slots/slots_engine_internal.h"

#define NOTHING UINT32_MAX

/* Where maps of a job have ended. */
struct source {
    uint32_t node;
    uint32_t next; /* of the job */
    double maps;
};

/* What a job's maps put out, and who fetches it. */
struct job_outputs {
    double part_bytes; /* of a map for a reduce; 0: it has no shuffle over the network */
    uint32_t sources;
    uint32_t fetches;
};

/* A batch of reduces that does not work yet. */
struct fetch {
    size_t batch;
    size_t job;
    size_t node;
    double reduces;
    size_t coming; /* flows */
    bool held;     /* to be planned as soon as none is coming */
    uint32_t flows;
    uint32_t before; /* of the job */
    uint32_t after;
};

/* A flow of a fetch; its index is that of the flow. */
struct fetch_flow {
    uint32_t fetch;
    uint32_t from; /* node */
    uint32_t before;
    uint32_t after;
};

struct slots_network {
    struct node_flows flows;
    struct job_outputs *jobs;
    VECTOR(struct source) sources;
    VECTOR(struct fetch) fetches;
    VECTOR(struct fetch_flow) of_flows;
    VECTOR(uint32_t) fetch_of;  /* by batch */
    uint32_t free_source;       /* chain, by `next` */
    uint32_t free_fetch;        /* chain, by `after` */
    struct key_table source_of; /* by job and node */
    struct key_table flow_of;   /* by fetch and node */
    double local_bytes;
    size_t steps;
};

/* --- before and after --- */

static double part_bytes(const struct slots_job *job)
{
    double maps = (double)slots_tasks_count(&job->task_lists[SLOTS_MAP]);
    double reduces = (double)slots_tasks_count(&job->task_lists[SLOTS_REDUCE]);
    return maps > 0 && reduces > 0 ? job->shuffle_bytes / (maps * reduces) : 0;
}

bool slots_network_init(struct slots_engine *engine)
{
    const struct slots_view *view = &engine->view;
    struct arena *arena = engine->arena;
    bool any = false;
    for (size_t i = 0; i < view->n_jobs; i++)
        any = any || part_bytes(&view->jobs[i]) > 0;
    if (!any)
        return true;
    struct slots_network *network = arena_calloc(arena, 1, sizeof *network);
    double *bandwidth = arena_array(arena, view->cluster.n_nodes, sizeof *bandwidth);
    if (network == NULL || bandwidth == NULL)
        return false;
    for (size_t i = 0; i < view->cluster.n_nodes; i++)
        bandwidth[i] = view->cluster.nodes[i].bandwidth_bytes_per_s;
    network->free_source = network->free_fetch = NOTHING;
    network->jobs = arena_array(arena, view->n_jobs, sizeof *network->jobs);
    if (network->jobs == NULL || !key_table_init(&network->source_of, arena) ||
        !key_table_init(&network->flow_of, arena) ||
        !node_flows_init(&network->flows, bandwidth, view->cluster.n_nodes, arena))
        return false;
    for (size_t i = 0; i < view->n_jobs; i++)
        network->jobs[i] = (struct job_outputs){part_bytes(&view->jobs[i]), NOTHING, NOTHING};
    engine->network = network;
    return true;
}

void slots_network_take(struct slots_engine *engine, struct slots_traffic *traffic)
{
    struct slots_network *network = engine->network;
    const struct node_flows *flows = &network->flows;
    *traffic =
        (struct slots_traffic){.link_bytes = node_flows_moved(&network->flows, engine->clock.now_s),
                               .local_bytes = network->local_bytes,
                               .steps = network->steps};
    for (size_t link = 0; link < 2 * flows->n_nodes; link++) {
        double bandwidth = flows->bandwidth[link % flows->n_nodes];
        if (!(bandwidth > 0))
            continue;
        traffic->links++;
        traffic->busy_s += flows->moved[link] / bandwidth;
        traffic->busiest_s = fmax(traffic->busiest_s, flows->moved[link] / bandwidth);
    }
}

/* --- flows of a fetch --- */

static void add_flow(struct slots_engine *engine, uint32_t index, size_t from, double bytes)
{
    struct slots_network *network = engine->network;
    struct fetch *fetch = &network->fetches.items[index];
    uint32_t flow = node_flows_begin(&network->flows, engine->clock.now_s, from, fetch->node, bytes,
                                     fetch->reduces);
    bool added = flow != NODE_FLOW_NONE;
    while (added && flow >= network->of_flows.n)
        added = vector_add(engine->arena, &network->of_flows) != NULL;
    if (!added || !key_table_add(&network->flow_of, key_table_key(index, from), flow)) {
        engine->no_memory = true;
        return;
    }
    network->of_flows.items[flow] =
        (struct fetch_flow){index, (uint32_t)from, NOTHING, fetch->flows};
    if (fetch->flows != NOTHING)
        network->of_flows.items[fetch->flows].before = flow;
    fetch->flows = flow;
    fetch->coming++;
}

/* It has ended, or is stopped. */
static void forget_flow(struct slots_network *network, uint32_t index)
{
    struct fetch_flow *flows = network->of_flows.items;
    const struct fetch_flow flow = flows[index];
    struct fetch *fetch = &network->fetches.items[flow.fetch];
    *(flow.before == NOTHING ? &fetch->flows : &flows[flow.before].after) = flow.after;
    if (flow.after != NOTHING)
        flows[flow.after].before = flow.before;
    fetch->coming--;
    key_table_remove(&network->flow_of, key_table_key(flow.fetch, flow.from));
}

/* --- fetches --- */

static uint32_t new_fetch(struct slots_engine *engine)
{
    struct slots_network *network = engine->network;
    uint32_t index = network->free_fetch;
    if (index != NOTHING)
        network->free_fetch = network->fetches.items[index].after;
    else if (vector_add(engine->arena, &network->fetches) != NULL)
        index = (uint32_t)(network->fetches.n - 1);
    return index;
}

static bool note_fetch(struct slots_engine *engine, size_t batch, uint32_t fetch)
{
    struct slots_network *network = engine->network;
    while (fetch != NOTHING && batch >= network->fetch_of.n) {
        uint32_t *added = vector_add(engine->arena, &network->fetch_of);
        if (added == NULL)
            return false;
        *added = NOTHING;
    }
    if (fetch != NOTHING)
        network->fetch_of.items[batch] = fetch;
    return fetch != NOTHING;
}

static uint32_t fetch_at(const struct slots_network *network, size_t batch)
{
    return batch < network->fetch_of.n ? network->fetch_of.items[batch] : NOTHING;
}

void slots_network_fetch(struct slots_engine *engine, size_t batch)
{
    struct slots_network *network = engine->network;
    const struct slots_batch *of = &engine->batches.items[batch];
    struct job_outputs *job = &network->jobs[of->job];
    if (!(job->part_bytes > 0))
        return;
    uint32_t index = new_fetch(engine);
    if (!note_fetch(engine, batch, index)) {
        engine->no_memory = true;
        return;
    }
    size_t node = engine->hosting->attempts.items[batch].node;
    network->fetches.items[index] = (struct fetch){.batch = batch,
                                                   .job = of->job,
                                                   .node = node,
                                                   .reduces = (double)of->count,
                                                   .flows = NOTHING,
                                                   .before = NOTHING,
                                                   .after = job->fetches};
    if (job->fetches != NOTHING)
        network->fetches.items[job->fetches].before = index;
    job->fetches = index;
    for (uint32_t s = job->sources; s != NOTHING; s = network->sources.items[s].next) {
        const struct source *source = &network->sources.items[s];
        if (source->node != node)
            add_flow(engine, index, source->node, source->maps * job->part_bytes);
        engine->looked_through++;
    }
}

/* Reduces have what was on their own node. */
static void count_local(struct slots_network *network, size_t job, size_t node, double reduces)
{
    uint32_t own = key_table_find(&network->source_of, key_table_key(job, node));
    if (own != KEY_TABLE_NONE)
        network->local_bytes +=
            reduces * network->sources.items[own].maps * network->jobs[job].part_bytes;
}

/* A batch that works already has had nothing to wait for, and others like it have not either. */
void slots_network_join(struct slots_engine *engine, size_t batch, size_t count)
{
    struct slots_network *network = engine->network;
    uint32_t index = fetch_at(network, batch);
    if (index == NOTHING) {
        count_local(network, engine->batches.items[batch].job,
                    engine->hosting->attempts.items[batch].node, (double)count);
        return;
    }
    struct fetch *fetch = &network->fetches.items[index];
    fetch->reduces += (double)count;
    for (uint32_t f = fetch->flows; f != NOTHING; f = network->of_flows.items[f].after)
        node_flows_join(&network->flows, engine->clock.now_s, f, (double)count);
}

bool slots_network_holds(struct slots_engine *engine, size_t batch)
{
    struct slots_network *network = engine->network;
    uint32_t index = fetch_at(network, batch);
    if (index == NOTHING)
        return false;
    network->fetches.items[index].held = true;
    return network->fetches.items[index].coming > 0;
}

/* The fetch of a batch is no more. */
static void drop_fetch(struct slots_network *network, uint32_t index)
{
    struct fetch *fetches = network->fetches.items;
    struct fetch *fetch = &fetches[index];
    *(fetch->before == NOTHING ? &network->jobs[fetch->job].fetches
                               : &fetches[fetch->before].after) = fetch->after;
    if (fetch->after != NOTHING)
        fetches[fetch->after].before = fetch->before;
    network->fetch_of.items[fetch->batch] = NOTHING;
    fetch->after = network->free_fetch;
    network->free_fetch = index;
}

void slots_network_begun(struct slots_engine *engine, size_t batch)
{
    struct slots_network *network = engine->network;
    uint32_t index = fetch_at(network, batch);
    if (index == NOTHING)
        return;
    const struct fetch *fetch = &network->fetches.items[index];
    count_local(network, fetch->job, fetch->node, fetch->reduces);
    drop_fetch(network, index);
}

void slots_network_over(struct slots_engine *engine, size_t batch)
{
    struct slots_network *network = engine->network;
    uint32_t index = fetch_at(network, batch);
    if (index == NOTHING)
        return;
    for (uint32_t f = network->fetches.items[index].flows; f != NOTHING;
         f = network->fetches.items[index].flows) {
        forget_flow(network, f);
        node_flows_stop(&network->flows, engine->clock.now_s, f);
    }
    drop_fetch(network, index);
}

/* --- maps --- */

/* Where the job's maps of a node are counted; NULL: out of memory. */
static struct source *find_source(struct slots_engine *engine, size_t job, size_t node)
{
    struct slots_network *network = engine->network;
    uint32_t index = key_table_find(&network->source_of, key_table_key(job, node));
    if (index != KEY_TABLE_NONE)
        return &network->sources.items[index];
    index = network->free_source;
    if (index != NOTHING)
        network->free_source = network->sources.items[index].next;
    else if (vector_add(engine->arena, &network->sources) != NULL)
        index = (uint32_t)(network->sources.n - 1);
    if (index == NOTHING || !key_table_add(&network->source_of, key_table_key(job, node), index))
        return NULL;
    struct source *source = &network->sources.items[index];
    *source = (struct source){.node = (uint32_t)node, .next = network->jobs[job].sources};
    network->jobs[job].sources = index;
    return source;
}

void slots_network_map_ended(struct slots_engine *engine, size_t job, size_t node, size_t count)
{
    struct slots_network *network = engine->network;
    double bytes = (double)count * network->jobs[job].part_bytes;
    if (!(bytes > 0))
        return;
    struct source *source = find_source(engine, job, node);
    if (source == NULL) {
        engine->no_memory = true;
        return;
    }
    source->maps += (double)count;
    for (uint32_t f = network->jobs[job].fetches; f != NOTHING;
         f = network->fetches.items[f].after) {
        engine->looked_through++;
        if (network->fetches.items[f].node == node)
            continue;
        uint32_t flow = key_table_find(&network->flow_of, key_table_key(f, node));
        if (flow != KEY_TABLE_NONE)
            node_flows_extend(&network->flows, engine->clock.now_s, flow, bytes);
        else
            add_flow(engine, f, node, bytes);
    }
}

void slots_network_job_ended(struct slots_engine *engine, size_t job)
{
    struct slots_network *network = engine->network;
    uint32_t next;
    for (uint32_t s = network->jobs[job].sources; s != NOTHING; s = next) {
        struct source *source = &network->sources.items[s];
        next = source->next;
        key_table_remove(&network->source_of, key_table_key(job, source->node));
        source->next = network->free_source;
        network->free_source = s;
    }
    network->jobs[job].sources = NOTHING;
}

void slots_network_open(struct slots_engine *engine, size_t node, bool open)
{
    node_flows_open(&engine->network->flows, node, open);
}

/* --- time --- */

double slots_network_next(const struct slots_network *network)
{
    return node_flows_next(&network->flows);
}

void slots_network_end(struct slots_engine *engine)
{
    struct slots_network *network = engine->network;
    engine->no_memory |= !node_flows_end(&network->flows, engine->clock.now_s);
    for (size_t i = 0; i < network->flows.ended.n; i++) {
        uint32_t flow = network->flows.ended.items[i];
        const struct fetch *fetch = &network->fetches.items[network->of_flows.items[flow].fetch];
        forget_flow(network, flow);
        if (fetch->coming == 0 && fetch->held)
            slots_batch_plan(engine, fetch->batch);
    }
}

/* What ends at once, as it takes next to no time, leaves the network to others at this instant. */
enum pv_code slots_network_settle(struct slots_engine *engine, struct pv_error *err)
{
    struct slots_network *network = engine->network;
    size_t most = engine->view.cluster.network_steps_max;
    do {
        size_t looked_at = 0;
        if (!node_flows_settle(&network->flows, engine->clock.now_s, &looked_at))
            return pv_no_memory(err);
        engine->looked_through += looked_at;
        network->steps += looked_at;
        if (most > 0 && network->steps > most)
            return pv_fault(err, PV_PLACE_POINTER, "/jobs", "out_of_range",
                            "to share the network among the shuffles of a simulation takes more "
                            "than %zu step%s (simulation_network_steps_max)",
                            most, PLURAL(most));
        slots_network_end(engine);
    } while (network->flows.ended.n > 0 && !engine->no_memory);
    return PV_OK;
}
