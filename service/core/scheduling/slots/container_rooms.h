#ifndef CORE_SCHEDULING_SLOTS_CONTAINER_ROOMS_H
#define CORE_SCHEDULING_SLOTS_CONTAINER_ROOMS_H

#include "core/scheduling/slots/slots_resources.h"

/*
 * What nodes have free for containers, and for each size of them the first node on which one fits.
 * A node that is shut takes none, and is free as it is when it opens again.
 *
 * Bits by size and node: a change of a node costs O(sizes), the first node of a size O(1) amortized
 * over changes of the nodes before it and O(nodes / 64) at worst.
 */
struct container_rooms {
    const struct slots_resources *sizes;
    size_t n_sizes;
    size_t n_nodes;
    struct slots_resources *free; /* by node */
    bool *shut;                   /* likewise */
    size_t words;                 /* for the bits of a size */
    uint64_t *open;               /* by size, then node: one fits there */
    size_t *fitting;              /* by size: nodes */
    size_t *from;                 /* by size: words before have no such node */
};

#define CONTAINER_NOWHERE SIZE_MAX

/* All nodes of a cluster that has been measured are empty and open. Lives in the arena. false: out of
 * memory. O(nodes x sizes). */
bool container_rooms_init(struct container_rooms *rooms,
                          const struct slots_cluster *cluster,
                          struct arena *arena);

/* The first node from `from` on on which one of this size fits; CONTAINER_NOWHERE. */
size_t container_rooms_first(struct container_rooms *rooms, size_t size);
size_t container_rooms_next(const struct container_rooms *rooms, size_t size, size_t from);

/* n containers of a size are on a node, which has room for them, or leave it. */
void container_rooms_take(struct container_rooms *rooms, size_t node, size_t size, size_t n);
void container_rooms_release(struct container_rooms *rooms, size_t node, size_t size, size_t n);

void container_rooms_shut(struct container_rooms *rooms, size_t node, bool shut);

#endif
