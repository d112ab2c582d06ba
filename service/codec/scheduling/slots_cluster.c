#include <math.h>

#include "base/quantity_text.h"
#include "codec/scheduling/slots_simulation_internal.h"

/* Where jobs on slots run: slots that are alike, or those of nodes, and what happens to these. */

enum { NODES_MAX = 10000, LEVEL_MAX = 1000 };

/* Of a node to the usual one, and of a node to itself. */
#define SPEED_MIN 1e-6
#define SPEED_MAX 1e6

/* --- nodes --- */

/* Slots of both kinds, or room for containers of either resource. */
static void check_form(const struct codec_node *node)
{
    static const char *const members[2][2] = {{"map_slots", "reduce_slots"},
                                              {"vcores", "memory_bytes"}};
    bool given[2];
    for (size_t form = 0; form < 2; form++)
        given[form] =
            codec_present(node, members[form][0]) || codec_present(node, members[form][1]);
    for (size_t i = 0; i < 2; i++) {
        if (given[0] && codec_present(node, members[1][i]))
            codec_fault_member(
                node, members[1][i], "conflict",
                "must not be given together with slots: a node has slots, or room for containers");
        if (given[0] != given[1] && !codec_present(node, members[given[1]][i]))
            codec_fault_member(node, members[given[1]][i], "required",
                               "is required together with %s", members[given[1]][1 - i]);
        if (!given[0] && !given[1])
            codec_fault_member(node, members[0][i], "required",
                               "is required when a node has no vcores and memory_bytes");
    }
}

static void check_node(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_slots_node *sent = object;
    (void)limits;
    if (!codec_present(node, "speed"))
        sent->speed = 1;
    check_form(node);
}

#define N struct codec_slots_node
static const struct shape_member node_members[] = {
    {"name", SHAPE_NAME(N, name), .flags = CODEC_REQUIRED},
    {"map_slots", SHAPE_SIZE(N, slots[SLOTS_MAP]), .flags = SHAPE_OMIT_UNKNOWN,
     .most = CODEC_COUNT_MAX},
    {"reduce_slots", SHAPE_SIZE(N, slots[SLOTS_REDUCE]), .flags = SHAPE_OMIT_UNKNOWN,
     .most = CODEC_COUNT_MAX},
    {"vcores", SHAPE_COUNT(N, vcores), .flags = SHAPE_OMIT_UNKNOWN, .least = 1,
     .most = CODEC_VCORES_MAX},
    {"memory_bytes", SHAPE_COUNT(N, memory_bytes), .flags = SHAPE_OMIT_UNKNOWN, .least = 1,
     .most = CODEC_SEED_MAX},
    {"speed", SHAPE_NUMBER(N, speed), .low = SPEED_MIN, .high = SPEED_MAX},
    {"level", SHAPE_SIZE(N, level), .flags = SHAPE_OMIT_UNKNOWN, .least = 1, .most = LEVEL_MAX},
    {"bandwidth_bytes_per_s", SHAPE_NUMBER(N, bandwidth_bytes_per_s), .flags = SHAPE_OMIT_UNKNOWN,
     .low = CODEC_RATE_MIN, .high = CODEC_RATE_MAX},
};
const struct shape codec_slots_node_shape = {.request = "SlotsNode",
                                             SHAPE_OF(node_members, N),
                                             .check = check_node,
                                             .unique = "name",
                                             .twice = "another node has this name"};

/* --- the cluster --- */

/* All nodes are of one form, that of the first one. */
static void check_forms(const struct codec_node *cluster, const struct codec_slots_cluster *sent)
{
    struct codec_node list = codec_member(cluster, "nodes");
    for (size_t i = 1; i < sent->n_nodes; i++) {
        struct codec_node item = codec_item(&list, i);
        bool slots = sent->nodes[i].slots[SLOTS_MAP] != SIZE_MAX;
        bool room = sent->nodes[i].vcores != RUN_UNKNOWN;
        if (slots && sent->nodes[0].vcores != RUN_UNKNOWN)
            codec_fault_member(
                &item, "map_slots", "conflict",
                "must not be given together with nodes that have room for containers");
        if (room && sent->nodes[0].slots[SLOTS_MAP] != SIZE_MAX)
            codec_fault_member(&item, "vcores", "conflict",
                               "must not be given together with nodes that have slots");
    }
}

static void check_cluster(const struct codec_node *node, const void *limits, void *object)
{
    static const char *const members[SLOTS_KINDS] = {
        [SLOTS_MAP] = "map_slots", [SLOTS_REDUCE] = "reduce_slots"};
    bool nodes = codec_present(node, "nodes");
    (void)limits;
    check_forms(node, object);
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        bool given = codec_present(node, members[kind]);
        if (nodes && given)
            codec_fault_member(node, members[kind], "conflict",
                               "must not be given together with nodes: the slots of the nodes are "
                               "counted already");
        else if (!nodes && !given)
            codec_fault_member(node, members[kind], "required",
                               "is required when the nodes are not listed");
    }
    if (!nodes && codec_present(node, "bandwidth_bytes_per_s"))
        codec_fault_member(node, "nodes", "required",
                           "is required together with bandwidth_bytes_per_s, which is that of the "
                           "links of the nodes");
}

#define C struct codec_slots_cluster
static const struct shape_member cluster_members[] = {
    {"map_slots", SHAPE_SIZE(C, slots[SLOTS_MAP]), .flags = SHAPE_OMIT_UNKNOWN, .least = 1,
     .most = CODEC_COUNT_MAX},
    {"reduce_slots", SHAPE_SIZE(C, slots[SLOTS_REDUCE]), .flags = SHAPE_OMIT_UNKNOWN,
     .most = CODEC_COUNT_MAX},
    {"nodes", SHAPE_OBJECTS(C, nodes, n_nodes, &codec_slots_node_shape),
     .flags = SHAPE_OMIT_UNKNOWN, .least = 1, .most = NODES_MAX},
    {"bandwidth_bytes_per_s", SHAPE_NUMBER(C, bandwidth_bytes_per_s), .flags = SHAPE_OMIT_UNKNOWN,
     .low = CODEC_RATE_MIN, .high = CODEC_RATE_MAX},
};
const struct shape codec_slots_cluster_shape = {
    .request = "SlotsCluster", SHAPE_OF(cluster_members, C), .check = check_cluster};

/* --- incidents --- */

static void check_incident(const struct codec_node *node, const void *limits, void *object)
{
    const struct codec_slots_incident *sent = object;
    (void)limits;
    if (sent->until_s <= sent->at_s)
        codec_fault_member(node, "until_s", "out_of_range", "must be after at_s, %s",
                           quantity_digits(sent->at_s, 15).text);
    if (sent->down && codec_present(node, "speed_factor"))
        codec_fault_member(
            node, "speed_factor", "conflict",
            "must not be given together with down: a node that is down has no speed");
    if (!sent->down && !codec_present(node, "speed_factor"))
        codec_fault_member(node, "speed_factor", "required",
                           "is required when the node is not down");
}

#define I struct codec_slots_incident
static const struct shape_member incident_members[] = {
    {"node", SHAPE_NAME(I, node), .flags = CODEC_REQUIRED},
    {"at_s", SHAPE_NUMBER(I, at_s), .flags = CODEC_REQUIRED, .low = 0, .high = CODEC_SECONDS_MAX},
    {"until_s", SHAPE_NUMBER(I, until_s), .flags = CODEC_REQUIRED, .low = 0,
     .high = CODEC_SECONDS_MAX},
    {"speed_factor", SHAPE_NUMBER(I, speed_factor), .flags = SHAPE_OMIT_UNKNOWN, .low = 0,
     .high = SPEED_MAX},
    {"down", SHAPE_BOOLEAN(I, down), .flags = SHAPE_OMIT_UNKNOWN},
};
const struct shape codec_slots_incident_shape = {
    .request = "SlotsIncident", SHAPE_OF(incident_members, I), .check = check_incident};

/* --- as the core has them --- */

const char *codec_slots_place(const struct codec_slots_simulation *asked, enum slots_kind kind)
{
    return asked->sent_cluster.n_nodes > 0 ? "nodes"
           : kind == SLOTS_MAP             ? "map_slots"
                                           : "reduce_slots";
}

static void take_nodes(const struct codec_node *top, struct codec_slots_simulation *asked)
{
    const struct codec_slots_cluster *sent = &asked->sent_cluster;
    struct codec_node cluster = codec_member(top, "cluster");
    struct slots_node *nodes = codec_allocate(top, sent->n_nodes, sizeof *nodes);
    if (nodes == NULL)
        return;
    asked->cluster.slots[SLOTS_MAP] = asked->cluster.slots[SLOTS_REDUCE] = 0;
    for (size_t i = 0; i < sent->n_nodes; i++) {
        const struct codec_slots_node *of = &sent->nodes[i];
        nodes[i] =
            (struct slots_node){.speed = of->speed, .level = of->level != SIZE_MAX ? of->level : 0};
        nodes[i].bandwidth_bytes_per_s = codec_slots_bandwidth(sent, i);
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
            nodes[i].slots[kind] = of->slots[kind];
            asked->cluster.slots[kind] += of->slots[kind];
        }
    }
    asked->cluster.nodes = asked->nodes = nodes;
    asked->cluster.n_nodes = sent->n_nodes;
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        size_t slots = asked->cluster.slots[kind];
        if (slots > CODEC_COUNT_MAX || (kind == SLOTS_MAP && slots == 0))
            codec_fault_member(&cluster, "nodes", "out_of_range",
                               "together they have %zu %s slots, %d to %zu are allowed", slots,
                               kind == SLOTS_MAP ? "map" : "reduce", kind == SLOTS_MAP ? 1 : 0,
                               (size_t)CODEC_COUNT_MAX);
    }
}

/* Of all nodes, or of none. */
static void check_levels(const struct codec_node *top, const struct codec_slots_cluster *sent)
{
    struct codec_node cluster = codec_member(top, "cluster");
    struct codec_node nodes = codec_member(&cluster, "nodes");
    size_t given = 0;
    for (size_t i = 0; i < sent->n_nodes; i++)
        given += sent->nodes[i].level != SIZE_MAX;
    for (size_t i = 0; given > 0 && i < sent->n_nodes; i++) {
        struct codec_node node = codec_item(&nodes, i);
        if (sent->nodes[i].level == SIZE_MAX)
            codec_fault_member(&node, "level", "required",
                               "is required when other nodes have a level");
    }
}

static void take_incidents(const struct codec_node *top, struct codec_slots_simulation *asked)
{
    const struct codec_slots_cluster *sent = &asked->sent_cluster;
    struct codec_node list = codec_member(top, "incidents");
    struct slots_incident *incidents =
        codec_allocate(top, asked->n_sent_incidents, sizeof *incidents);
    for (size_t i = 0; incidents != NULL && i < asked->n_sent_incidents; i++) {
        const struct codec_slots_incident *of = &asked->sent_incidents[i];
        struct codec_node item = codec_item(&list, i);
        size_t node = 0;
        while (node < sent->n_nodes && !strview_equal(sent->nodes[node].name, of->node))
            node++;
        if (node == sent->n_nodes)
            codec_fault_member(&item, "node", "not_allowed", "must be the name of a node");
        incidents[i] = (struct slots_incident){.node = node,
                                               .at_s = of->at_s,
                                               .until_s = of->until_s,
                                               .speed_factor = of->down ? 1 : of->speed_factor,
                                               .down = of->down};
    }
    asked->cluster.incidents = incidents;
    asked->cluster.n_incidents = asked->n_sent_incidents;
}

void codec_slots_take_cluster(const struct codec_node *top, struct codec_slots_simulation *asked)
{
    const struct codec_slots_cluster *sent = &asked->sent_cluster;
    struct codec_node cluster = codec_member(top, "cluster");
    if (sent->n_nodes > 0) {
        if (codec_slots_has_room(asked))
            codec_slots_take_rooms(top, asked);
        else
            take_nodes(top, asked);
        check_levels(top, sent);
        take_incidents(top, asked);
        return;
    }
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        asked->cluster.slots[kind] = sent->slots[kind];
    if (asked->n_sent_incidents > 0)
        codec_fault_member(&cluster, "nodes", "required",
                           "is required when something happens to nodes");
}

/* --- how long it may take --- */

void codec_slots_size_by_nodes(const struct slots_cluster *cluster,
                               struct codec_comparison_size *size)
{
    double slowest = 1;
    double fastest = 1;
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        slowest = fmin(slowest, cluster->nodes[i].speed);
        fastest = fmax(fastest, cluster->nodes[i].speed);
    }
    /* From the end of the last incident on, no task takes longer than on the slowest node. */
    for (size_t i = 0; i < cluster->n_incidents; i++) {
        size->last_s = fmax(size->last_s, cluster->incidents[i].until_s);
        fastest *= fmax(1, cluster->incidents[i].speed_factor);
    }
    size->work_s /= slowest;
    size->shortest_s /= fastest;
}
