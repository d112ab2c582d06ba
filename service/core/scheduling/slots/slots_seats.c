#include "core/scheduling/slots/slots_seats.h"

#include <assert.h>

enum { WORD = 64 };

/* Slots of a kind of one node after the other, cut into partitions. */
struct cut {
    struct slots_seats *seats;
    const size_t *partitions; /* slots of each */
    enum slots_kind kind;
    size_t partition;
    size_t left; /* of it */
};

static void add_seat(struct slots_seats *seats, const struct slots_seat *seat)
{
    size_t index = seats->n++;
    seats->items[index] = *seat;
    seats->items[index].next = seats->of_node[seat->node];
    seats->of_node[seat->node] = index;
    slots_seats_open(seats, index, true);
}

/* The slots of the next node. */
static void cut_node(struct cut *cut, size_t node, size_t slots)
{
    while (slots > 0) {
        while (cut->left == 0) {
            cut->seats->firsts[cut->kind][++cut->partition] = cut->seats->n;
            cut->left = cut->partitions[cut->partition];
        }
        size_t taken = slots < cut->left ? slots : cut->left;
        const struct slots_seat seat = {
            .node = node, .free = taken, .partition = (uint32_t)cut->partition, .kind = cut->kind};
        add_seat(cut->seats, &seat);
        cut->left -= taken;
        slots -= taken;
    }
}

/* How many slots of a node are of each kind. */
struct division {
    bool shared;
    bool anew;
    size_t maps;   /* of all slots */
    size_t slots;  /* all */
    size_t before; /* slots of nodes before this one */
};

/* floor(c M / S). */
static size_t share(size_t c, size_t maps, size_t slots)
{
    assert(slots < UINT32_MAX && sizeof(size_t) == sizeof(uint64_t));
    return c * maps / slots;
}

static size_t
slots_of(const struct division *division, const struct slots_node *node, enum slots_kind kind)
{
    size_t both = node->slots[SLOTS_MAP] + node->slots[SLOTS_REDUCE];
    if (division->shared)
        return kind == SLOTS_MAP ? both : 0;
    if (!division->anew)
        return node->slots[kind];
    size_t maps = share(division->before + both, division->maps, division->slots) -
                  share(division->before, division->maps, division->slots);
    return kind == SLOTS_MAP ? maps : both - maps;
}

static size_t sum_of(const size_t slots[], size_t n)
{
    size_t sum = 0;
    for (size_t p = 0; p < n; p++)
        sum += slots[p];
    return sum;
}

static void cut_kind(struct slots_seats *seats,
                     const struct slots_cluster *cluster,
                     const struct slots_partitions *partitions,
                     bool shared,
                     enum slots_kind kind)
{
    size_t maps = sum_of(partitions->slots[SLOTS_MAP], partitions->n);
    struct cut cut = {seats, partitions->slots[kind], kind, 0, partitions->slots[kind][0]};
    struct division division = {.shared = shared,
                                .anew = maps != cluster->slots[SLOTS_MAP],
                                .maps = maps,
                                .slots = cluster->slots[SLOTS_MAP] + cluster->slots[SLOTS_REDUCE]};
    seats->firsts[kind][0] = seats->n;
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        const struct slots_node *node = &cluster->nodes[i];
        cut_node(&cut, i, slots_of(&division, node, kind));
        division.before += node->slots[SLOTS_MAP] + node->slots[SLOTS_REDUCE];
    }
    while (cut.partition < partitions->n)
        seats->firsts[kind][++cut.partition] = seats->n;
}

bool slots_seats_init(struct slots_seats *seats,
                      const struct slots_cluster *cluster,
                      const struct slots_partitions *partitions,
                      bool shared,
                      struct arena *arena)
{
    size_t most = SLOTS_KINDS * (cluster->n_nodes + partitions->n);
    *seats = (struct slots_seats){
        .items = arena_array(arena, most, sizeof *seats->items),
        .n_partitions = partitions->n,
        .of_node = arena_array(arena, cluster->n_nodes, sizeof *seats->of_node),
        .open = arena_calloc(arena, most / WORD + 1, sizeof *seats->open)};
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        seats->firsts[kind] = arena_array(arena, partitions->n + 1, sizeof **seats->firsts);
    if (seats->items == NULL || seats->of_node == NULL || seats->open == NULL ||
        seats->firsts[SLOTS_MAP] == NULL || seats->firsts[SLOTS_REDUCE] == NULL)
        return false;
    for (size_t i = 0; i < cluster->n_nodes; i++)
        seats->of_node[i] = SLOTS_NO_SEAT;
    cut_kind(seats, cluster, partitions, shared, SLOTS_MAP);
    cut_kind(seats, cluster, partitions, shared, SLOTS_REDUCE);
    if (shared)
        seats->firsts[SLOTS_REDUCE] = seats->firsts[SLOTS_MAP];
    return true;
}

size_t slots_seats_first(const struct slots_seats *seats, size_t from, size_t end)
{
    for (size_t word = from / WORD; from < end; word++, from = word * WORD) {
        uint64_t bits = seats->open[word] & (~UINT64_C(0) << from % WORD);
        if (bits != 0) {
            size_t seat = word * WORD + (size_t)__builtin_ctzll(bits);
            return seat < end ? seat : end;
        }
    }
    return end;
}

void slots_seats_open(struct slots_seats *seats, size_t seat, bool open)
{
    uint64_t bit = UINT64_C(1) << seat % WORD;
    if (open && seats->items[seat].free > 0)
        seats->open[seat / WORD] |= bit;
    else
        seats->open[seat / WORD] &= ~bit;
}

void slots_seats_take(struct slots_seats *seats, size_t seat, size_t count)
{
    assert(count <= seats->items[seat].free);
    seats->items[seat].free -= count;
    slots_seats_open(seats, seat, true);
}

void slots_seats_release(struct slots_seats *seats, size_t seat, size_t count, bool open)
{
    seats->items[seat].free += count;
    slots_seats_open(seats, seat, open);
}
