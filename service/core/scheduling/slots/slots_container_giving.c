/*
 * Whom containers go to, one by one: the first in the policy's order whose container fits, on the first
 * node that is not reserved (docs/design.md, "Containers").
 *
 * Jobs stand in lines whose first is looked at, so that a container costs O(lines), which are three for
 * each size of containers (and each queue of the policy "capacity"), and O(log jobs).
 */
#include "core/scheduling/slots/slots_containers.h"

#include "base/rounding.h"

/* The first of a line, and where it stands in the policy's order. */
struct standing {
    size_t job; /* SLOTS_NOBODY: there is none */
    enum container_class class;
    size_t size;
    double part; /* of the tenant's share that it holds */
    size_t tenant;
    uint64_t key;
};

static enum slots_kind kind_of(enum container_class class)
{
    return class == CONTAINER_MAP ? SLOTS_MAP : SLOTS_REDUCE;
}

/* The application master asks for maps last. */
static bool stands_before(const struct standing *a, const struct standing *b)
{
    if (a->job == SLOTS_NOBODY || b->job == SLOTS_NOBODY)
        return b->job == SLOTS_NOBODY && a->job != SLOTS_NOBODY;
    if (a->tenant != b->tenant)
        return rounding_equal(a->part, b->part) ? a->tenant < b->tenant : a->part < b->part;
    if (a->key != b->key)
        return a->key < b->key;
    if (a->job != b->job)
        return a->job < b->job;
    return kind_of(a->class) > kind_of(b->class);
}

/* --- limits --- */

/* Early reduces hold no more of the cluster than they may, with one more. */
static bool early_may(const struct slots_engine *engine, size_t size)
{
    const struct slots_cluster *cluster = &engine->view.cluster;
    struct slots_resources early = engine->containers->early;
    slots_resources_add(&early, &cluster->sizes[size], 1);
    return slots_resources_share(&early, &cluster->room) <= cluster->ramp_up;
}

/* A tenant holds no more than it may, with one more; one that holds nothing may hold one. */
static bool tenant_may(const struct slots_engine *engine, size_t tenant, size_t size)
{
    const struct slots_containers *containers = engine->containers;
    const struct slots_cluster *cluster = &engine->view.cluster;
    if (containers->tenants == NULL || containers->held[tenant].vcores == 0)
        return true;
    struct slots_resources held = containers->held[tenant];
    slots_resources_add(&held, &cluster->sizes[size], 1);
    return slots_resources_share(&held, &cluster->room) <= containers->tenants[tenant].max_share;
}

static bool
may_have(const struct slots_engine *engine, size_t tenant, size_t size, enum container_class class)
{
    return tenant_may(engine, tenant, size) &&
           (class != CONTAINER_EARLY || early_may(engine, size));
}

/* --- who is next --- */

/* Of a tenant: the first of all, and the first whose container fits somewhere. */
static void look_at_tenant(const struct slots_engine *engine,
                           size_t tenant,
                           double part,
                           struct standing *first,
                           struct standing *fitting)
{
    const struct slots_containers *containers = engine->containers;
    size_t line = tenant * containers->rooms.n_sizes * CONTAINER_CLASSES;
    for (size_t size = 0; size < containers->rooms.n_sizes; size++)
        for (size_t class = 0; class < CONTAINER_CLASSES; class ++, line++) {
            size_t job = container_lines_first(&containers->lines, line);
            if (job == SLOTS_NOBODY ||
                !may_have(engine, tenant, size, (enum container_class) class))
                continue;
            enum slots_kind kind = kind_of((enum container_class) class);
            const struct standing found = {
                job,    (enum container_class) class,
                size,   part,
                tenant, container_lines_key(&containers->lines, job, kind)};
            if (stands_before(&found, first))
                *first = found;
            if (containers->rooms.fitting[size] > 0 && stands_before(&found, fitting))
                *fitting = found;
        }
}

static void
look(const struct slots_engine *engine, struct standing *first, struct standing *fitting)
{
    const struct slots_containers *containers = engine->containers;
    const struct slots_resources *room = &engine->view.cluster.room;
    first->job = fitting->job = SLOTS_NOBODY;
    for (size_t t = 0; t < containers->n_tenants; t++) {
        double part =
            containers->tenants != NULL
                ? slots_resources_share(&containers->held[t], room) / containers->tenants[t].share
                : 0;
        look_at_tenant(engine, t, part, first, fitting);
    }
}

/* --- reservations --- */

/* The first node that could hold the container is kept for it. false: none could. */
static bool reserve(struct slots_engine *engine, const struct standing *first)
{
    struct slots_containers *containers = engine->containers;
    const struct slots_cluster *cluster = &engine->view.cluster;
    for (size_t i = 0; i < cluster->n_nodes; i++)
        if (!containers->rooms.shut[i] &&
            slots_resources_fit(&cluster->sizes[first->size], &cluster->nodes[i].room)) {
            slots_containers_reserve(engine, first->job, kind_of(first->class), i);
            return true;
        }
    engine->looked_through += cluster->n_nodes;
    return false;
}

/* Whether the job may still have what it has a node reserved for. */
static bool still_may(const struct slots_engine *engine, size_t job, enum slots_kind kind)
{
    const struct slots_containers *containers = engine->containers;
    uint32_t line = container_lines_of(&containers->lines, job, kind);
    if (line == CONTAINER_NO_LINE)
        return false;
    size_t size = line / CONTAINER_CLASSES;
    return may_have(engine, size / containers->rooms.n_sizes, size % containers->rooms.n_sizes,
                    (enum container_class)(line % CONTAINER_CLASSES));
}

/* In the order of nodes: those that have room now are given to whom they are kept for, and others who may
 * not have them are not. Whether there were any. */
static bool give_reserved(struct slots_engine *engine)
{
    struct slots_containers *containers = engine->containers;
    size_t before = containers->n_reserved;
    for (size_t i = 0; i < containers->n_reserved && slots_engine_goes_on(engine);) {
        size_t node = containers->reserved[i];
        size_t job = containers->reserved_by[node];
        enum slots_kind kind = containers->jobs[job].reserved_for;
        bool may = still_may(engine, job, kind);
        if (may && !slots_resources_fit(container_request(engine, job, kind),
                                        &containers->rooms.free[node])) {
            i++;
            continue;
        }
        slots_containers_unreserve(engine, job);
        if (may)
            slots_containers_hand(engine, kind, node, job, 1);
    }
    return containers->n_reserved < before;
}

/* --- giving --- */

void slots_containers_hand(
    struct slots_engine *engine, enum slots_kind kind, size_t node, size_t job, size_t count)
{
    struct slots_containers *containers = engine->containers;
    const struct container_job *of = &containers->jobs[job];
    if (of->reserved != CONTAINER_NOWHERE && of->reserved_for == kind)
        slots_containers_unreserve(engine, job);
    slots_giving_note(engine, kind, job, count);
    container_rooms_take(&containers->rooms, node, of->sizes[kind], count);
    slots_batches_give(engine, kind, node, job, count);
    slots_containers_touch(engine, job);
}

/* How many containers of the node would go to the job one after the other. One that has a reservation may
 * reserve another node after the first. */
static size_t
count_at_once(const struct slots_engine *engine, const struct standing *next, size_t node)
{
    const struct container_rooms *rooms = &engine->containers->rooms;
    enum slots_container_order order = engine->policy->container_order;
    if (next->class == CONTAINER_EARLY ||
        engine->containers->jobs[next->job].reserved != CONTAINER_NOWHERE ||
        (order != SLOTS_BY_ARRIVAL && order != SLOTS_BY_STANDING))
        return 1;
    size_t pending = engine->counts[next->job].pending[kind_of(next->class)];
    size_t fit = (size_t)slots_resources_count(&rooms->sizes[next->size], &rooms->free[node]);
    return pending < fit ? pending : fit;
}

static void give_all(struct slots_engine *engine)
{
    struct slots_containers *containers = engine->containers;
    size_t in_vain = SLOTS_NOBODY; /* there is no node to reserve for this job */
    size_t reserved = 0;           /* while so many are */
    while (slots_engine_goes_on(engine) && !engine->no_memory) {
        struct standing first, fitting;
        while (give_reserved(engine) && slots_engine_goes_on(engine))
            ; /* what is given there may leave less to others */
        look(engine, &first, &fitting);
        if (fitting.job == SLOTS_NOBODY)
            return;
        if (stands_before(&first, &fitting) &&
            (first.job != in_vain || containers->n_reserved != reserved) &&
            containers->jobs[first.job].reserved == CONTAINER_NOWHERE) {
            in_vain = reserve(engine, &first) ? SLOTS_NOBODY : first.job;
            reserved = containers->n_reserved;
            continue;
        }
        size_t node = container_rooms_first(&containers->rooms, fitting.size);
        slots_containers_hand(engine, kind_of(fitting.class), node, fitting.job,
                              count_at_once(engine, &fitting, node));
    }
}

/* --- reduces that wait for maps which have no room --- */

/* Everything that holds a container is a reduce that waits for maps of which some have none. */
static bool is_stuck(const struct slots_engine *engine)
{
    size_t early = engine->containers->early_tasks;
    return early > 0 && early == engine->given_tasks - engine->ended_tasks;
}

/* They are stopped, and reduces of their jobs have no containers again before all maps do. */
static void stop_early(struct slots_engine *engine)
{
    struct slots_hosting *hosting = engine->hosting;
    for (size_t node = 0; node < hosting->cluster->n_nodes; node++)
        while (hosting->nodes[node].first != SLOTS_NONE && !engine->no_memory) {
            size_t batch = hosting->nodes[node].first;
            engine->containers->jobs[engine->batches.items[batch].job].patient = true;
            slots_batch_lose(engine, batch);
        }
    engine->looked_through += hosting->cluster->n_nodes;
}

void slots_containers_give(struct slots_engine *engine)
{
    give_all(engine);
    while (is_stuck(engine) && !engine->no_memory && slots_engine_goes_on(engine)) {
        stop_early(engine);
        give_all(engine);
    }
}
