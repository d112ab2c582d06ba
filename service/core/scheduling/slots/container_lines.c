#include "core/scheduling/slots/container_lines.h"

#include <assert.h>

#include "core/sim/pairing_heap.h"

struct container_place {
    struct pairing_link link;
    uint32_t line;
    uint64_t key;
};

bool container_lines_init(struct container_lines *lines,
                          size_t n_jobs,
                          size_t n_lines,
                          struct arena *arena)
{
    assert(n_jobs < UINT32_MAX / SLOTS_KINDS && n_lines < CONTAINER_NO_LINE);
    lines->places = arena_array(arena, n_jobs * SLOTS_KINDS, sizeof *lines->places);
    lines->firsts = arena_array(arena, n_lines, sizeof *lines->firsts);
    if (lines->places == NULL || lines->firsts == NULL)
        return false;
    for (size_t i = 0; i < n_jobs * SLOTS_KINDS; i++)
        lines->places[i].line = CONTAINER_NO_LINE;
    for (size_t i = 0; i < n_lines; i++)
        lines->firsts[i] = PAIRING_HEAP_EMPTY;
    return true;
}

/* Of equal keys the lower place is that of the job that arrived first. */
static bool stands_before(const void *context, uint32_t a, uint32_t b)
{
    const struct container_place *places = context;
    return places[a].key != places[b].key ? places[a].key < places[b].key : a < b;
}

void container_lines_put(
    struct container_lines *lines, size_t job, enum slots_kind kind, uint32_t line, uint64_t key)
{
    const struct pairing_items items = {lines->places, sizeof *lines->places, stands_before,
                                        lines->places};
    uint32_t at = (uint32_t)(job * SLOTS_KINDS + (size_t)kind);
    struct container_place *place = &lines->places[at];
    if (place->line == line && (line == CONTAINER_NO_LINE || place->key == key))
        return;
    if (place->line != CONTAINER_NO_LINE) {
        uint32_t *first = &lines->firsts[place->line];
        *first = pairing_heap_remove(&items, *first, at);
    }
    place->line = line;
    place->key = key;
    if (line != CONTAINER_NO_LINE)
        lines->firsts[line] = pairing_heap_add(&items, lines->firsts[line], at);
}

size_t container_lines_first(const struct container_lines *lines, size_t line)
{
    uint32_t first = lines->firsts[line];
    return first != PAIRING_HEAP_EMPTY ? first / SLOTS_KINDS : SLOTS_NOBODY;
}

uint32_t container_lines_of(const struct container_lines *lines, size_t job, enum slots_kind kind)
{
    return lines->places[job * SLOTS_KINDS + (size_t)kind].line;
}

uint64_t container_lines_key(const struct container_lines *lines, size_t job, enum slots_kind kind)
{
    return lines->places[job * SLOTS_KINDS + (size_t)kind].key;
}
