#ifndef CORE_SCHEDULING_NETWORK_NODE_FLOWS_H
#define CORE_SCHEDULING_NETWORK_NODE_FLOWS_H

#include "core/scheduling/network/key_table.h"
#include "core/scheduling/network/max_min.h"
#include "core/sim/event_queue.h"

/*
 * Bytes on their way between nodes, as time goes on. Every node has a link out and a link in, of its
 * bandwidth each; between links the network is not limited. Flows share links max-min fair (max_min.h).
 * Those between the same two nodes have one rate, so they are one route.
 *
 * Within an instant flows begin, grow, end and are stopped; then node_flows_settle finds the rates from
 * that instant on. A flow ends when its bytes are there. An end that is within 1e-9 max(1, t) of another
 * instant t belongs to it: what is alike ends at one time in spite of rounding, and ends so near are not
 * instants of their own.
 */
#define NODE_FLOW_NONE UINT32_MAX

struct node_flow {
    double left;   /* bytes of each of its weight, since its pair was rebased */
    double weight; /* so many flows that are alike, a whole number >= 1 */
    uint32_t pair;
    uint32_t before; /* flows of the pair; NODE_FLOW_NONE: none */
    uint32_t after;
};

/* Two nodes, and what flows between them; its index is that of its route. */
struct node_pair {
    double since_s;
    double rate;    /* bytes a second of a flow, since then */
    double given;   /* bytes, to each flow, since the pair was rebased */
    double least;   /* that is left of a flow, likewise; HUGE_VAL: there is none */
    uint32_t first; /* flow */
    uint32_t from;  /* nodes */
    uint32_t to;
};

struct node_flows {
    struct arena *arena;
    size_t n_nodes;
    double *bandwidth;      /* by node, bytes a second */
    double *moved;          /* by link: those out of nodes, then those in; bytes so far */
    struct max_min network; /* links likewise */
    struct key_table pairs; /* by their nodes */
    VECTOR(struct node_pair) of_pairs;
    VECTOR(struct node_flow) flows;
    uint32_t free; /* chain, by `after`, of flows that are over */
    struct event_queue ends;
    event_id *end;   /* by node: the first end of a flow that comes in; 0: none */
    uint32_t *stale; /* nodes, where that may be another one */
    size_t n_stale;
    bool *is_stale;
    VECTOR(uint32_t) ended; /* flows */
};

/* Nothing flows. bandwidth: of n < 2^31 nodes, > 0 where flows begin or end; the caller's, who keeps it.
 * false: out of memory. */
bool node_flows_init(struct node_flows *flows,
                     double bandwidth[],
                     size_t n_nodes,
                     struct arena *arena);

/* So many flows of so many bytes each begin between different nodes; NODE_FLOW_NONE: out of memory.
 * Numbers of flows that are over are used again. */
uint32_t node_flows_begin(
    struct node_flows *flows, double now_s, size_t from, size_t to, double bytes, double weight);

/* Each of the flows has so many bytes more to come. */
void node_flows_extend(struct node_flows *flows, double now_s, uint32_t flow, double bytes);

/* So many more are alike. Nothing has flowed yet. */
void node_flows_join(struct node_flows *flows, double now_s, uint32_t flow, double weight);

void node_flows_stop(struct node_flows *flows, double now_s, uint32_t flow);

/* Nothing comes out of a node, or as much as its link can carry. */
void node_flows_open(struct node_flows *flows, size_t node, bool open);

/* When the next flow ends, as rates are; HUGE_VAL: none does. */
double node_flows_next(const struct node_flows *flows);

/* Flows whose ends belong to now are over: those of ended.items[0..ended.n), valid until a flow begins.
 * false: out of memory. */
bool node_flows_end(struct node_flows *flows, double now_s);

/* Rates from now on. *looked_at grows by the routes that were looked at. false: out of memory. */
bool node_flows_settle(struct node_flows *flows, double now_s, size_t *looked_at);

/* Bytes that have left all nodes until now. */
double node_flows_moved(struct node_flows *flows, double now_s);

#endif
