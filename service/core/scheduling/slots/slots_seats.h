#ifndef CORE_SCHEDULING_SLOTS_SLOTS_SEATS_H
#define CORE_SCHEDULING_SLOTS_SLOTS_SEATS_H

#include "core/scheduling/slots/slots_policy.h"

/*
 * Where the slots of a cluster with nodes are. A seat is what a node has of the slots of one kind and
 * partition; seats of a partition are in the order of nodes, and so are its free slots.
 *
 * Where a policy leaves as many slots of a kind as the nodes have, its partitions are cut from them in
 * the order of nodes: the first partition gets the first slots. Where it has divided all slots anew
 * between the kinds, each node's are divided likewise: maps get floor(c M / S) of the first c slots
 * in the order of nodes, M being all map slots and S all slots. Slots of no fixed kind are those of
 * maps.
 */
struct slots_seat {
    size_t node;
    size_t free; /* slots, those of a node that takes no tasks as well */
    uint32_t partition;
    enum slots_kind kind;
    size_t next; /* of the node; SLOTS_NO_SEAT: none */
};

#define SLOTS_NO_SEAT SIZE_MAX

struct slots_seats {
    struct slots_seat *items;
    size_t n;
    size_t *firsts[SLOTS_KINDS]; /* seats of partition p: firsts[kind][p] to firsts[kind][p + 1] */
    size_t n_partitions;
    size_t *of_node; /* its first seat */
    uint64_t *open;  /* bit by seat: it has free slots, and takes tasks */
};

/* All slots are free. shared: they have no fixed kind. Lives in the arena. false: out of memory.
 * O(nodes + partitions). */
bool slots_seats_init(struct slots_seats *seats,
                      const struct slots_cluster *cluster,
                      const struct slots_partitions *partitions,
                      bool shared,
                      struct arena *arena);

/* The first seat from `from` on, below `end`, with free slots; `end`: none. O(seats / 64) at worst. */
size_t slots_seats_first(const struct slots_seats *seats, size_t from, size_t end);

/* Slots of a seat are taken, or free again; `open`: it takes tasks. O(1). */
void slots_seats_take(struct slots_seats *seats, size_t seat, size_t count);
void slots_seats_release(struct slots_seats *seats, size_t seat, size_t count, bool open);

/* It takes tasks from now on, or takes none. O(1). */
void slots_seats_open(struct slots_seats *seats, size_t seat, bool open);

#endif
