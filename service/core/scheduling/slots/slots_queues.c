#include "core/scheduling/slots/slots_queues.h"

#include <assert.h>
#include <math.h>

#include "base/rounding.h"

enum pv_code slots_queues_init(struct slots_queues *queues,
                               const struct slots_view *view,
                               size_t n,
                               bool divided,
                               struct arena *arena,
                               struct pv_error *err)
{
    assert(n > 0 && n <= UINT32_MAX);
    *queues = (struct slots_queues){
        .view = view,
        .standing_of = arena_calloc(arena, view->n_jobs, sizeof *queues->standing_of),
        .entries = arena_calloc(arena, n, sizeof *queues->entries),
        .n = n,
        .divided = divided,
    };
    if (queues->standing_of == NULL || queues->entries == NULL)
        return pv_no_memory(err);
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        if (!slots_candidates_init(&queues->candidates[kind], view->n_jobs, divided ? n : 1, arena))
            return pv_no_memory(err);
    return PV_OK;
}

/* false: nothing is left for the last partition. parts may be NULL. */
static bool divide(size_t slots, const double shares[], size_t n, size_t parts[])
{
    size_t left = slots;
    for (size_t p = 0; p + 1 < n; p++) {
        double part = fmax(1, rounding_floor(shares[p] * (double)slots));
        if (part >= (double)left)
            return false;
        left -= (size_t)part;
        if (parts != NULL)
            parts[p] = (size_t)part;
    }
    if (parts != NULL)
        parts[n - 1] = left;
    return left > 0;
}

bool slots_queues_suffice(size_t slots, const double shares[], size_t n)
{
    return divide(slots, shares, n, NULL);
}

enum pv_code slots_queues_divide(struct slots_queues *queues,
                                 const double shares[],
                                 struct slots_partitions *partitions,
                                 struct arena *arena,
                                 struct pv_error *err)
{
    static const char *const places[] = {"/cluster/map_slots", "/cluster/reduce_slots"};
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        size_t slots = queues->view->cluster.slots[kind];
        partitions->slots[kind] = arena_calloc(arena, queues->n, sizeof **partitions->slots);
        if (partitions->slots[kind] == NULL)
            return pv_no_memory(err);
        if (slots > 0 && !divide(slots, shares, queues->n, partitions->slots[kind]))
            return pv_fault(err, PV_PLACE_POINTER, places[kind], "out_of_range",
                            "too few slots for so many partitions");
    }
    partitions->n = queues->n;
    return PV_OK;
}

void slots_queues_changed(struct slots_queues *queues, enum slots_kind kind, size_t job)
{
    struct slots_candidates *candidates = &queues->candidates[kind];
    if (slots_is_candidate(queues->view, kind, job))
        slots_candidates_put(candidates, job, queues->divided ? slots_queues_of(queues, job) : 0,
                             queues->standing_of[job]);
    else
        slots_candidates_remove(candidates, job);
}

void slots_queues_enter(struct slots_queues *queues, size_t job, size_t queue)
{
    queues->standing_of[job] = (uint64_t)queue << 32 | queues->entries[queue]++;
    slots_queues_changed(queues, SLOTS_MAP, job);
    slots_queues_changed(queues, SLOTS_REDUCE, job);
}

size_t
slots_queues_choose(const struct slots_queues *queues, enum slots_kind kind, size_t partition)
{
    return slots_candidates_first(&queues->candidates[kind], queues->divided ? partition : 0);
}
