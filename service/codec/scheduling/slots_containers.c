#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/plural.h"
#include "codec/scheduling/slots_simulation_internal.h"
#include "core/scheduling/slots/slots_resources.h"

/* Jobs in containers on nodes that have room for them, in place of slots. */

static const char *const members[SLOTS_KINDS] = {
    [SLOTS_MAP] = "map_container", [SLOTS_REDUCE] = "reduce_container"};

#define T struct codec_slots_container
static const struct shape_member container_members[] = {
    {"vcores", SHAPE_COUNT(T, vcores), .flags = CODEC_REQUIRED, .least = 1,
     .most = CODEC_VCORES_MAX},
    {"memory_bytes", SHAPE_COUNT(T, memory_bytes), .flags = CODEC_REQUIRED, .least = 1,
     .most = CODEC_SEED_MAX},
};
const struct shape codec_slots_container_shape = {.request = "SlotsContainer",
                                                  SHAPE_OF(container_members, T)};

void codec_slots_decode_containers(const struct codec_node *node,
                                   struct codec_slots_container containers[SLOTS_KINDS])
{
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        struct codec_node given = codec_object(node, members[kind], CODEC_OPTIONAL);
        containers[kind] = (struct codec_slots_container){RUN_UNKNOWN, RUN_UNKNOWN};
        if (given.json != NULL)
            shape_decode(&given, &codec_slots_container_shape, NULL, &containers[kind]);
    }
}

void codec_slots_encode_container(struct writer *w,
                                  enum slots_kind kind,
                                  const struct codec_slots_container *container)
{
    if (container->vcores == RUN_UNKNOWN)
        return;
    writer_key(w, members[kind]);
    shape_encode(w, &codec_slots_container_shape, container, 0, NULL);
}

bool codec_slots_has_room(const struct codec_slots_simulation *asked)
{
    return asked->sent_cluster.n_nodes > 0 && asked->sent_cluster.nodes[0].vcores != RUN_UNKNOWN;
}

void codec_slots_take_rooms(const struct codec_node *top, struct codec_slots_simulation *asked)
{
    const struct codec_slots_cluster *sent = &asked->sent_cluster;
    struct codec_node cluster = codec_member(top, "cluster");
    struct slots_node *nodes = codec_allocate(top, sent->n_nodes, sizeof *nodes);
    uint64_t bytes = 0;
    if (nodes == NULL)
        return;
    for (size_t i = 0; i < sent->n_nodes; i++) {
        const struct codec_slots_node *of = &sent->nodes[i];
        nodes[i] = (struct slots_node){.speed = of->speed,
                                       .level = of->level != SIZE_MAX ? of->level : 0,
                                       .bandwidth_bytes_per_s = codec_slots_bandwidth(sent, i),
                                       .room = {(uint64_t)of->vcores, (uint64_t)of->memory_bytes}};
        if (bytes <= CODEC_SEED_MAX)
            bytes += nodes[i].room.memory_bytes;
        slots_resources_add(&asked->cluster.room, &nodes[i].room, 1);
    }
    asked->cluster.nodes = asked->nodes = nodes;
    asked->cluster.n_nodes = sent->n_nodes;
    if (bytes > CODEC_SEED_MAX)
        codec_fault_member(&cluster, "nodes", "out_of_range",
                           "together they have more than %" PRId64 " bytes of memory",
                           (int64_t)CODEC_SEED_MAX);
}

/* --- what fits --- */

static int order_by_vcores(const void *a, const void *b)
{
    const struct slots_resources *x = a;
    const struct slots_resources *y = b;
    return (x->vcores > y->vcores) - (x->vcores < y->vcores);
}

/* Nodes by vcores, rising, each with the most memory of those from it on. NULL: no memory. */
static struct slots_resources *sort_rooms(const struct codec_node *top,
                                          const struct slots_cluster *cluster)
{
    size_t n = cluster->n_nodes;
    struct slots_resources *rooms = codec_allocate(top, n, sizeof *rooms);
    if (rooms == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++)
        rooms[i] = cluster->nodes[i].room;
    qsort(rooms, n, sizeof *rooms, order_by_vcores);
    for (size_t i = n - 1; i-- > 0;)
        if (rooms[i].memory_bytes < rooms[i + 1].memory_bytes)
            rooms[i].memory_bytes = rooms[i + 1].memory_bytes;
    return rooms;
}

static bool
fits(const struct slots_resources rooms[], size_t n, const struct slots_resources *request)
{
    size_t first = 0; /* with enough vcores */
    size_t end = n;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (rooms[middle].vcores >= request->vcores)
            end = middle;
        else
            first = middle + 1;
    }
    return first < n && slots_resources_fit(request, &rooms[first]);
}

/* --- requests --- */

static struct slots_resources resources_of(const struct codec_slots_container *container)
{
    return (struct slots_resources){(uint64_t)container->vcores, (uint64_t)container->memory_bytes};
}

/* What is wanted so far, and who wants it: the request, or a job of it. */
struct wanting {
    const struct slots_resources *rooms;
    size_t n_nodes;
    struct slots_resources *wanted;
    size_t n;
    bool at_fault[SLOTS_KINDS]; /* what jobs want that say nothing else fits nowhere */
};

/* A container that fits nowhere is at fault once, where it is said. */
static void want(struct wanting *wanting,
                 const struct codec_node *node,
                 bool own,
                 size_t kind,
                 const struct slots_resources *request)
{
    wanting->wanted[wanting->n++] = *request;
    if (fits(wanting->rooms, wanting->n_nodes, request) || (!own && wanting->at_fault[kind]))
        return;
    wanting->at_fault[kind] = wanting->at_fault[kind] || !own;
    codec_fault_member(node, members[kind], "out_of_range",
                       "does not fit any node: it takes %" PRIu64 " vcore%s and %" PRIu64
                       " byte%s of memory",
                       request->vcores, PLURAL(request->vcores), request->memory_bytes,
                       PLURAL(request->memory_bytes));
}

static void take_job(const struct codec_node *top,
                     const struct codec_node *item,
                     const struct codec_slots_simulation *asked,
                     struct codec_slots_job *sent,
                     struct slots_resources requests[SLOTS_KINDS],
                     struct wanting *wanting)
{
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        bool own = sent->containers[kind].vcores != RUN_UNKNOWN;
        requests[kind] = own ? resources_of(&sent->containers[kind]) : asked->requests[kind];
        if (sent->job.task_lists[kind].n > 0)
            want(wanting, own ? item : top, own, kind, &requests[kind]);
    }
    sent->job.requests = requests;
}

/* false: no memory, or faults. */
static bool take_requests(const struct codec_node *top,
                          struct codec_slots_simulation *asked,
                          struct wanting *wanting)
{
    struct codec_node list = codec_member(top, "jobs");
    size_t n = SLOTS_KINDS * (asked->n_sent > 0 ? asked->n_sent : 1);
    size_t faults = top->reader->err->n_faults;
    struct slots_resources *requests = codec_allocate(top, n, sizeof *requests);
    wanting->wanted = codec_allocate(top, n, sizeof *wanting->wanted);
    if (wanting->rooms == NULL || requests == NULL || wanting->wanted == NULL)
        return false;
    for (size_t i = 0; i < asked->n_sent; i++) {
        struct codec_node item = codec_item(&list, i);
        take_job(top, &item, asked, &asked->sent[i], &requests[SLOTS_KINDS * i], wanting);
    }
    /* Of a workload whose jobs are not there yet. */
    for (size_t kind = 0; asked->n_sent == 0 && kind < SLOTS_KINDS; kind++)
        want(wanting, top, false, kind, &asked->requests[kind]);
    return top->reader->err->n_faults == faults;
}

/* --- policies --- */

static void check_policies(const struct codec_node *top, const struct codec_slots_simulation *asked)
{
    struct codec_node list = codec_member(top, "policies");
    for (size_t p = 0; p < asked->common.n_policies; p++) {
        const struct slots_terms *terms = &asked->policies[p];
        struct codec_node item = codec_item(&list, p);
        if (terms->policy->container_order == SLOTS_WITHOUT_CONTAINERS)
            codec_fault_member(&item, "policy", "conflict",
                               "must not divide slots when the nodes have room for containers");
        else if (terms->policy->container_order == SLOTS_ALIKE && asked->cluster.n_sizes > 1)
            codec_fault_member(
                &item, "policy", "conflict",
                "must be one for containers of several sizes: the containers have %zu sizes",
                asked->cluster.n_sizes);
        else if (terms->policy == &slots_policy_fair && terms->concurrency > 0)
            codec_fault_member(
                &item, "concurrency", "conflict",
                "is allowed only with slots, and the nodes have room for containers");
    }
    if (asked->common.search.asked)
        codec_fault_member(top, "search", "conflict",
                           "is allowed only with slots, and the nodes have room for containers");
}

/* --- slots --- */

static void refuse(const struct codec_node *node, const char *member)
{
    if (codec_present(node, member))
        codec_fault_member(node, member, "conflict",
                           "must not be given together with slots: tasks have containers when "
                           "nodes have vcores and memory_bytes");
}

static void refuse_containers(const struct codec_node *top,
                              const struct codec_slots_simulation *asked)
{
    struct codec_node jobs = codec_member(top, "jobs");
    refuse(top, "reduce_ramp_up_limit");
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        refuse(top, members[kind]);
        for (size_t i = 0; i < asked->n_sent; i++) {
            struct codec_node item = codec_item(&jobs, i);
            refuse(&item, members[kind]);
        }
    }
}

/* --- both --- */

static void take_defaults(struct codec_slots_simulation *asked)
{
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        if (asked->containers[kind].vcores == RUN_UNKNOWN)
            asked->containers[kind] =
                (struct codec_slots_container){SLOTS_CONTAINER_VCORES, SLOTS_CONTAINER_BYTES};
        asked->requests[kind] = resources_of(&asked->containers[kind]);
    }
    if (isnan(asked->ramp_up))
        asked->ramp_up = SLOTS_RAMP_UP;
    asked->cluster.ramp_up = asked->ramp_up;
}

void codec_slots_take_containers(const struct codec_node *top, struct codec_slots_simulation *asked)
{
    if (!codec_slots_has_room(asked)) {
        refuse_containers(top, asked);
        return;
    }
    take_defaults(asked);
    struct wanting wanting = {.rooms = sort_rooms(top, &asked->cluster),
                              .n_nodes = asked->cluster.n_nodes};
    if (take_requests(top, asked, &wanting) &&
        slots_resources_measure(&asked->cluster, asked->nodes, wanting.wanted, wanting.n,
                                top->reader->arena, top->reader->err) == PV_OK)
        check_policies(top, asked);
}
