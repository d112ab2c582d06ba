/*
 * What has flowed is counted by pairs of nodes, whose flows have one rate: `given` to each of them since
 * the pair was rebased, which is when one of them begins, ends or changes. So a new rate costs the same
 * however many flows a pair has, and no flow's rest is the difference of much larger figures.
 */
#include "core/scheduling/network/node_flows.h"

#include <math.h>

/* Of an instant. */
static const double TOLERANCE = 1e-9;

static double tolerance(double now_s)
{
    return TOLERANCE * fmax(1, now_s);
}

bool node_flows_init(struct node_flows *flows,
                     double bandwidth[],
                     size_t n_nodes,
                     struct arena *arena)
{
    *flows = (struct node_flows){
        .arena = arena, .n_nodes = n_nodes, .bandwidth = bandwidth, .free = NODE_FLOW_NONE};
    flows->moved = arena_calloc(arena, 2 * n_nodes, sizeof *flows->moved);
    flows->end = arena_calloc(arena, n_nodes, sizeof *flows->end);
    flows->stale = arena_array(arena, n_nodes, sizeof *flows->stale);
    flows->is_stale = arena_calloc(arena, n_nodes, sizeof *flows->is_stale);
    if (flows->moved == NULL || flows->end == NULL || flows->stale == NULL ||
        flows->is_stale == NULL || !max_min_init(&flows->network, 2 * n_nodes, arena) ||
        !key_table_init(&flows->pairs, arena) || !event_queue_init(&flows->ends, arena))
        return false;
    for (size_t node = 0; node < n_nodes; node++) {
        max_min_set_capacity(&flows->network, node, bandwidth[node]);
        max_min_set_capacity(&flows->network, n_nodes + node, bandwidth[node]);
    }
    return true;
}

/* --- pairs --- */

static void make_stale(struct node_flows *flows, size_t node)
{
    if (flows->is_stale[node])
        return;
    flows->is_stale[node] = true;
    flows->stale[flows->n_stale++] = (uint32_t)node;
}

static void move(struct node_flows *flows, const struct node_pair *pair, double bytes)
{
    flows->moved[pair->from] += bytes;
    flows->moved[flows->n_nodes + pair->to] += bytes;
}

/* What has flowed until now. */
static void catch_up(struct node_flows *flows, uint32_t index, double now_s)
{
    struct node_pair *pair = &flows->of_pairs.items[index];
    double passed = pair->rate * (now_s - pair->since_s);
    pair->since_s = now_s;
    pair->given += passed;
    move(flows, pair, passed * flows->network.routes.items[index].weight);
}

/* A flow that has had all before the instant that its end belongs to has not moved more. */
static void rebase(struct node_flows *flows, uint32_t index, double now_s)
{
    catch_up(flows, index, now_s);
    struct node_pair *pair = &flows->of_pairs.items[index];
    for (uint32_t i = pair->first; i != NODE_FLOW_NONE; i = flows->flows.items[i].after) {
        struct node_flow *flow = &flows->flows.items[i];
        flow->left -= pair->given;
        if (flow->left < 0) {
            move(flows, pair, flow->left * flow->weight);
            flow->left = 0;
        }
    }
    pair->given = 0;
    make_stale(flows, pair->to);
}

/* After its flows have changed. */
static void find_least(struct node_flows *flows, uint32_t index)
{
    struct node_pair *pair = &flows->of_pairs.items[index];
    pair->least = HUGE_VAL;
    for (uint32_t i = pair->first; i != NODE_FLOW_NONE; i = flows->flows.items[i].after)
        pair->least = fmin(pair->least, flows->flows.items[i].left);
}

static uint32_t add_pair(struct node_flows *flows, double now_s, size_t from, size_t to)
{
    uint32_t index = max_min_add(&flows->network, from, flows->n_nodes + to);
    if (index == MAX_MIN_NONE || !key_table_add(&flows->pairs, key_table_key(from, to), index))
        return MAX_MIN_NONE;
    while (index >= flows->of_pairs.n)
        if (vector_add(flows->arena, &flows->of_pairs) == NULL)
            return MAX_MIN_NONE;
    flows->of_pairs.items[index] = (struct node_pair){.since_s = now_s,
                                                      .least = HUGE_VAL,
                                                      .first = NODE_FLOW_NONE,
                                                      .from = (uint32_t)from,
                                                      .to = (uint32_t)to};
    return index;
}

/* Flows that were there are rebased. */
static uint32_t find_pair(struct node_flows *flows, double now_s, size_t from, size_t to)
{
    uint32_t index = key_table_find(&flows->pairs, key_table_key(from, to));
    if (index == KEY_TABLE_NONE)
        index = add_pair(flows, now_s, from, to);
    if (index != MAX_MIN_NONE)
        rebase(flows, index, now_s);
    return index;
}

/* --- flows --- */

static uint32_t add_flow(struct node_flows *flows)
{
    uint32_t index = flows->free;
    if (index != NODE_FLOW_NONE) {
        flows->free = flows->flows.items[index].after;
        return index;
    }
    return vector_add(flows->arena, &flows->flows) == NULL ? NODE_FLOW_NONE
                                                           : (uint32_t)(flows->flows.n - 1);
}

uint32_t node_flows_begin(
    struct node_flows *flows, double now_s, size_t from, size_t to, double bytes, double weight)
{
    uint32_t at = find_pair(flows, now_s, from, to);
    uint32_t index = at != MAX_MIN_NONE ? add_flow(flows) : NODE_FLOW_NONE;
    if (index == NODE_FLOW_NONE)
        return NODE_FLOW_NONE;
    struct node_pair *pair = &flows->of_pairs.items[at];
    flows->flows.items[index] = (struct node_flow){.left = bytes,
                                                   .weight = weight,
                                                   .pair = at,
                                                   .before = NODE_FLOW_NONE,
                                                   .after = pair->first};
    if (pair->first != NODE_FLOW_NONE)
        flows->flows.items[pair->first].before = index;
    pair->first = index;
    find_least(flows, at);
    max_min_weigh(&flows->network, at, weight);
    return index;
}

void node_flows_extend(struct node_flows *flows, double now_s, uint32_t flow, double bytes)
{
    uint32_t pair = flows->flows.items[flow].pair;
    rebase(flows, pair, now_s);
    flows->flows.items[flow].left += bytes;
    find_least(flows, pair);
}

void node_flows_join(struct node_flows *flows, double now_s, uint32_t flow, double weight)
{
    uint32_t pair = flows->flows.items[flow].pair;
    rebase(flows, pair, now_s);
    flows->flows.items[flow].weight += weight;
    max_min_weigh(&flows->network, pair, weight);
}

/* The pair is rebased. */
static void take_out(struct node_flows *flows, uint32_t index)
{
    struct node_flow *items = flows->flows.items;
    struct node_flow *flow = &items[index];
    struct node_pair *pair = &flows->of_pairs.items[flow->pair];
    *(flow->before == NODE_FLOW_NONE ? &pair->first : &items[flow->before].after) = flow->after;
    if (flow->after != NODE_FLOW_NONE)
        items[flow->after].before = flow->before;
    max_min_weigh(&flows->network, flow->pair, -flow->weight);
    flow->after = flows->free;
    flows->free = index;
}

/* Flows were taken out of it. Whether there are others. */
static bool keep_pair(struct node_flows *flows, uint32_t index)
{
    const struct node_pair *pair = &flows->of_pairs.items[index];
    if (pair->first != NODE_FLOW_NONE) {
        find_least(flows, index);
        return true;
    }
    key_table_remove(&flows->pairs, key_table_key(pair->from, pair->to));
    max_min_remove(&flows->network, index);
    return false;
}

void node_flows_stop(struct node_flows *flows, double now_s, uint32_t flow)
{
    uint32_t pair = flows->flows.items[flow].pair;
    rebase(flows, pair, now_s);
    take_out(flows, flow);
    (void)keep_pair(flows, pair);
}

void node_flows_open(struct node_flows *flows, size_t node, bool open)
{
    max_min_set_capacity(&flows->network, node, open ? flows->bandwidth[node] : 0);
}

/* --- ends --- */

/* When the first of its flows ends. */
static double end_of(const struct node_pair *pair)
{
    return pair->rate > 0 ? pair->since_s + fmax(0, pair->least - pair->given) / pair->rate
                          : HUGE_VAL;
}

double node_flows_next(const struct node_flows *flows)
{
    const struct event *next = event_queue_next(&flows->ends);
    return next != NULL ? next->at : HUGE_VAL;
}

/* Bytes that would have come within the tolerance count as moved, so that none are missing. */
static bool end_flows(struct node_flows *flows, uint32_t pair, double now_s)
{
    rebase(flows, pair, now_s);
    find_least(flows, pair);
    /* The least one ends whatever rounding makes of the tolerance. */
    const struct node_pair *of = &flows->of_pairs.items[pair];
    double most = fmax(of->least, of->rate * tolerance(now_s));
    uint32_t next;
    for (uint32_t i = flows->of_pairs.items[pair].first; i != NODE_FLOW_NONE; i = next) {
        const struct node_flow *flow = &flows->flows.items[i];
        next = flow->after;
        if (flow->left > most)
            continue;
        uint32_t *ended = vector_add(flows->arena, &flows->ended);
        if (ended == NULL)
            return false;
        *ended = i;
        move(flows, of, flow->left * flow->weight);
        take_out(flows, i);
    }
    return true;
}

/* Flows that come into a node. */
static bool end_at(struct node_flows *flows, size_t node, double now_s)
{
    const struct max_min_link *link = &flows->network.links[flows->n_nodes + node];
    make_stale(flows, node);
    for (size_t k = 0; k < link->n_routes;) {
        uint32_t pair = link->routes[k];
        bool kept = true;
        if (end_of(&flows->of_pairs.items[pair]) <= now_s + tolerance(now_s)) {
            if (!end_flows(flows, pair, now_s))
                return false;
            kept = keep_pair(flows, pair); /* or another one has its place */
        }
        k += kept;
    }
    return true;
}

bool node_flows_end(struct node_flows *flows, double now_s)
{
    struct event event;
    flows->ended.n = 0;
    while (node_flows_next(flows) <= now_s + tolerance(now_s)) {
        (void)event_queue_pop(&flows->ends, &event);
        flows->end[event.about] = 0;
        if (!end_at(flows, event.about, now_s))
            return false;
    }
    return true;
}

/* --- rates --- */

static bool plan_end(struct node_flows *flows, size_t node)
{
    const struct max_min_link *link = &flows->network.links[flows->n_nodes + node];
    double at_s = HUGE_VAL;
    for (size_t k = 0; k < link->n_routes; k++)
        at_s = fmin(at_s, end_of(&flows->of_pairs.items[link->routes[k]]));
    if (flows->end[node] != 0 && isinf(at_s)) {
        (void)event_queue_cancel(&flows->ends, flows->end[node]);
        flows->end[node] = 0;
    } else if (flows->end[node] != 0) {
        (void)event_queue_move(&flows->ends, flows->end[node], at_s);
    } else if (!isinf(at_s)) {
        const struct event event = {.at = at_s, .about = node};
        flows->end[node] = event_queue_schedule(&flows->ends, &event);
        return flows->end[node] != 0;
    }
    return true;
}

bool node_flows_settle(struct node_flows *flows, double now_s, size_t *looked_at)
{
    struct max_min *network = &flows->network;
    if (!max_min_share(network, looked_at))
        return false;
    for (size_t i = 0; i < network->found.n; i++) {
        uint32_t pair = network->found.items[i];
        catch_up(flows, pair, now_s);
        flows->of_pairs.items[pair].rate = network->routes.items[pair].rate;
        make_stale(flows, flows->of_pairs.items[pair].to);
    }
    for (size_t i = 0; i < flows->n_stale; i++) {
        flows->is_stale[flows->stale[i]] = false;
        *looked_at += network->links[flows->n_nodes + flows->stale[i]].n_routes;
        if (!plan_end(flows, flows->stale[i]))
            return false;
    }
    flows->n_stale = 0;
    return true;
}

double node_flows_moved(struct node_flows *flows, double now_s)
{
    double bytes = 0;
    for (size_t i = 0; i < flows->of_pairs.n; i++)
        if (flows->network.routes.items[i].links[0] != MAX_MIN_NONE)
            catch_up(flows, (uint32_t)i, now_s);
    for (size_t node = 0; node < flows->n_nodes; node++)
        bytes += flows->moved[node];
    return bytes;
}
