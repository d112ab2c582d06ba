/* Jobs and nodes of a simulation with containers, as they change. */
#include "core/scheduling/slots/slots_containers.h"

#include <assert.h>
#include <string.h>

static bool
take_jobs(struct slots_engine *engine, struct slots_containers *containers, struct arena *arena)
{
    size_t n = engine->view.n_jobs;
    containers->jobs = arena_calloc(arena, n, sizeof *containers->jobs);
    for (size_t i = 0; containers->jobs != NULL && i < n; i++) {
        containers->jobs[i].reserved = CONTAINER_NOWHERE;
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            if (engine->jobs[i].task_lists[kind].n > 0)
                containers->jobs[i].sizes[kind] = slots_resources_size(
                    &engine->view.cluster, container_request(engine, i, (enum slots_kind)kind));
    }
    return containers->jobs != NULL;
}

bool slots_containers_init(struct slots_engine *engine, const struct slots_terms *terms)
{
    const struct slots_cluster *cluster = &engine->view.cluster;
    struct arena *arena = engine->arena;
    bool divided = engine->policy->container_order == SLOTS_BY_QUEUE;
    struct slots_containers *containers = arena_calloc(arena, 1, sizeof *containers);
    if (containers == NULL)
        return false;
    engine->containers = containers;
    containers->tenants = divided ? terms->tenants : NULL;
    containers->n_tenants = divided ? terms->n_tenants : 1;
    containers->held = arena_calloc(arena, containers->n_tenants, sizeof *containers->held);
    containers->reserved_by = arena_array(arena, cluster->n_nodes, sizeof *containers->reserved_by);
    containers->reserved = arena_array(arena, cluster->n_nodes, sizeof *containers->reserved);
    size_t n_lines = containers->n_tenants * cluster->n_sizes * CONTAINER_CLASSES;
    if (containers->held == NULL || containers->reserved_by == NULL ||
        containers->reserved == NULL || !take_jobs(engine, containers, arena) ||
        !container_rooms_init(&containers->rooms, cluster, arena) ||
        !container_lines_init(&containers->lines, engine->view.n_jobs, n_lines, arena))
        return false;
    for (size_t i = 0; i < cluster->n_nodes; i++)
        containers->reserved_by[i] = SLOTS_NOBODY;
    return true;
}

/* --- jobs --- */

/* What is held is counted anew. */
static void count_held(struct slots_engine *engine, size_t job)
{
    struct slots_containers *containers = engine->containers;
    struct container_job *of = &containers->jobs[job];
    const struct slots_counts *counts = &engine->counts[job];
    const struct slots_resources *requests = engine->jobs[job].requests;
    struct slots_resources held = {0, 0};
    size_t early = counts->pending[SLOTS_MAP] > 0 ? counts->held[SLOTS_REDUCE] : 0;
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        slots_resources_add(&held, &requests[kind], counts->held[kind]);
    if (containers->tenants != NULL) {
        struct slots_resources *tenant = &containers->held[engine->jobs[job].queue];
        slots_resources_take(tenant, &of->held, 1);
        slots_resources_add(tenant, &held, 1);
    }
    of->held = held;
    slots_resources_take(&containers->early, &requests[SLOTS_REDUCE], of->early);
    slots_resources_add(&containers->early, &requests[SLOTS_REDUCE], early);
    containers->early_tasks += early - of->early;
    of->early = early;
}

/* Doubles from 0 on are in the order of their bits. */
static uint64_t key_of_share(double share)
{
    uint64_t bits;
    memcpy(&bits, &share, sizeof bits);
    return bits;
}

static uint64_t key_of(const struct slots_engine *engine, size_t job)
{
    const struct slots_resources *held = &engine->containers->jobs[job].held;
    switch (engine->policy->container_order) {
    case SLOTS_BY_MEMORY:
        return held->memory_bytes;
    case SLOTS_BY_DOMINANT_SHARE:
        return key_of_share(slots_resources_share(held, &engine->view.cluster.room));
    case SLOTS_BY_STANDING:
        return engine->policy->standing(engine->policy_state, job);
    case SLOTS_BY_ARRIVAL:
    case SLOTS_BY_QUEUE:
    case SLOTS_ALIKE:
    case SLOTS_WITHOUT_CONTAINERS:
        break;
    }
    return 0; /* in order of arrival */
}

/* A reduce of a job with pending maps may have a container as far as the job is concerned: with it, its
 * reduces hold no larger part of the cluster than its maps have finished. */
static bool ramps_up(const struct slots_engine *engine, size_t job)
{
    const struct slots_counts *counts = &engine->counts[job];
    struct slots_resources held = {0, 0};
    double finished = (double)counts->finished[SLOTS_MAP];
    double maps = finished + (double)(counts->pending[SLOTS_MAP] + counts->held[SLOTS_MAP]);
    if (engine->containers->jobs[job].patient)
        return false;
    slots_resources_add(&held, container_request(engine, job, SLOTS_REDUCE),
                        counts->held[SLOTS_REDUCE] + 1);
    return slots_resources_share(&held, &engine->view.cluster.room) <= finished / maps;
}

static uint32_t line_of(const struct slots_engine *engine, size_t job, enum slots_kind kind)
{
    const struct slots_containers *containers = engine->containers;
    enum container_class class = CONTAINER_MAP;
    if (!slots_is_candidate(&engine->view, kind, job))
        return CONTAINER_NO_LINE;
    if (kind == SLOTS_REDUCE)
        class = engine->counts[job].pending[SLOTS_MAP] > 0 ? CONTAINER_EARLY : CONTAINER_REDUCE;
    if (class == CONTAINER_EARLY && !ramps_up(engine, job))
        return CONTAINER_NO_LINE;
    size_t tenant = containers->tenants != NULL ? engine->jobs[job].queue : 0;
    size_t size = tenant * containers->rooms.n_sizes + containers->jobs[job].sizes[kind];
    return (uint32_t)(size * CONTAINER_CLASSES + class);
}

void slots_containers_touch(struct slots_engine *engine, size_t job)
{
    count_held(engine, job);
    uint64_t key = key_of(engine, job);
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        container_lines_put(&engine->containers->lines, job, (enum slots_kind)kind,
                            line_of(engine, job, (enum slots_kind)kind), key);
}

/* --- nodes --- */

static void shut(struct slots_engine *engine, size_t node)
{
    struct slots_containers *containers = engine->containers;
    container_rooms_shut(&containers->rooms, node,
                         engine->hosting->nodes[node].downs > 0 ||
                             containers->reserved_by[node] != SLOTS_NOBODY);
}

void slots_containers_open(struct slots_engine *engine, size_t node)
{
    size_t job = engine->containers->reserved_by[node];
    if (job != SLOTS_NOBODY && engine->hosting->nodes[node].downs > 0)
        slots_containers_unreserve(engine, job);
    else
        shut(engine, node);
}

void slots_containers_reserve(struct slots_engine *engine,
                              size_t job,
                              enum slots_kind kind,
                              size_t node)
{
    struct slots_containers *containers = engine->containers;
    size_t place = containers->n_reserved++;
    for (; place > 0 && containers->reserved[place - 1] > node; place--)
        containers->reserved[place] = containers->reserved[place - 1];
    containers->reserved[place] = node;
    containers->reserved_by[node] = job;
    containers->jobs[job].reserved = node;
    containers->jobs[job].reserved_for = kind;
    shut(engine, node);
}

void slots_containers_unreserve(struct slots_engine *engine, size_t job)
{
    struct slots_containers *containers = engine->containers;
    size_t node = containers->jobs[job].reserved;
    size_t place = 0;
    while (containers->reserved[place] != node)
        place++;
    containers->n_reserved--;
    memmove(&containers->reserved[place], &containers->reserved[place + 1],
            (containers->n_reserved - place) * sizeof *containers->reserved);
    containers->reserved_by[node] = SLOTS_NOBODY;
    containers->jobs[job].reserved = CONTAINER_NOWHERE;
    shut(engine, node);
}

void slots_containers_release(struct slots_engine *engine, const struct slots_batch *batch)
{
    struct slots_containers *containers = engine->containers;
    container_rooms_release(&containers->rooms, batch->seat,
                            containers->jobs[batch->job].sizes[batch->kind], batch->count);
}

/* --- copies --- */

size_t slots_containers_next(const struct slots_engine *engine,
                             const struct slots_batch *batch,
                             size_t from)
{
    const struct slots_containers *containers = engine->containers;
    return container_rooms_next(&containers->rooms, containers->jobs[batch->job].sizes[batch->kind],
                                from);
}

void slots_containers_take(struct slots_engine *engine,
                           const struct slots_batch *batch,
                           size_t node)
{
    struct slots_containers *containers = engine->containers;
    container_rooms_take(&containers->rooms, node, containers->jobs[batch->job].sizes[batch->kind],
                         1);
}
