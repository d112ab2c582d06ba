#ifndef CORE_SCHEDULING_SLOTS_SLOTS_CONTAINERS_H
#define CORE_SCHEDULING_SLOTS_SLOTS_CONTAINERS_H

#include "core/scheduling/slots/container_lines.h"
#include "core/scheduling/slots/container_rooms.h"
#include "core/scheduling/slots/slots_engine_internal.h"

/*
 * Containers in place of slots (docs/design.md, "Containers"): what of a simulation is known beside the
 * rest. slots_containers.c keeps it true, slots_container_giving.c says who is next.
 */

/* What a container is for: a map; a reduce of a job whose maps have all been given containers, or that
 * has none; another one, which may wait long. */
enum container_class { CONTAINER_MAP, CONTAINER_REDUCE, CONTAINER_EARLY };
enum { CONTAINER_CLASSES = CONTAINER_EARLY + 1 };

/* Of a job; its tasks count, copies of them do not. */
struct container_job {
    size_t sizes[SLOTS_KINDS];   /* of the cluster's */
    struct slots_resources held; /* by all its tasks */
    size_t early;                /* reduces that hold containers, while maps are pending */
    bool patient;                /* early reduces were stopped: it has none any more */
    size_t reserved;             /* node; CONTAINER_NOWHERE: none */
    enum slots_kind reserved_for;
};

struct slots_containers {
    const struct slots_tenant *tenants; /* NULL: the policy has none */
    size_t n_tenants;                   /* 1 without */
    struct slots_resources *held;       /* by tenant */
    struct container_rooms rooms;
    struct container_lines lines; /* by tenant, then size, then class */
    struct container_job *jobs;
    size_t early_tasks;           /* of all jobs */
    struct slots_resources early; /* what these hold */
    size_t *reserved_by;          /* by node: job; SLOTS_NOBODY: none */
    size_t *reserved;             /* nodes, rising */
    size_t n_reserved;
};

/* Of an engine. */
static inline const struct slots_resources *
container_request(const struct slots_engine *engine, size_t job, enum slots_kind kind)
{
    return &engine->jobs[job].requests[kind];
}

#pragma GCC visibility push(hidden)

/* A node is kept for a job's next task of a kind, or is not any more. */
void slots_containers_reserve(struct slots_engine *engine,
                              size_t job,
                              enum slots_kind kind,
                              size_t node);
void slots_containers_unreserve(struct slots_engine *engine, size_t job);

/* Containers on a node to the next tasks of a job, so many of a kind that are pending. */
void slots_containers_hand(
    struct slots_engine *engine, enum slots_kind kind, size_t node, size_t job, size_t count);

#pragma GCC visibility pop

#endif
