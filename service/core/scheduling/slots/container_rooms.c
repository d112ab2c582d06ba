#include "core/scheduling/slots/container_rooms.h"

#include <assert.h>

enum { WORD = 64 };

/* Whether containers fit on a node has changed. */
static void update(struct container_rooms *rooms, size_t node)
{
    size_t word = node / WORD;
    uint64_t bit = UINT64_C(1) << node % WORD;
    uint64_t *open = rooms->open + word;
    for (size_t size = 0; size < rooms->n_sizes; size++, open += rooms->words) {
        bool fits =
            !rooms->shut[node] && slots_resources_fit(&rooms->sizes[size], &rooms->free[node]);
        if (fits == ((*open & bit) != 0))
            continue;
        *open ^= bit;
        rooms->fitting[size] += fits ? 1 : SIZE_MAX;
        if (fits && word < rooms->from[size])
            rooms->from[size] = word;
    }
}

bool container_rooms_init(struct container_rooms *rooms,
                          const struct slots_cluster *cluster,
                          struct arena *arena)
{
    size_t n = cluster->n_nodes;
    size_t words = n / WORD + 1;
    *rooms = (struct container_rooms){
        .sizes = cluster->sizes,
        .n_sizes = cluster->n_sizes,
        .n_nodes = n,
        .free = arena_array(arena, n, sizeof *rooms->free),
        .shut = arena_calloc(arena, n, sizeof *rooms->shut),
        .words = words,
        .open = arena_calloc(arena, cluster->n_sizes, words * sizeof *rooms->open),
        .fitting = arena_calloc(arena, cluster->n_sizes, sizeof *rooms->fitting),
        .from = arena_calloc(arena, cluster->n_sizes, sizeof *rooms->from)};
    if (rooms->free == NULL || rooms->shut == NULL || rooms->open == NULL ||
        rooms->fitting == NULL || rooms->from == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        rooms->free[i] = cluster->nodes[i].room;
        update(rooms, i);
    }
    return true;
}

size_t container_rooms_next(const struct container_rooms *rooms, size_t size, size_t from)
{
    const uint64_t *open = rooms->open + size * rooms->words;
    for (size_t word = from / WORD; word < rooms->words; word++, from = word * WORD) {
        uint64_t bits = open[word] & (~UINT64_C(0) << from % WORD);
        if (bits != 0)
            return word * WORD + (size_t)__builtin_ctzll(bits);
    }
    return CONTAINER_NOWHERE;
}

size_t container_rooms_first(struct container_rooms *rooms, size_t size)
{
    if (rooms->fitting[size] == 0)
        return CONTAINER_NOWHERE;
    size_t node = container_rooms_next(rooms, size, rooms->from[size] * WORD);
    rooms->from[size] = node / WORD;
    return node;
}

void container_rooms_take(struct container_rooms *rooms, size_t node, size_t size, size_t n)
{
    assert(slots_resources_count(&rooms->sizes[size], &rooms->free[node]) >= n);
    slots_resources_take(&rooms->free[node], &rooms->sizes[size], n);
    update(rooms, node);
}

void container_rooms_release(struct container_rooms *rooms, size_t node, size_t size, size_t n)
{
    slots_resources_add(&rooms->free[node], &rooms->sizes[size], n);
    update(rooms, node);
}

void container_rooms_shut(struct container_rooms *rooms, size_t node, bool shut)
{
    rooms->shut[node] = shut;
    update(rooms, node);
}
