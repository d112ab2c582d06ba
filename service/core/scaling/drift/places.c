#include "core/scaling/drift/places.h"

#include <stdlib.h>

#include "base/order.h"

struct placed {
    struct place at;
    size_t run;
};

static int by_group(const struct placed *a, const struct placed *b)
{
    return (a->at.group > b->at.group) - (a->at.group < b->at.group);
}

static int by_configuration(const struct placed *a, const struct placed *b)
{
    int order = by_group(a, b);
    order = order != 0 ? order : compare_double(a->at.problem_size, b->at.problem_size);
    return order != 0 ? order : compare_double(a->at.executors, b->at.executors);
}

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a;
    const struct placed *y = b;
    int order = by_configuration(x, y);
    return order != 0 ? order : compare_size(x->run, y->run);
}

/* Cut the sorted runs into spans of equal ones; returns how many there are. */
static size_t cut(const struct placed sorted[],
                  size_t n,
                  int (*compare)(const struct placed *, const struct placed *),
                  struct place_span spans[],
                  size_t span_of[])
{
    size_t made = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare(&sorted[i - 1], &sorted[i]) != 0)
            spans[made++] = (struct place_span){i, 0};
        spans[made - 1].n++;
        span_of[sorted[i].run] = made - 1;
    }
    return made;
}

enum pv_code places_find(const struct place of[],
                         size_t n,
                         struct arena *arena,
                         struct places *found,
                         struct pv_error *err)
{
    struct placed *sorted = arena_array(arena, n, sizeof *sorted);
    size_t *order = arena_array(arena, n, sizeof *order);
    struct place_span *places = arena_array(arena, n, sizeof *places);
    struct place_span *groups = arena_array(arena, n, sizeof *groups);
    size_t *place_of = arena_array(arena, n, sizeof *place_of);
    size_t *group_of = arena_array(arena, n, sizeof *group_of);
    if (sorted == NULL || order == NULL || places == NULL || groups == NULL || place_of == NULL ||
        group_of == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct placed){of[i], i};
    qsort(sorted, n, sizeof *sorted, by_place);
    for (size_t i = 0; i < n; i++)
        order[i] = sorted[i].run;
    *found = (struct places){.order = order,
                             .places = places,
                             .place_of = place_of,
                             .n_places = cut(sorted, n, by_configuration, places, place_of),
                             .groups = groups,
                             .group_of = group_of,
                             .n_groups = cut(sorted, n, by_group, groups, group_of)};
    return PV_OK;
}
